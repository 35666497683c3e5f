// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <sporades/core/random.hpp>
#include <sporades/formats/morton_order.hpp>
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
  RowOrder order = RowOrder::automatic;  // of `sorted`
  bool atomic_flush = false;  // rows that chunks share are added up atomically: bits may change
};

/// What is done for one mode, and why.
struct MttkrpChoice {
  MttkrpStrategy strategy = MttkrpStrategy::automatic;  // never `automatic` in a plan
  RowOrder order = RowOrder::automatic;                 // of `sorted`; never `automatic` there
  double fiber_length = 0;                              // mean, estimated; 0 where not asked for
  std::string reason;
};

/// "fibers", "sorted along a curve"
inline std::string describe(MttkrpChoice const& choice) {
  return std::string(to_string(choice.strategy)) +
         (choice.order == RowOrder::morton ? " along a curve" : "");
}

/// The formats that MTTKRP on every mode of one tensor wants, built once, and the buffers that its
/// kernels need, so that a product allocates nothing.
/// `sorted`, `fibers`: N sorted copies, packed where indices fit; `csf`: N trees; `permuted`: one
/// copy and N permutations; `atomic`, `duplicated`: the tensor as it is; `automatic`: per mode,
/// see choose_mttkrp.
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

/// Sets the bit that the indices of all modes but one hash to.
template <class Coordinates>
struct MarkFibers {
  Coordinates coordinates;                                               // N x nnz
  Kokkos::View<std::uint32_t*, typename Coordinates::memory_space> map;  // a power of two
  int order, leaf;

  KOKKOS_FUNCTION void operator()(Position p) const {
    std::uint64_t hash = 0;
    for (int n = 0; n < order; ++n)
      if (n != leaf) hash = splitmix64(hash ^ coordinates(n, p));
    std::uint64_t const bit = hash & (32 * map.extent(0) - 1);
    std::uint32_t const one = std::uint32_t{1} << (bit & 31);
    if (!(map(bit >> 5) & one)) Kokkos::atomic_fetch_or(&map(bit >> 5), one);
  }
};

}  // namespace detail

/// Mean number of nonzeros of the non-empty fibers along mode `leaf`, within a few per cent, with
/// no sort: linear counting (Whang et al., ACM TODS 15(2), 1990) in a map of 4 to 8 bits a nonzero.
/// The same on every run. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
double estimate_fiber_length(ExecutionSpace const& exec,
                             CooTensor<Scalar, Index, MemorySpace> const& X, int leaf) {
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>;
  if (X.nnz() == 0) return 0;
  Position const words = Position{1} << std::max(0, index_bits(4 * X.nnz()) - 5);
  Kokkos::View<std::uint32_t*, MemorySpace> const map(
      Kokkos::view_alloc(exec, "sporades::mttkrp::fiber_map"), words);
  Kokkos::parallel_for(
      "sporades::mttkrp::mark_fibers", Policy(exec, 0, X.nnz()),
      detail::MarkFibers<typename CooTensor<Scalar, Index, MemorySpace>::Coordinates>{
          X.coordinates, map, X.order(), leaf});
  Position empty = 0;
  Kokkos::parallel_reduce(
      "sporades::mttkrp::count_fibers", Policy(exec, 0, words),
      KOKKOS_LAMBDA(Position w, Position & sum) {
        for (std::uint32_t left = ~map(w); left != 0; left &= left - 1) ++sum;
      },
      empty);
  double const bits = 32.0 * static_cast<double>(words);
  double const fibers = -bits * std::log(static_cast<double>(empty) / bits);
  return static_cast<double>(X.nnz()) / std::max(fibers, 1.0);
}

