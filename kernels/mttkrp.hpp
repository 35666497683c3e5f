// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/check_types.hpp>
#include <sporades/core/names.hpp>
#include <sporades/core/row_map.hpp>
#include <sporades/formats/alto_tensor.hpp>
#include <sporades/formats/csf_tensor.hpp>
#include <sporades/formats/detail/alto_pull.hpp>
#include <sporades/formats/flycoo_tensor.hpp>
#include <sporades/formats/packed_tensor.hpp>
#include <sporades/formats/permuted_tensor.hpp>
#include <sporades/kernels/detail/plan_formats.hpp>
#include <sporades/kernels/detail/processes/row_parts.hpp>
#include <sporades/kernels/detail/rounded_factors.hpp>
#include <sporades/kernels/detail/row_sums.hpp>
#include <sporades/kernels/detail/value_lists.hpp>
#include <sporades/kernels/gather_precision.hpp>
#include <sporades/kernels/streaming.hpp>

/// MTTKRP, the matricized tensor times Khatri-Rao product on mode n:
///   V = X_(n) (A_{N-1} ⊙ ... ⊙ A_{n+1} ⊙ A_{n-1} ⊙ ... ⊙ A_0)
///   V(i, r) = sum over nonzeros p with i_n = i of x_p prod_{m != n} A_m(i_m, r)
/// X: I_0 x ... x I_{N-1}. A[m]: I_m x R; A[n] is not read. V: I_n x R, overwritten, aliases no
/// A[m]. Any order from 1 to 16, any R.
/// Cost: N R nnz flops; a nonzero reads at least one index a mode, one value and N - 1 factor rows.
/// Bader & Kolda, SIAM J. Sci. Comput. 30(1), 2007.

