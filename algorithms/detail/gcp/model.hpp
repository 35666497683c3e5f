// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/chosen_components.hpp>
#include <sporades/algorithms/detail/column_norms.hpp>
#include <sporades/algorithms/detail/column_signs.hpp>

namespace sporades::detail {

/// The Kruskal tensor of these factors: columns of length 1, or 0 where they are, weights
/// descending, and signs as fixsigns makes them, copied. Fences exec. Throws RunError if a weight
/// is past the range of Scalar.
template <class ExecutionSpace, class Scalar, class MemorySpace>
KruskalTensor<Scalar, MemorySpace> gcp_model(ExecutionSpace const& exec,
                                             Factors<Scalar, MemorySpace> const& factors) {
  std::size_t const R = factors[0].extent(1);
  auto chosen = unchanged(std::vector<double>(R, 1.0), factors.size());
  for (std::size_t n = 0; n < factors.size(); ++n) {
    auto& divisors = chosen.columns[n].divisors;
    divisors = column_norms(exec, factors[n], ColumnNorm::two);
    for (std::size_t r = 0; r < R; ++r) {
      chosen.weights[r] *= divisors[r];
      if (divisors[r] == 0) divisors[r] = 1;
    }
  }
  flip(chosen, paired_flips(exec, factors));
  return kruskal_of(exec, factors, in_order(chosen, components_by_weight(chosen.weights)));
}

}  // namespace sporades::detail
