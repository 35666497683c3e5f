// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/tucker_signs.hpp>
#include <sporades/algorithms/tucker.hpp>

namespace sporades::detail {

/// The Tucker tensor of a state, with signs as fixsigns makes them. The state stays as it is. rows:
/// of each mode those that are here, or none, where all are. Fences exec. Throws RunError if a
/// number of the core is past the range of Scalar.
template <class ExecutionSpace, class Scalar, class MemorySpace>
TuckerTensor<Scalar, MemorySpace> model_of(ExecutionSpace const& exec,
                                           TuckerState<Scalar, MemorySpace> const& state,
                                           std::vector<RowMap> const& rows = {}) {
  for (double const g : state.core)
    if (!(std::abs(g) <= double{std::numeric_limits<Scalar>::max()}))
      throw RunError(concatenate("tucker: a number of the core is ", g,
                                 ", past the range of its numbers of ", 8 * sizeof(Scalar),
                                 " bits: scale the tensor's values down"));
  return with_columns_up(exec, state.core, state.factors, rows);
}

}  // namespace sporades::detail