namespace sporades {

/// How MTTKRP adds up output rows. "Same bits": on every run and number of threads.
enum class MttkrpStrategy {
  /// A plan chooses for each mode and says why (MttkrpPlan::choices). On a format:
  /// `sorted` on a PackedTensor, and the one of its name on others; on a CooTensor `sorted` where
  /// it is sorted by mode n first, else `atomic`.
  automatic,
  /// A baseline, in a plan only if it is asked for: nonzeros in any order; each sum of a row is
  /// added atomically. Bits change from run to run.
  atomic,
  /// A baseline, never chosen: nonzeros in any order; Kokkos' ScatterView, on hosts a copy of V a
  /// thread. Bits change.
  duplicated,
  /// A baseline, never chosen: nonzeros in any order, read through a permutation a mode. Same bits.
  permuted,
  /// Nonzeros sorted by mode n. Same bits.
  sorted,
  /// Packed nonzeros sorted by mode n and then by the others; factor rows that a run of nonzeros
  /// shares are multiplied once a run. Same bits.
  fibers,
  /// A baseline, never chosen, the one of SPLATT: a fiber tree whose root is mode n. Same bits.
  csf,
  /// One copy of the nonzeros in a linear order, for all modes. Same bits. On GPUs in plans only,
  /// which list the rows' nonzeros. On hosts refused for modes whose rows are used too seldom:
  /// these would need atomics.
  alto,
  /// Never chosen: as `alto`, with atomic additions where it needs them. Bits change there.
  alto_atomic,
  /// One copy of the nonzeros, in the order of one mode's rows, which a product leaves in the order
  /// of the next mode's. A product on another mode than that one moves it there first. Same bits.
  /// Wijeratne et al., CF 2024.
  flycoo,
  /// A baseline, never chosen: the format of `flycoo` by the kernel of that paper, a team a
  /// partition, which moves the nonzeros as it multiplies them. Bits change on GPUs.
  flycoo_blocks
};

namespace detail {
template <>
struct Names<MttkrpStrategy> {
  static constexpr char const* kind = "MTTKRP strategy";
  static constexpr char const* list[] = {"automatic",   "atomic", "duplicated",   "permuted",
                                         "sorted",      "fibers", "csf",          "alto",
                                         "alto-atomic", "flycoo", "flycoo-blocks"};
};
}  // namespace detail

/// The order of the nonzeros inside an output row.
enum class RowOrder {
  /// In a plan as `lexicographic`.
  automatic,
  /// By the other modes, from the shortest to the longest.
  lexicographic,
  /// Along a space-filling curve through the other modes, so that factor rows come again soon.
  morton
};

namespace detail {
template <>
struct Names<RowOrder> {
  static constexpr char const* kind = "order of rows";
  static constexpr char const* list[] = {"automatic", "lexicographic", "morton"};
};
}  // namespace detail

/// What `sorted` and `fibers` do with rows.
struct MttkrpRows {
  RowOrder order = RowOrder::automatic;  // to ask for one is to ask for `sorted`
  bool atomic_flush = false;  // rows that chunks share are added up atomically: bits may change
  int split = -1;             // of `fibers`: modes multiplied once a run, up to N - 2; -1: N - 2
};

/// Nonzeros of `sorted` and `fibers` in slices of one mode: ranges of its indices. Several
/// processes exchange less where other modes' rows are in few slices each; one process takes
/// longer.
struct MttkrpSlices {
  int count = 1;                                      // at most 64; 1: none
  int mode = -1;                                      // the one that has them; -1: the longest
  std::vector<std::vector<std::uint64_t>> rows = {};  // per mode: where the rows begin that are
                                                      // best owned with each slice, and the end;
                                                      // none: evenly
};

/// What a plan of MTTKRP is made for.
struct MttkrpOptions {
  MttkrpStrategy strategy = MttkrpStrategy::automatic;
  int rank = 16;  // columns that the buffers are made for; any other works and reallocates once
  MttkrpRows rows = {};
  Streaming streaming = {};   // where the nonzeros take too much memory, of `sorted` and `fibers`
  FlycooOptions flycoo = {};  // of `flycoo` and `flycoo_blocks`
  GatherPrecision gather = GatherPrecision::full;  // of factor rows, of `sorted` and `fibers`
  std::uint64_t memory = 0;  // bytes that X and the plan may take where exec computes, also while
                             // it is built; 0: what is left
  MttkrpSlices slices = {};
  bool updatable = false;  // update_values may give the nonzeros new values: the plan keeps which
                           // nonzero each of its values is, 4 bytes each (8 from 2^32 - 1 nonzeros
                           // on). On one process, and nothing is streamed
};

/// What a plan does for one mode, and why.
struct MttkrpChoice {
  MttkrpStrategy strategy = MttkrpStrategy::automatic;  // never `automatic` in a plan
  RowOrder order = RowOrder::automatic;                 // of `sorted`; never `automatic` there
  int split = 0;       // of `fibers` and `flycoo`: modes multiplied once a run
  std::string reason;  // in plain words, with the numbers
  GatherPrecision gather = GatherPrecision::full;  // of factor rows
  int slices = 1;  // of another mode, in whose order nonzeros are; 1: in that of rows
};

/// "fibers", "sorted along a curve", "sorted in 8 slices"
std::string describe(MttkrpChoice const& choice);

namespace detail {
template <class Scalar, class Index, class MemorySpace>
struct DistributedProducts;

/// What the products of a plan work with, beside its formats.
template <class Scalar, class Index, class MemorySpace>
struct MttkrpWork {
  std::vector<RowParts<Scalar, MemorySpace>> parts;  // per mode; none where it has no slices
  std::vector<AltoPull<Index, MemorySpace>> pulls;   // per mode, of `alto` on GPUs
  CarryBuffers<Scalar, Index, MemorySpace> carry;
  RoundedFactors<MemorySpace> rounded;
  ValueLists<Scalar, MemorySpace> values;      // of the formats, where they are updatable
  NonzeroNumbers<MemorySpace> record_numbers;  // of a FlycooTensor, in the order of mode 0
  std::shared_ptr<DistributedProducts<Scalar, Index, MemorySpace>> distributed;  // of processes
};
}  // namespace detail

/// The formats for MTTKRP on every mode of one tensor, built once, and the buffers that its kernels
/// need, so that a product allocates nothing.
///   sorted, fibers        N sorted copies, packed where the indices fit 63 bits; with slices,
///                         parts of rows in place of rows
///   csf                   N trees
///   permuted              one copy and N permutations
///   alto, alto_atomic     one copy; of alto on GPUs also 2 bytes a nonzero and mode, and 12 or 16
///                         for each partial sum of a row
///   flycoo, flycoo_blocks one copy, room for another, and N remap ids a nonzero
///   atomic, duplicated    the tensor as it is
template <class ScalarType, class IndexType, class MemorySpaceType>
struct MttkrpPlan {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  Dims dims;
  Position nnz = 0;
  std::vector<MttkrpChoice> choices;  // per mode
  /// Per mode. to_coo takes the first of these that there is. Of several processes: the nonzeros
  /// that are summed here, whose rows have numbers of their own.
  detail::PlanFormats<Scalar, Index, MemorySpace, PermutedTensor, FlycooTensor, AltoTensor,
                      CooTensor, PackedTensor, CsfTensor>
      formats;
  std::vector<RowMap> rows;  // per mode: those of a factor that this process has; or none,
                             // where it has all
  detail::MttkrpWork<Scalar, Index, MemorySpace> work;

