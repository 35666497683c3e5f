// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Tensors for the tests that count memory, and what a recording saw.

#include <sporades/algorithms/definitions.hpp>
#include <sporades/core/types.hpp>
#include <support/tools.hpp>
#include <vector>

namespace sporades::test {

/// A tensor of distinct coordinates.
struct MemoryTrial {
  Dims dims;
  Position nnz;
  double skew;
  int rank;
};

inline std::vector<MemoryTrial> memory_trials() {
  return {{{1000, 800, 600}, 60000, 0.8, 16},     {{200, 150, 100}, 100000, 0, 5},
          {{50, 60, 70, 80}, 60000, 0.3, 33},     {{20000, 30000, 10}, 60000, 0.5, 12},
          {{64, 64, 64, 64, 64}, 50000, 0, 48},   {{300000, 200, 100}, 60000, 0.5, 1},
          {{500, 700}, 100000, 0.2, 20},          {{20, 20, 20, 500, 500}, 80000, 0, 8},
          {{100000, 90000, 80000}, 100000, 0, 3}, {{8, 9, 10, 11, 12, 13, 14}, 50000, 0, 100}};
}

/// What may be counted for a byte that is held, unless a count says otherwise.
inline constexpr double most_counted = 1.3;

/// Most bytes of our Views in that memory space.
template <class MemorySpace>
double peak_of(Recording const& recording) {
  auto const found = recording.bytes.find(MemorySpace::name());
  return found == recording.bytes.end() ? 0 : found->second.peak;
}

/// What a decomposition takes of an X that is streamed, without windows.
template <class ExecutionSpace, class Tensor, class Options>
MemoryNeed streamed_need(ExecutionSpace const& exec, Tensor const& X, Options const& options) {
  return run_need(exec, sporades::detail::shape_of(X), X, options, true);
}

}  // namespace sporades::test
