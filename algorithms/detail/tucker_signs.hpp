// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/chosen_components.hpp>
#include <sporades/algorithms/detail/column_signs.hpp>
#include <sporades/formats/tucker_tensor.hpp>

namespace sporades::detail {

/// The Tucker tensor of this core (on the host) and copies of these factors, where each column has
/// its entry of largest magnitude positive, the first of equal ones, and the core's signs follow.
/// rows: of each mode those that are here, or none, where all are; see column_extremes. Fences
/// exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
TuckerTensor<Scalar, MemorySpace> with_columns_up(ExecutionSpace const& exec,
                                                  std::vector<double> core,
                                                  Factors<Scalar, MemorySpace> const& factors,
                                                  std::vector<RowMap> const& rows = {}) {
  TuckerTensor<Scalar, MemorySpace> model;
  std::size_t stride = 1;
  for (std::size_t n = 0; n < factors.size(); ++n) {
    std::size_t const R = factors[n].extent(1);
    auto const down = points_down(exec, factors[n], rows.empty() ? RowMap{} : rows[n]);
    ChosenColumns columns{all_components(R), std::vector<double>(R, 1.0)};
    for (std::size_t r = 0; r < R; ++r)
      if (down[r]) columns.divisors[r] = -1;
    model.factors.push_back(chosen_columns(exec, factors[n], columns));
    for (std::size_t g = 0; g < core.size(); ++g)
      if (down[g / stride % R]) core[g] = -core[g];
    stride *= R;
  }
  model.core =
      to_view(exec, "sporades::tucker::core", std::vector<Scalar>(core.begin(), core.end()));
  return model;
}

}  // namespace sporades::detail
