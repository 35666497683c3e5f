// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <sporades/core/matrix.hpp>
#include <sporades/kernels/detail/selector/trees.hpp>
#include <sporades/kernels/spttm.hpp>

/// How `automatic` chooses for SpTTM.

namespace sporades::detail {

/// The square of the length of every step-th fiber.
template <class Begin>
struct SquareFibers {
  Begin begin;
  Position step;
  KOKKOS_FUNCTION void operator()(Position k, double& squares) const {
    auto const length = static_cast<double>(begin(k * step + 1) - begin(k * step));
    squares += length * length;
  }
};

/// The standard deviation of the fibers' lengths over their mean, from some 65,536 of them. Fences
/// exec.
template <class ExecutionSpace, class Begin>
double fiber_spread(ExecutionSpace const& exec, Begin const& begin, Position fibers,
                    double mean_length) {
  Position const step = std::max<Position>(1, fibers / 65536), counted = fibers / step;
  double squares = 0;
  Kokkos::parallel_reduce("sporades::spttm::fiber_spread", Range<ExecutionSpace>(exec, 0, counted),
                          SquareFibers<Begin>{begin, step}, squares);
  double const variance = squares / static_cast<double>(counted) / (mean_length * mean_length) - 1;
  return std::sqrt(std::max(0.0, variance));
}

/// For nonzeros in fibers of that mean length and spread.
template <class ExecutionSpace, class Scalar>
SpttmChoice spttm_choice(int order, double nnz, double length, double spread, int rank) {
  Features features;
  features[Feature::order] = static_cast<double>(order);
  features[Feature::nonzeros] = nnz;
  features[Feature::fiber_length] = length;
  features[Feature::fiber_spread] = spread;
  features[Feature::row_bytes] =
      static_cast<double>(padded_columns(static_cast<std::size_t>(rank)) * sizeof(Scalar));
  auto const decision =
      decide(is_gpu<ExecutionSpace> ? trees::spttm_on_gpus : trees::spttm_on_hosts, features);
  return {from_name<SpttmStrategy>(decision.choice), decision.path};
}

/// Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
SpttmChoice choose_spttm(ExecutionSpace const& exec,
                         HierarchicalTensor<Scalar, Index, MemorySpace> const& X, int rank) {
  Position const fibers = X.fibers.count();
  if (fibers == 0) return {SpttmStrategy::lanes, "there are no nonzeros"};
  auto const nnz = static_cast<double>(X.nnz());
  double const length = nnz / static_cast<double>(fibers);
  return spttm_choice<ExecutionSpace, Scalar>(
      X.order(), nnz, length, fiber_spread(exec, X.fibers.begin, fibers, length), rank);
}

/// Whether choose_spttm may take this strategy for nonzeros in so many fibers at most.
template <class ExecutionSpace, class Scalar>
bool may_choose_spttm(SpttmStrategy strategy, int order, double nnz, double fibers, int rank) {
  for (double length : {nnz / fibers, nnz})
    for (double spread : {0.0, nnz})
      if (spttm_choice<ExecutionSpace, Scalar>(order, nnz, length, spread, rank).strategy ==
          strategy)
        return true;
  return false;
}

}  // namespace sporades::detail
