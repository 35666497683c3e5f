// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sporades/core/matrix.hpp>
#include <sporades/formats/estimate_tuples.hpp>
#include <sporades/kernels/mttkrp.hpp>

namespace sporades {

/// The order of the nonzeros inside a row: by the other modes from the shortest to the longest, or
/// along a space-filling curve through all of them, so that factor rows come again soon.
enum class RowOrder { automatic, lexicographic, morton };

inline char const* to_string(RowOrder order) {
  constexpr char const* names[] = {"automatic", "lexicographic", "morton"};
  return names[static_cast<int>(order)];
}

struct MttkrpOptions {
  MttkrpStrategy strategy = MttkrpStrategy::automatic;
  int rank = 16;  // columns that the buffers are made for; any other works and reallocates once
  RowOrder order = RowOrder::automatic;  // of `sorted`; to ask for one is to ask for `sorted`
  bool atomic_flush = false;  // rows that chunks share are added up atomically: bits may change
  int split = -1;             // of `fibers`: modes multiplied once a run; -1: all but the last
};

/// What is done for one mode, and why.
struct MttkrpChoice {
  MttkrpStrategy strategy = MttkrpStrategy::automatic;  // never `automatic` in a plan
  RowOrder order = RowOrder::automatic;                 // of `sorted`; never `automatic` there
  int split = 0;                                        // of `fibers`: modes multiplied once a run
  std::string reason;
};

/// "fibers", "sorted along a curve"
inline std::string describe(MttkrpChoice const& choice) {
  return std::string(to_string(choice.strategy)) +
         (choice.order == RowOrder::morton ? " along a curve" : "");
}

/// The formats that MTTKRP on every mode of one tensor wants, built once, and the buffers that its
/// kernels need, so that a product allocates nothing.
/// `sorted`, `fibers`: N sorted copies, packed where indices fit; `csf`: N trees;
/// `permuted`: one copy and N permutations; `alto`: one copy; `atomic`, `duplicated`: the tensor as
/// it is; `automatic`: per mode, by cache_block_bits, estimate_tuples and choose_split.
template <class ScalarType, class IndexType, class MemorySpaceType>
struct MttkrpPlan {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  Dims dims;
  Position nnz = 0;
  std::vector<MttkrpChoice> choices;                          // per mode
  std::vector<PackedCoo<Scalar, Index, MemorySpace>> packed;  // per mode; empty where not used
  std::vector<CooTensor<Scalar, Index, MemorySpace>> lists;   // per mode; empty where not used
  std::vector<CsfTensor<Scalar, Index, MemorySpace>> trees;   // per mode; empty where not used
  PermutedCoo<Scalar, Index, MemorySpace> permuted;
  AltoTensor<Scalar, Index, MemorySpace> alto;
  CarryBuffers<Scalar, Index, MemorySpace> carry;

  int order() const { return static_cast<int>(dims.size()); }

  /// Of the formats and the buffers. Strategies that share the given tensor count it once.
  std::uint64_t storage_bytes() const {
    std::uint64_t bytes = carry.bytes();
    bool shared = false;
    for (int n = 0; n < order(); ++n) {
      auto const strategy = choices[n].strategy;
      shared =
          shared || strategy == MttkrpStrategy::atomic || strategy == MttkrpStrategy::duplicated;
      if (packed[n].order() > 0) bytes += packed[n].storage_bytes();
      if (trees[n].order() > 0) bytes += trees[n].storage_bytes();
      if (lists[n].order() > 0 && !shared) bytes += lists[n].storage_bytes();
    }
    if (shared) bytes += lists[0].storage_bytes();
    if (permuted.order() > 0) bytes += permuted.storage_bytes();
    if (alto.order() > 0) bytes += alto.storage_bytes();
    return bytes;
  }
};

/// The order of modes that lists and trees for MTTKRP on mode n are sorted by: n, then the others
/// from the shortest to the longest, so that fibers are few and long.
inline std::vector<int> mttkrp_mode_order(Dims const& dims, int n) {
  std::vector<int> modes;
  for (int m = 0; m < static_cast<int>(dims.size()); ++m)
    if (m != n) modes.push_back(m);
  std::stable_sort(modes.begin(), modes.end(), [&](int a, int b) { return dims[a] < dims[b]; });
  modes.insert(modes.begin(), n);
  return modes;
}

namespace detail {

/// Counts the nonzeros that begin a run of words which agree in the bits of the mask.
template <class Words>
struct CountRuns {
  using Word = typename Words::non_const_value_type;
  Words words;
  Word mask;
  KOKKOS_FUNCTION void operator()(Position p, Position& runs) const {
    if (p == 0 || (words(p) & row_flag<Word>) || ((words(p) ^ words(p - 1)) & mask)) ++runs;
  }
};

}  // namespace detail

/// The runs of nonzeros of one row that agree in the first `split` modes of X.modes. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Position count_runs(ExecutionSpace const& exec, PackedCoo<Scalar, Index, MemorySpace> const& X,
                    int split) {
  Position runs = 0;
  auto const count = [&](auto const& words) {
    using Words = std::decay_t<decltype(words)>;
    using Word = typename Words::non_const_value_type;
    Word const mask = split == 0 ? Word{0} : static_cast<Word>(~Word{0} << X.shifts[split - 1]);
    Kokkos::parallel_reduce(
        "sporades::mttkrp::count_runs",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>(exec, 0, words.extent(0)),
        detail::CountRuns<Words>{words, mask}, runs);
  };
  if (X.wide.extent(0) > 0)
    count(X.wide);
  else
    count(X.narrow);
  return runs;
}

