// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <sporades/core/detail/check_types.hpp>
#include <sporades/core/matrix.hpp>
#include <sporades/core/names.hpp>
#include <sporades/core/row_map.hpp>
#include <sporades/formats/csf_tensor.hpp>
#include <sporades/formats/packed_tensor.hpp>
#include <sporades/kernels/detail/plan_formats.hpp>
#include <sporades/kernels/detail/row_sums.hpp>
#include <sporades/kernels/detail/ttm_chain/summed_values.hpp>
#include <sporades/kernels/streaming.hpp>

/// TTM chain, a sparse tensor times the factor matrices of all modes except n:
///   Y_(n) = X_(n) (A_{N-1} (x) ... (x) A_{n+1} (x) A_{n-1} (x) ... (x) A_0)
/// X: I_0 x ... x I_{N-1}. A[m]: I_m x R_m; A[n] is not read. Y_(n): I_n x prod_{m != n} R_m,
/// dense. Columns in the order of Kolda & Bader and Tensor Toolbox: the index of the first of the
/// other modes runs fastest. A tensor of order 1 is its own Y_(0), of one column. Only the rows of
/// non-empty slices are computed. The same bits on every run and number of threads, without
/// atomics. Cost: depends on the strategy and the tensor; TtmChainChoice::flops of a plan. Kolda &
/// Bader, SIAM Review 51(3), 2009, Section 4.2.

namespace sporades {

/// How the products of a chain are computed.
enum class TtmChainStrategy {
  /// `semi_sparse` or `fused`, by a decision tree on their modelled times (TtmChainPlan::choices);
  /// on GPUs `semi_sparse`. Exceptions:
  /// - Where the partial products of `semi_sparse` and the factors take more than an eighth of the
  ///   memory limit, `csf` or `fused`, whichever is faster by the model; on GPUs `fused` where they
  ///   take more than the limit.
  /// - Where the indices of all modes except n take over 63 bits, `csf` instead of `fused`.
  /// - In a plan that streams, `fused`.
  automatic,
  /// SpTTM on one mode, then SspTTM on each of the others (Ma et al., JPDC 2018). Where it is asked
  /// for, it streams the nonzeros and the fibers of its operands; partial products are resident.
  semi_sparse,
  /// Partial products down the fiber tree of mode n (Smith & Karypis, Euro-Par 2017); each thread
  /// takes a chunk of nonzeros, which suits hosts.
  csf,
  /// Kronecker rows added straight to Y_(n), without intermediate products. It streams nonzeros.
  fused
};

namespace detail {
template <>
struct Names<TtmChainStrategy> {
  static constexpr char const* kind = "TTM chain strategy";
  static constexpr char const* list[] = {"automatic", "semi_sparse", "csf", "fused"};
};

template <class Scalar, class Index, class MemorySpace>
struct SemiSparseChain;
template <class Scalar, class Index, class MemorySpace>
struct TtmChainBuffers;
template <class Scalar, class Index, class MemorySpace>
struct DistributedChains;

/// Which rows of a mode are where, on several processes; all are here on one.
struct RowsOfMode {
  RowMap factor;   // of the mode's factor
  RowMap used;     // of those of non-empty slices, numbered: the ones of the factor's rows
  RowMap product;  // of used rows, in products; all may be on every process
};

/// What the products of a plan work with, beside its formats.
template <class Scalar, class Index, class MemorySpace>
struct TtmChainWork {
  ValueLists<Scalar, MemorySpace> values;    // of the formats, where they are updatable
  SummedValues<Scalar, MemorySpace> summed;  // duplicates, where updatable
  Vector<Scalar, MemorySpace> product, between;
  TtmChainBuffers<Scalar, Index, MemorySpace> buffers;
  CarryBuffers<Scalar, Position, MemorySpace> semi_sparse_carry;
  OutOfCoreMemory out_of_core;    // where formats share nonzeros there: holds them; else empty
  std::vector<RowsOfMode> where;  // per mode, of processes that share X; else empty
  std::shared_ptr<DistributedChains<Scalar, Index, MemorySpace>> distributed;  // of processes
};
}  // namespace detail

/// What a plan of TTM chains is made for.
struct TtmChainOptions {
  TtmChainStrategy strategy = TtmChainStrategy::automatic;
  double memory_limit = 0;   // bytes of a product, and of its partial products; 0: the machine's
  Streaming streaming = {};  // where the nonzeros, a copy a mode, take too much memory
  bool updatable = false;    // as MttkrpOptions::updatable
};

/// The columns of Y_(n) as the strategies compute them: the other modes in an order that serves the
/// strategy, slowest first. Column (j_0, ..., j_{N-2}) is
///   (... (j_0 R_1 + j_1) R_2 + ...) tile + j_{N-2},
/// where the tile is the last, fastest rank, padded to a multiple of four. Or, where only the whole
/// row is padded, the tile is the last rank. The padding's columns are zero.
struct TtmChainColumns {
  std::vector<int> modes;  // slowest first; empty for a tensor of order 1
  std::vector<int> ranks;  // of these modes
  bool pads_tiles = true;

