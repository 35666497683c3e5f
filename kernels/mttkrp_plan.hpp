// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/names.hpp>
#include <sporades/core/row_map.hpp>
#include <sporades/formats/alto_tensor.hpp>
#include <sporades/formats/csf_tensor.hpp>
#include <sporades/formats/detail/alto_pull.hpp>
#include <sporades/formats/flycoo_tensor.hpp>
#include <sporades/formats/packed_tensor.hpp>
#include <sporades/formats/permuted_tensor.hpp>
#include <sporades/kernels/detail/carry_buffers.hpp>
#include <sporades/kernels/detail/plan_formats.hpp>
#include <sporades/kernels/detail/processes/row_parts.hpp>
#include <sporades/kernels/detail/rounded_factors.hpp>
#include <sporades/kernels/detail/value_lists.hpp>
#include <sporades/kernels/gather_precision.hpp>
#include <sporades/kernels/streaming.hpp>

/// Plans of MTTKRP (kernels/mttkrp.hpp), and what they are made for.

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
inline std::string describe(MttkrpChoice const& choice) {
  return std::string(to_string(choice.strategy)) +
         (choice.order == RowOrder::morton ? " along a curve" : "") +
         (choice.slices > 1 ? " in " + std::to_string(choice.slices) + " slices" : "");
}

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

}  // namespace sporades
