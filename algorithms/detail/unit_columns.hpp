// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/chosen_components.hpp>
#include <sporades/algorithms/detail/column_norms.hpp>
#include <sporades/algorithms/detail/column_signs.hpp>

namespace sporades::detail {

/// The components of these weights and factors with columns of length 1, or 0 where they are, and
/// signs as fixsigns makes them. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
ChosenComponents unit_columns(ExecutionSpace const& exec,
                              Factors<Scalar, MemorySpace> const& factors,
                              std::vector<double> const& weights) {
  auto chosen = unchanged(weights, factors.size());
  for (std::size_t n = 0; n < factors.size(); ++n) {
    auto& divisors = chosen.columns[n].divisors;
    divisors = column_norms(exec, factors[n], ColumnNorm::two);
    for (std::size_t r = 0; r < weights.size(); ++r) {
      chosen.weights[r] *= divisors[r];
      if (divisors[r] == 0) divisors[r] = 1;
    }
  }
  flip(chosen, paired_flips(exec, factors));
  return chosen;
}

}  // namespace sporades::detail
