// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/algorithms/detail/column_norms.hpp>
#include <sporades/algorithms/detail/column_signs.hpp>
#include <sporades/algorithms/detail/complete/start.hpp>

namespace sporades::detail {

/// The Kruskal tensor of factors of R components and, where they have more columns, of offsets and
/// the mean: columns of length 1, or 0 where they are; of the components weights descending, and
/// signs as fixsigns makes them. Fences exec. Throws RunError if a weight is past the range of
/// Scalar.
template <class ExecutionSpace, class Scalar, class MemorySpace>
KruskalTensor<Scalar, MemorySpace> complete_model(ExecutionSpace const& exec,
                                                  Factors<Scalar, MemorySpace> factors,
                                                  std::size_t R, double mean) {
  std::size_t const columns = factors[0].extent(1), all = columns + (columns > R ? 1 : 0);
  for (std::size_t n = 0; n < factors.size() && all > columns; ++n)
    factors[n] = with_offsets(exec, factors[n], R, n, all);
  auto chosen = unchanged(std::vector<double>(all, 1.0), factors.size());
  if (all > columns) chosen.weights.back() = std::abs(mean);
  for (std::size_t n = 0; n < factors.size(); ++n) {
    auto& divisors = chosen.columns[n].divisors;
    divisors = column_norms(exec, factors[n], ColumnNorm::two);
    for (std::size_t c = 0; c < all; ++c) {
      chosen.weights[c] *= divisors[c];
      if (divisors[c] == 0) divisors[c] = 1;
    }
  }
  flip(chosen, paired_flips(exec, factors));
  if (all > columns && mean < 0) chosen.columns[0].divisors.back() *= -1;
  std::vector<double> const strengths(chosen.weights.begin(),
                                      chosen.weights.begin() + static_cast<std::ptrdiff_t>(R));
  auto order = components_by_weight(strengths);
  for (std::size_t c = R; c < all; ++c) order.push_back(static_cast<int>(c));
  return kruskal_of(exec, factors, in_order(chosen, order));
}

}  // namespace sporades::detail
