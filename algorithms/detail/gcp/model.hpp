// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/unit_columns.hpp>

namespace sporades::detail {

/// The Kruskal tensor of these factors: columns of length 1, or 0 where they are, weights
/// descending, and signs as fixsigns makes them, copied. Fences exec. Throws RunError if a weight
/// is past the range of Scalar.
template <class ExecutionSpace, class Scalar, class MemorySpace>
KruskalTensor<Scalar, MemorySpace> gcp_model(ExecutionSpace const& exec,
                                             Factors<Scalar, MemorySpace> const& factors) {
  std::size_t const R = factors[0].extent(1);
  auto const chosen = unit_columns(exec, factors, std::vector<double>(R, 1.0));
  return kruskal_of(exec, factors, in_order(chosen, components_by_weight(chosen.weights)));
}

}  // namespace sporades::detail
