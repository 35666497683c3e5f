// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Included by algorithms/cp_als.hpp.

#include <sporades/algorithms/detail/column_signs.hpp>
#include <sporades/algorithms/detail/sorted_components.hpp>

namespace sporades::detail {

/// The Kruskal tensor of a state: weights descending, and the signs of each component's columns
/// such that the entry of largest magnitude is positive in as many modes as flips in pairs allow
/// (fixsigns of Tensor Toolbox). The state stays as it is. rows: of each mode those that are here,
/// or none, where all are. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
KruskalTensor<Scalar, MemorySpace> model_of(ExecutionSpace const& exec,
                                            CpAlsState<Scalar, MemorySpace> const& state,
                                            std::vector<RowDistribution> const& rows = {}) {
  int const R = state.rank(), N = state.order();
  std::vector<std::vector<bool>> flips;
  for (int n = 0; n < N; ++n)
    flips.push_back(
        points_down(exec, state.factors[n], rows.empty() ? RowDistribution{} : rows[n]));
  for (int r = 0; r < R; ++r) {
    int odd = -1;  // the last mode of an odd number stays
    for (int n = 0; n < N; ++n)
      if (flips[n][r]) odd = odd < 0 ? n : -1;
    if (odd >= 0)
      for (int n = N - 1; n >= 0; --n)
        if (flips[n][r]) {
          flips[n][r] = false;
          break;
        }
  }
  return sorted_components(exec, state.weights, state.factors, flips);
}

}  // namespace sporades::detail