/// The largest blocks of 2^k indices in every mode whose rows, of all modes together, fit three
/// quarters of a second-level cache of 2 MiB: k. 0 where all rows fit anyway, and on GPUs, whose
/// caches hold more.
template <class ExecutionSpace, class Scalar>
int cache_block_bits(Dims const& dims, int rank) {
  if (is_gpu<ExecutionSpace>) return 0;
  constexpr std::uint64_t cache = 3 << 19;
  auto const bytes = [&](int bits) {
    std::uint64_t rows = 0;
    for (auto dim : dims) rows += std::min(dim, std::uint64_t{1} << bits);
    return rows * padded_columns(static_cast<std::size_t>(rank)) * sizeof(Scalar);
  };
  if (bytes(40) <= cache) return 0;
  int bits = 31;
  while (bits > 0 && bytes(bits) > cache) --bits;
  return bits;
}

/// The rule for how many of the other modes are multiplied once a run of nonzeros that agree in
/// them: run_lengths[k], for k modes, are the means. A nonzero costs a factor row for each mode
/// that is left, a run one for each that is not and about four more, for a branch mispredicted
/// (CPUs), or seven, for loads that wait (GPUs).
template <class ExecutionSpace>
int choose_split(int others, std::vector<double> const& run_lengths) {
  constexpr double turn = is_gpu<ExecutionSpace> ? 7 : 4;
  int best = 0;
  double least = others;
  for (int k = 1; k < static_cast<int>(run_lengths.size()); ++k) {
    double const cost = others - k + (k + turn) / run_lengths[k];
    if (cost < least) {
      least = cost;
      best = k;
    }
  }
  return best;
}

namespace detail {

/// `alto` where factor rows exceed the cache, and those that a block of the cache's size touches
/// are fewer than its nonzeros, so that each is used again while it is there; else rows in order.
inline MttkrpChoice choose_layout(Dims const& dims, Position nnz, int block_bits, double blocks) {
  MttkrpChoice choice;
  choice.strategy = MttkrpStrategy::sorted;
  int bits = 0;
  for (auto dim : dims) bits += index_bits(dim);
  if (block_bits == 0 || bits > AltoLayout::most_bits) return choice;
  double rows = 0;
  for (auto dim : dims) rows += static_cast<double>(std::min(dim, std::uint64_t{1} << block_bits));
  if (static_cast<double>(nnz) < blocks * rows) {
    choice.reason = "blocks of the cache's size would be sparse; ";
    return choice;
  }
  choice.strategy = MttkrpStrategy::alto;
  choice.reason = "factors exceed the cache";
  return choice;
}

/// The split for X by choose_split; the run length that it leads to goes into the reason.
template <class ExecutionSpace, class Packed>
int measured_split(ExecutionSpace const& exec, Packed const& X, std::string& reason) {
  std::vector<double> lengths{1};
  for (int k = 1; k <= X.order() - 2; ++k)
    lengths.push_back(static_cast<double>(X.nnz()) /
                      static_cast<double>(std::max<Position>(count_runs(exec, X, k), 1)));
  int const split = choose_split<ExecutionSpace>(X.order() - 1, lengths);
  char text[120];
  if (split > 0)
    std::snprintf(text, sizeof text, "runs that agree in %d of %d modes hold %.3g nonzeros", split,
                  X.order() - 1, lengths[split]);
  else
    std::snprintf(text, sizeof text, "fibers hold %.3g nonzeros", lengths.back());
  reason += text;
  return split;
}

}  // namespace detail

