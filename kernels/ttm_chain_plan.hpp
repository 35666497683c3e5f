// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <sporades/core/names.hpp>
#include <sporades/core/row_map.hpp>
#include <sporades/formats/csf_tensor.hpp>
#include <sporades/formats/packed_tensor.hpp>
#include <sporades/formats/scoo_tensor.hpp>
#include <sporades/kernels/detail/plan_formats.hpp>
#include <sporades/kernels/detail/ttm_chain/summed_values.hpp>
#include <sporades/kernels/spttm_plan.hpp>
#include <sporades/kernels/sspttm_plan.hpp>

/// Plans of TTM chains (kernels/ttm_chain.hpp), what they are made for, and what they compute.

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

/// What strategy `semi_sparse` of ttm_chain needs for one mode: X sorted once, by that mode first
/// and the chain's last column mode last; SpTTM takes the last mode, and each SspTTM the one that
/// is last then, so that no result is sorted again (Ma et al., JPDC 2018). The blocks' modes end in
/// the order of the columns.
template <class Scalar, class Index, class MemorySpace>
struct SemiSparseChain {
  HierarchicalTensor<Scalar, Index, MemorySpace> X;
  SpttmStrategy first = SpttmStrategy::automatic;               // of the first product
  std::vector<SspttmPlan<Scalar, Index, MemorySpace>> plans;    // of the second product and on
  std::vector<ScooTensor<Scalar, Index, MemorySpace>> results;  // of every product
  OutOfCoreMemory out_of_core = {};  // where the fibers of all products are there: holds X's

  std::uint64_t storage_bytes() const {
    std::uint64_t bytes = X.storage_bytes();
    for (auto const& plan : plans) bytes += plan.storage_bytes();
    return bytes;
  }
};

/// Carry slots, and room for partial products, kept between calls.
template <class Scalar, class Index, class MemorySpace>
struct TtmChainBuffers {
  CarryBuffers<Scalar, Index, MemorySpace> carry;
  Vector<Scalar, MemorySpace> scratch;
  Matrix<Scalar, MemorySpace> one;  // 1 x 1: see ChainMode

  std::uint64_t bytes() const { return carry.bytes() + scratch.extent(0) * sizeof(Scalar); }
};

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

  std::size_t tile() const {
    std::size_t const rank = ranks.empty() ? 1 : static_cast<std::size_t>(ranks.back());
    return pads_tiles ? padded_columns(rank) : rank;
  }
  /// With padding.
  std::size_t count() const {
    std::size_t product = tile();
    for (std::size_t k = 0; k + 1 < ranks.size(); ++k)
      product *= static_cast<std::size_t>(ranks[k]);
    return padded_columns(product);
  }
  /// Numbers of all partial products of a walk down a tree of these modes: those below each level
  /// except the last; the first is a row of Y itself.
  std::size_t partial_products() const {
    std::size_t all = 0, size = tile();
    for (std::size_t k = ranks.size(); k-- > 2;) {
      size *= static_cast<std::size_t>(ranks[k - 1]);
      all += size;
    }
    return all;
  }
};

/// What a plan does for one mode, and why.
struct TtmChainChoice {
  TtmChainStrategy strategy = TtmChainStrategy::automatic;  // never `automatic` in a plan
  TtmChainColumns columns;
  double flops = 0;  // of a product, as hosts compute it
  std::string reason;
};

/// "csf, modes 2 0 3 1"
inline std::string describe(TtmChainChoice const& choice) {
  std::string text = to_string(choice.strategy);
  for (std::size_t k = 0; k < choice.columns.modes.size(); ++k)
    text += (k ? " " : ", modes ") + std::to_string(choice.columns.modes[k]);
  return text;
}

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

}  // namespace sporades