  std::size_t tile() const;
  /// With padding.
  std::size_t count() const;
  /// Numbers of all partial products of a walk down a tree of these modes: those below each level
  /// except the last; the first is a row of Y itself.
  std::size_t partial_products() const;
};

/// What a plan does for one mode, and why.
struct TtmChainChoice {
  TtmChainStrategy strategy = TtmChainStrategy::automatic;  // never `automatic` in a plan
  TtmChainColumns columns;
  double flops = 0;  // of a product, as hosts compute it
  std::string reason;
};

/// "csf, modes 2 0 3 1"
std::string describe(TtmChainChoice const& choice);

/// The formats for the chains of all modes of one tensor, built once: a sorted copy a mode (a tree,
/// or packed), the buffers of its kernels, and room for the largest product, so that a product
/// allocates nothing.
template <class ScalarType, class IndexType, class MemorySpaceType>
struct TtmChainPlan {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  Dims dims;
  std::vector<int> ranks;
  Position nnz = 0;                     // duplicates added up
  std::vector<TtmChainChoice> choices;  // per mode
  detail::PlanFormats<Scalar, Index, MemorySpace, CsfTensor, PackedTensor, detail::SemiSparseChain>
      formats;  // per mode; of several processes: what is summed here, with rows of its own
  std::vector<Vector<Index, MemorySpace>> rows;  // per mode: non-empty slices
  std::vector<Vector<std::int64_t, MemorySpace>>
      places;  // per mode: of columns, in ascending order
  detail::TtmChainWork<Scalar, Index, MemorySpace> work;

  int order() const { return static_cast<int>(dims.size()); }

  /// Bytes of the formats, the buffers and the room for products.
  std::uint64_t storage_bytes() const;
};

/// What a plan computes: the rows of non-empty slices, in a strategy's own order of columns, which
/// changes no left singular vector. Views into the plan, overwritten by its next product.
template <class Scalar, class Index, class MemorySpace>
struct TtmChainProduct {
  Matrix<Scalar, MemorySpace> Y;    // rows x columns.count(), contiguous
  Vector<Index, MemorySpace> rows;  // their indices in mode n, ascending
  TtmChainColumns const* columns;   // of Y
  // Where processes share X: Y has the rows of where.product, and `rows` are those of where.used,
  // numbered within where.factor's.
  detail::RowsOfMode where = {};

  /// Rows of all processes.
  std::uint64_t all_rows() const { return where.used.all(rows.extent(0)); }
};

/// Builds the formats for the chains of all modes. X is a CooTensor in any order; values of equal
/// coordinates are added. ranks: R_0 to R_{N-1}. The memory of an X that is handed over (hand_over)
/// is given back when all modes have their copies. Fences exec.
///
/// Strategies of orders 1 and 2: `fused` where it is asked for or the plan streams. Else order 1
/// takes `csf`; order 2 takes `semi_sparse` where it is asked for or, on GPUs, by `automatic`, and
/// `csf` otherwise.
///
/// An X in host memory that exec cannot access is made ready by the host and always streamed;
/// another X is streamed where its copies take more than options.streaming says. Strategies `fused`
/// and, from order 2 on, `semi_sparse` stream; `automatic` takes `fused` then, for any order. Bits
/// are the same as without, where the SpTTM of `semi_sparse` is by strategy `lanes` without: always
/// on hosts, and on GPUs where spttm's `automatic` takes it.
///
/// Throws Error where
/// - a rank is not positive, or an index is past its mode,
/// - a strategy asked for cannot take the tensor,
/// - a product does not fit the memory limit (with both numbers),
/// - X would be streamed, and another strategy is asked for or, by `fused`, the indices of all
/// modes
///   except one take over 63 bits.
///
/// Throws RunError where there is no out-of-core memory.
template <class ExecutionSpace, class Tensor>
detail::PlanOf<TtmChainPlan, Tensor, ExecutionSpace> make_ttm_chain_plan(
    ExecutionSpace const& exec, Tensor X, std::vector<int> const& ranks,
    TtmChainOptions const& options = {});

/// The rows of Y_(n) that are not empty. plan: a TtmChainPlan. A[m]: I_m x R_m, row-major, its rows
/// padded with zeros, as make_matrix makes them and copy_matrix makes them of any View; A[n] is not
/// read. Enqueued on exec, does not fence, allocates nothing. Where the plan streams it fences, and
/// the first call allocates room for windows. The plan is changed only in its buffers: one product
/// of a plan at a time. Throws Error if the shapes or the padding disagree or n is not in [0, N).
template <class ExecutionSpace, class Plan, class FactorsType = detail::FactorsOf<Plan>>
detail::PlanOf<TtmChainProduct, Plan> ttm_chain(ExecutionSpace const& exec, Plan& plan,
                                                FactorsType const& A, int n);

/// The whole of Y_(n), I_n x prod_{m != n} R_m, in the order of columns of Kolda & Bader. Y is
/// overwritten and aliases no A[m]. A, fences and errors are those of ttm_chain without Y.
template <class ExecutionSpace, class Plan, class FactorsType = detail::FactorsOf<Plan>,
          class Output>
void ttm_chain(ExecutionSpace const& exec, Plan& plan, FactorsType const& A, int n,
               Output const& Y);

/// The cost of ttm_chain on mode n, in flops and bytes (see Cost): TtmChainChoice::flops; the
/// nonzeros as the strategy holds them (a word and a value, a tree, or fibers and those of the
/// partial products), the rows of the other factors that nonzeros use, and the product's rows with
/// their padding. Throws Error if n is not in [0, N).
template <class Scalar, class Index, class MemorySpace>
Cost ttm_chain_cost(TtmChainPlan<Scalar, Index, MemorySpace> const& plan, int n);

/// The nonzeros that the plan holds for mode n, as coordinates; they are sorted by n and then by
/// the modes of its columns. Enqueued on exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             TtmChainPlan<Scalar, Index, MemorySpace> const& plan,
                                             int n);

}  // namespace sporades

#include <sporades/kernels/detail/ttm_chain/build_ttm_chain_plan.hpp>
#include <sporades/kernels/detail/ttm_chain/run_ttm_chain.hpp>
