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

/// Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
SpttmChoice choose_spttm(ExecutionSpace const& exec,
                         HierarchicalTensor<Scalar, Index, MemorySpace> const& X, int rank) {
  Position const fibers = X.fibers.count();
  if (fibers == 0) return {SpttmStrategy::lanes, "there are no nonzeros"};
  double const length = static_cast<double>(X.nnz()) / static_cast<double>(fibers);
  Features features;
  features[Feature::order] = static_cast<double>(X.order());
  features[Feature::nonzeros] = static_cast<double>(X.nnz());
  features[Feature::fiber_length] = length;
  features[Feature::fiber_spread] = fiber_spread(exec, X.fibers.begin, fibers, length);
  features[Feature::row_bytes] =
      static_cast<double>(padded_columns(static_cast<std::size_t>(rank)) * sizeof(Scalar));
  auto const decision =
      decide(is_gpu<ExecutionSpace> ? trees::spttm_on_gpus : trees::spttm_on_hosts, features);
  return {from_name<SpttmStrategy>(decision.choice), decision.path};
}

}  // namespace sporades::detail