/// The rule behind `automatic`. Fibers save a multiplication and N - 2 factor rows for every
/// nonzero of a fiber but the first, and cost a branch that long fibers make predictable: they are
/// taken where they hold `long_fiber` nonzeros in the mean. Else nonzeros are sorted, on CPUs along
/// a space-filling curve: factor rows that do not fit the first cache are found in the second.
template <class ExecutionSpace>
MttkrpChoice choose_mttkrp(int order, double fiber_length) {
  constexpr double long_fiber = is_gpu<ExecutionSpace> ? 8 : 4;
  MttkrpChoice choice;
  choice.fiber_length = fiber_length;
  if (order > 2 && fiber_length >= long_fiber) {
    choice.strategy = MttkrpStrategy::fibers;
    choice.reason = "fibers hold " + std::to_string(long_fiber) + " nonzeros or more";
  } else {
    choice.strategy = MttkrpStrategy::sorted;
    choice.reason = "fibers are short";
    choice.order = is_gpu<ExecutionSpace> || order < 3 ? RowOrder::lexicographic : RowOrder::morton;
  }
  return choice;
}

/// Builds what the strategy wants for every mode. X may be in any order; duplicates are allowed.
/// Fences exec. Throws Error if the rank is not positive.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MttkrpPlan<Scalar, Index, MemorySpace> make_mttkrp_plan(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
    MttkrpOptions const& options = {}) {
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  expects(options.rank > 0, "make_mttkrp_plan: rank ", options.rank, " is not positive");
  int const N = X.order();
  MttkrpPlan<Scalar, Index, MemorySpace> plan;
  plan.dims = X.dims;
  plan.nnz = X.nnz();
  plan.choices.assign(N, {options.strategy, options.order, 0, "asked for"});
  plan.packed.resize(N);
  plan.lists.resize(N);
  plan.trees.resize(N);
  plan.carry.atomic = options.atomic_flush;
  Tensor curve;  // X along the curve, once a mode wants it
  for (int n = 0; n < N; ++n) {
    auto& choice = plan.choices[n];
    auto const modes = mttkrp_mode_order(X.dims, n);
    if (choice.strategy == MttkrpStrategy::automatic) {
      choice = choose_mttkrp<ExecutionSpace>(
          N, N > 2 ? estimate_fiber_length(exec, X, modes.back()) : 0);
      if (options.order != RowOrder::automatic) choice.order = options.order;
    }
    if (choice.strategy == MttkrpStrategy::fibers && N < 2)
      choice.strategy = MttkrpStrategy::sorted;
    if (choice.strategy == MttkrpStrategy::fibers || choice.order == RowOrder::automatic)
      choice.order = RowOrder::lexicographic;
    switch (choice.strategy) {
      case MttkrpStrategy::atomic:
      case MttkrpStrategy::duplicated:
        plan.lists[n] = X;
        break;
      case MttkrpStrategy::permuted:
        if (n == 0) plan.permuted = make_permuted_coo(exec, X);
        break;
      case MttkrpStrategy::csf:
        plan.trees[n] = make_csf(exec, X, modes);
        break;
      default: {
        bool const along_curve = choice.order == RowOrder::morton;
        if (along_curve && curve.order() == 0) curve = morton_sorted(exec, X);
        auto const list = along_curve ? sorted(exec, curve, {n}) : sorted(exec, X, modes);
        if (fits_packed_coo(X.dims, n)) {
          plan.packed[n] = make_packed_coo(exec, list, n);
        } else {
          plan.lists[n] = list;
          if (choice.strategy == MttkrpStrategy::fibers) {
            choice.strategy = MttkrpStrategy::sorted;
            choice.reason = "indices do not fit 63 bits";
          }
        }
      }
    }
  }
  bool const is_chunked =
      options.strategy != MttkrpStrategy::atomic && options.strategy != MttkrpStrategy::duplicated;
  if (is_chunked && !options.atomic_flush)
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
    return mttkrp(exec, plan.packed[n], A, n, V, strategy, plan.carry);
  if (strategy == MttkrpStrategy::csf)
    return mttkrp(exec, plan.trees[n], A, n, V, strategy, plan.carry);
  if (strategy == MttkrpStrategy::permuted)
    return mttkrp(exec, plan.permuted, A, n, V, strategy, plan.carry);
  mttkrp(exec, plan.lists[n], A, n, V, strategy, plan.carry);
}

}  // namespace sporades

#include <sporades/eti/mttkrp_plan.hpp>