  int order() const { return static_cast<int>(dims.size()); }
  /// The rows of mode m's factor, and of a product on it, that this process has.
  RowMap rows_of(int m) const {
    return rows.empty() ? RowMap{} : rows[static_cast<std::size_t>(m)];
  }
  /// How many rows of each mode's factor this process has.
  Dims dims_here() const {
    Dims here = dims;
    for (std::size_t m = 0; m < rows.size(); ++m) here[m] = rows[m].here(dims[m]);
    return here;
  }

  /// Bytes of the formats and the buffers. Strategies that share the given tensor count it once.
  std::uint64_t storage_bytes() const;
};

/// Builds the formats of options.strategy for every mode. X is a CooTensor in any order; duplicates
/// are allowed. The memory of an X that is handed over (hand_over) is given back as soon as there
/// is a sorted copy. Fences exec.
///
/// Strategy `automatic` takes the fastest of these that options.memory leaves; MttkrpPlan::choices
/// say which, and bits are those of the choice:
/// - a sorted copy a mode;
/// - on a GPU the same copies, sorted by the host;
/// - one copy, `alto` on hosts or `flycoo`;
/// - sorted copies, of which a GPU streams those that do not fit from the host's memory; or on a
///   host, where a limit is set, all from files.
///
/// An X on the host that exec, a GPU, cannot access is sorted by the host, and its copies are
/// streamed, except those that options.streaming.memory leaves room for. memory_need
/// (kernels/memory_need.hpp) tells the bytes before.
///
/// Throws Error where
/// - the rank is not positive, or an index is past its mode,
/// - the split or the precision is not possible with the strategy,
/// - indices do not fit the words of strategy `fibers` or `alto`, or of order `morton`,
/// - strategy `alto` needs atomics, on hosts,
/// - the strategy cannot be streamed and would have to be.
///
/// Throws RunError where there is no out-of-core memory, and where the plan takes more memory than
/// it may, with both numbers and the least that would do.
template <class ExecutionSpace, class Tensor>
detail::PlanOf<MttkrpPlan, Tensor, ExecutionSpace> make_mttkrp_plan(
    ExecutionSpace const& exec, Tensor X, MttkrpOptions const& options = {});

/// make_mttkrp_plan of a tensor whose nonzeros are those of all processes. X: the nonzeros that
/// this process brings, any of them, with the dims of the whole. The plan's products take and give
/// the rows of factors that plan.rows_of says, and are collective; their bits are those of one
/// process. Collective. Fences exec.
///
/// Strategies; `automatic` chooses as on one process with enough memory:
/// - `sorted` and `fibers`: nonzeros are sorted across processes once a mode; a process keeps
///   consecutive ones in the order of each mode's rows.
/// - `alto`, on hosts: a process keeps some parts of the linear order. The coarsest partition of a
///   mode must have enough parts for all processes, or some processes have none.
///
/// Throws as make_mttkrp_plan of one process, and Error where X's dims are not those of other
/// processes, or options ask for streaming or a limit: nothing is streamed, nor fitted to a limit.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MttkrpPlan<Scalar, Index, MemorySpace> make_mttkrp_plan(Communicator const& processes,
                                                        ExecutionSpace const& exec,
                                                        CooTensor<Scalar, Index, MemorySpace> X,
                                                        MttkrpOptions const& options = {});

