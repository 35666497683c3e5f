// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/algorithms/detail/complete/start.hpp>
#include <sporades/algorithms/detail/unit_columns.hpp>

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
  std::vector<double> weights(all, 1.0);
  if (all > columns) weights.back() = std::abs(mean);
  auto chosen = unit_columns(exec, factors, weights);
  if (all > columns && mean < 0) chosen.columns[0].divisors.back() *= -1;
  std::vector<double> const strengths(chosen.weights.begin(),
                                      chosen.weights.begin() + static_cast<std::ptrdiff_t>(R));
  auto order = components_by_weight(strengths);
  for (std::size_t c = R; c < all; ++c) order.push_back(static_cast<int>(c));
  return kruskal_of(exec, factors, in_order(chosen, order));
}

}  // namespace sporades::detail