/// Builds what the strategy wants for every mode. X may be in any order; duplicates are allowed.
/// Fences exec. Throws Error if the rank is not positive, or indices do not fit the words of
/// strategy `fibers` or `alto`, or of order `morton`.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MttkrpPlan<Scalar, Index, MemorySpace> make_mttkrp_plan(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
    MttkrpOptions const& options = {}) {
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  expects(options.rank > 0, "make_mttkrp_plan: rank ", options.rank, " is not positive");
  int const N = X.order();
  int const deepest = std::max(0, N - 2);
  MttkrpPlan<Scalar, Index, MemorySpace> plan;
  plan.dims = X.dims;
  plan.nnz = X.nnz();
  plan.packed.resize(N);
  plan.lists.resize(N);
  plan.trees.resize(N);
  plan.carry.atomic = options.atomic_flush;
  bool const is_automatic = options.strategy == MttkrpStrategy::automatic;
  bool const by_layout = is_automatic && options.order == RowOrder::automatic;
  MttkrpChoice common{options.strategy, options.order,
                      options.split < 0 ? deepest : std::min(options.split, deepest), "asked for"};
  if (by_layout) {
    int const block_bits = cache_block_bits<ExecutionSpace, Scalar>(X.dims, options.rank);
    common = detail::choose_layout(X.dims, X.nnz(), block_bits,
                                   block_bits > 0 ? estimate_tuples(exec, X, ~0u, block_bits) : 0);
  } else if (is_automatic) {
    common = {MttkrpStrategy::sorted, options.order, 0, "this order was asked for; "};
  }
  if (common.order == RowOrder::automatic) common.order = RowOrder::lexicographic;
  plan.choices.assign(N, common);

  Tensor curve;  // X along the curve, where modes want it
  bool needs_carry = false;
  for (int n = 0; n < N; ++n) {
    auto& choice = plan.choices[n];
    auto const modes = mttkrp_mode_order(X.dims, n);
    if (choice.strategy == MttkrpStrategy::alto) {
      if (n == 0) plan.alto = make_alto_tensor(exec, X);
      if (by_layout && plan.alto.partitions[n].parts.extent(0) == 0)  // else bits would change
        choice = {MttkrpStrategy::sorted, RowOrder::lexicographic, 0,
                  "a linear order would need atomics; "};
    }
    switch (choice.strategy) {
      case MttkrpStrategy::atomic:
      case MttkrpStrategy::duplicated:
        plan.lists[n] = X;
        break;
      case MttkrpStrategy::permuted:
        if (n == 0) plan.permuted = make_permuted_coo(exec, X);
        needs_carry = true;
        break;
      case MttkrpStrategy::alto:
        plan.carry.own_rows(exec, plan.alto.partitions[n].own_rows, options.rank);
        break;
      case MttkrpStrategy::csf:
        plan.trees[n] = make_csf(exec, X, modes);
        needs_carry = true;
        break;
      default: {
        needs_carry = true;
        bool const fits = fits_packed_coo(X.dims, n);
        expects(fits || choice.strategy == MttkrpStrategy::sorted,
                "make_mttkrp_plan: strategy fibers: the indices of all modes but ", n, " take ",
                detail::packed_bits(X.dims, n) - 1, " bits, a word has 63");
        bool const along_curve = choice.order == RowOrder::morton;
        if (along_curve && n == 0) curve = to_coo(exec, make_alto_tensor(exec, X));
        auto const list = along_curve ? sorted(exec, curve, {n}) : sorted(exec, X, modes);
        if (!fits) {
          plan.lists[n] = list;
          if (is_automatic) choice.reason = "indices do not fit 63 bits";
          break;
        }
        plan.packed[n] = make_packed_coo(exec, list, n);
        if (!is_automatic) break;
        choice.split = detail::measured_split(exec, plan.packed[n], choice.reason);
        if (choice.split > 0) choice.strategy = MttkrpStrategy::fibers;
      }
    }
  }
  if (needs_carry && !options.atomic_flush)
    plan.carry.reserve(exec,
                       detail::chunks_of(X.nnz(), detail::chunk_length<ExecutionSpace>(X.nnz())),
                       options.rank);
  fence(exec, "sporades::mttkrp::make_plan");
  return plan;
}

/// MTTKRP on mode n with what the plan holds for it; see kernels/mttkrp.hpp. The plan is changed
/// only in its buffers: one product of a plan at a time.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan,
            Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& V) {
  expects(n >= 0 && n < plan.order(), "mttkrp: mode ", n, " of a tensor of order ", plan.order());
  MttkrpStrategy const strategy = plan.choices[n].strategy;
  if (plan.packed[n].order() > 0)
    return mttkrp(exec, plan.packed[n], A, n, V, strategy, plan.carry, plan.choices[n].split);
  if (strategy == MttkrpStrategy::csf)
    return mttkrp(exec, plan.trees[n], A, n, V, strategy, plan.carry);
  if (strategy == MttkrpStrategy::alto)
    return mttkrp(exec, plan.alto, A, n, V, strategy, plan.carry);
  if (strategy == MttkrpStrategy::permuted)
    return mttkrp(exec, plan.permuted, A, n, V, strategy, plan.carry);
  mttkrp(exec, plan.lists[n], A, n, V, strategy, plan.carry);
}

}  // namespace sporades

#include <sporades/eti/mttkrp_plan.hpp>