/// MTTKRP on mode n by what the plan holds for it:
///   V = X_(n) (A_{N-1} ⊙ ... ⊙ A_{n+1} ⊙ A_{n-1} ⊙ ... ⊙ A_0)
/// A[m]: I_m x R; A[n] is not read. V: I_n x R, overwritten, aliases no A[m].
/// A is a list of N matrices, and V a matrix: rank-2 Views in the tensor's memory space, of its
/// scalar type, not const, row-major (Kokkos::LayoutRight). make_matrix makes one, with padded
/// rows, which are faster where R is no multiple of four. make_factors takes Views of any layout
/// and memory space, and copies those that do not fit. copy_factor copies a product to any View:
///   auto plan = make_mttkrp_plan(exec, X, options);
///   auto const V = make_matrix<double>(exec, "V", X.dims[n], R);
///   mttkrp(exec, plan, make_factors(exec, views), n, V);
///   copy_factor(exec, V, views[n]);
/// Enqueued on exec, does not fence, allocates nothing where V has the plan's rank. Where the plan
/// streams it fences, and the first call allocates room for windows. The plan is changed only in
/// its buffers, and where it has a FlycooTensor in its order: one product of a plan at a time. N R
/// nnz flops. Throws Error if the shapes disagree or n is not in [0, N).
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace,
          class FactorsType = Factors<Scalar, MemorySpace>, class Output>
void mttkrp(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan,
            FactorsType const& A, int n, Output const& V);

/// MTTKRP on mode n of one tensor, by buffers that each call allocates. A and V are those of the
/// product of a plan. X and its strategies:
///   CooTensor        atomic, duplicated; sorted, where X is sorted with mode n first
///   PackedTensor     sorted, fibers (for X sorted by all its modes); on its row mode only
///   PermutedTensor   permuted
///   CsfTensor        csf, on its root mode only
///   AltoTensor       alto, alto_atomic
///   FlycooTensor     flycoo, flycoo_blocks, on the mode in whose order it is only; it stays there
/// X's indices are trusted: check_coordinates checks them. Enqueued on exec, does not fence. Throws
/// Error if the shapes disagree, n is not in [0, N), or X does not allow the strategy.
template <class ExecutionSpace, class Tensor, class FactorsType = detail::FactorsOf<Tensor>,
          class Output>
void mttkrp(ExecutionSpace const& exec, Tensor const& X, FactorsType const& A, int n,
            Output const& V, MttkrpStrategy strategy = MttkrpStrategy::automatic);

/// The cost of mttkrp on mode n with R columns, in flops and bytes (see Cost): N R nnz flops; a
/// nonzero as the plan holds it for mode n, the rows of the other factors that nonzeros use (all
/// rows where they are rounded first), and I_n rows of V. A nonzero takes
///   sorted, fibers     a word of 4 or 8 bytes and its value, and an index a row of V that is not
///                      empty; N indices and its value where indices do not fit the word
///   csf                its share of the tree's nodes
///   alto, alto_atomic  8 or 16 bytes and its value, and what sums mode n's rows without atomics
///   flycoo, flycoo_blocks  its record twice, as it is moved to the next mode's order, and a remap
///                      id
///   permuted           N indices, its value and 8 bytes
///   atomic, duplicated N indices and its value
/// One pass over the indices of each mode whose used rows the plan does not know: alto, permuted,
/// atomic and duplicated. Fences exec. Throws Error if n is not in [0, N), or the plan is one of
/// several processes.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Cost mttkrp_cost(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace> const& plan,
                 int R, int n);

/// The nonzeros that the plan was made of, in an order given by the plan: those that it holds as
/// coordinates, else an unpacked copy of one of its formats. Enqueued on exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             MttkrpPlan<Scalar, Index, MemorySpace> const& plan);

}  // namespace sporades

#include <sporades/kernels/detail/mttkrp/build_mttkrp_plan.hpp>
#include <sporades/kernels/detail/mttkrp/run_mttkrp.hpp>
