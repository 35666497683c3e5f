// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <sporades/kernels/spttm.hpp>

namespace sporades::perf {

/// The mean length of fibers, nonzeros, and its standard deviation.
struct FiberLengths {
  double mean = 0, deviation = 0;
};

/// Of all fibers. Fences exec.
template <class ExecutionSpace, class FibersType>
FiberLengths fiber_lengths(ExecutionSpace const& exec, FibersType const& fibers) {
  using Begin = std::decay_t<decltype(fibers.begin)>;
  auto const count = static_cast<double>(fibers.count());
  if (count == 0) return {};
  double squares = 0;
  Kokkos::parallel_reduce("sporades::perf::fiber_lengths",
                          sporades::detail::Range<ExecutionSpace>(exec, 0, fibers.count()),
                          sporades::detail::SquareFibers<Begin>{fibers.begin, 1}, squares);
  double const mean = static_cast<double>(fibers.items()) / count;
  return {mean, std::sqrt(std::max(0.0, squares / count - mean * mean))};
}

}  // namespace sporades::perf
