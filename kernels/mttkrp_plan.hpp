// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/kernels/mttkrp.hpp>

namespace sporades {

struct MttkrpOptions {
  MttkrpStrategy strategy = MttkrpStrategy::automatic;
  int rank = 16;  // columns that the buffers are made for; any other works and reallocates once
};

/// The formats that MTTKRP on every mode of one tensor wants, built once, and the buffers that its
/// kernels need, so that a product allocates nothing.
/// `sorted`: N sorted copies; `csf`: N trees; `permuted`: one copy and N permutations; `atomic`,
/// `duplicated`: the tensor as it is; `automatic`: a list or a tree a mode, see automatic_mttkrp.
template <class ScalarType, class IndexType, class MemorySpaceType>
struct MttkrpPlan {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  Dims dims;
  Position nnz = 0;
  std::vector<MttkrpStrategy> strategies;                    // per mode, never `automatic`
  std::vector<CooTensor<Scalar, Index, MemorySpace>> lists;  // per mode; empty where not used
  std::vector<CsfTensor<Scalar, Index, MemorySpace>> trees;  // per mode; empty where not used
  PermutedCoo<Scalar, Index, MemorySpace> permuted;
  CarryBuffers<Scalar, Index, MemorySpace> carry;

  int order() const { return static_cast<int>(dims.size()); }

  /// Of the formats and the buffers. Strategies that share the given tensor count it once.
  std::uint64_t storage_bytes() const {
    std::uint64_t bytes = carry.bytes();
    bool shared = false;
    for (int n = 0; n < order(); ++n) {
      if (strategies[n] == MttkrpStrategy::csf) bytes += trees[n].storage_bytes();
      if (strategies[n] == MttkrpStrategy::sorted) bytes += lists[n].storage_bytes();
      shared = shared || strategies[n] == MttkrpStrategy::atomic ||
               strategies[n] == MttkrpStrategy::duplicated;
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

/// Fibers of X along the last of the modes it is sorted by. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Position count_fibers(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X) {
  expects(static_cast<int>(X.sorted_modes.size()) == X.order(),
          "count_fibers: the tensor is not sorted by all its modes");
  detail::OpensNode<MemorySpace, Index> opens{X.coordinates, {}, X.order() - 1};
  for (int l = 0; l < X.order(); ++l) opens.modes[l] = X.sorted_modes[l];
  Position fibers = 0;
  Kokkos::parallel_reduce(
      "sporades::mttkrp::count_fibers",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>(exec, 0, X.nnz()),
      KOKKOS_LAMBDA(Position p, Position & sum) { sum += opens(p) ? 1 : 0; }, fibers);
  return fibers;
}

/// The rule behind `automatic`: a tree saves one factor row and one multiplication for every
/// nonzero of a fiber but the first, and costs one pointer a fiber, so it pays where fibers are
/// long; DESIGN §12 measured it to win from eight nonzeros a fiber on.
inline MttkrpStrategy automatic_mttkrp(Position nnz, Position fibers) {
  constexpr Position long_fiber = 8;
  return nnz >= long_fiber * fibers ? MttkrpStrategy::csf : MttkrpStrategy::sorted;
}

/// Builds what the strategy wants for every mode. X may be in any order; duplicates are allowed.
/// Fences exec. Throws Error if the rank is not positive.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MttkrpPlan<Scalar, Index, MemorySpace> make_mttkrp_plan(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
    MttkrpOptions const& options = {}) {
  expects(options.rank > 0, "make_mttkrp_plan: rank ", options.rank, " is not positive");
  int const N = X.order();
  MttkrpPlan<Scalar, Index, MemorySpace> plan;
  plan.dims = X.dims;
  plan.nnz = X.nnz();
  plan.strategies.assign(N, options.strategy);
  plan.lists.resize(N);
  plan.trees.resize(N);
  switch (options.strategy) {
    case MttkrpStrategy::atomic:
    case MttkrpStrategy::duplicated:
      std::fill(plan.lists.begin(), plan.lists.end(), X);
      break;
    case MttkrpStrategy::permuted:
      plan.permuted = make_permuted_coo(exec, X);
      break;
    default:
      for (int n = 0; n < N; ++n) {
        auto const list = sorted(exec, X, mttkrp_mode_order(X.dims, n));
        if (options.strategy == MttkrpStrategy::automatic)
          plan.strategies[n] = automatic_mttkrp(X.nnz(), count_fibers(exec, list));
        if (plan.strategies[n] == MttkrpStrategy::csf) {
          plan.trees[n] = make_csf(exec, list, list.sorted_modes);
        } else {
          plan.lists[n] = list;
        }
      }
  }
  if (options.strategy != MttkrpStrategy::atomic && options.strategy != MttkrpStrategy::duplicated)
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
  MttkrpStrategy const strategy = plan.strategies[n];
  if (strategy == MttkrpStrategy::csf)
    return mttkrp(exec, plan.trees[n], A, n, V, strategy, plan.carry);
  if (strategy == MttkrpStrategy::permuted)
    return mttkrp(exec, plan.permuted, A, n, V, strategy, plan.carry);
  mttkrp(exec, plan.lists[n], A, n, V, strategy, plan.carry);
}

}  // namespace sporades

#include <sporades/eti/mttkrp_plan.hpp>
