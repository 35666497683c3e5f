// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/detail/chosen_components.hpp>
#include <sporades/algorithms/detail/column_signs.hpp>

namespace sporades::detail {

/// The Kruskal tensor of a state: weights descending, and signs as fixsigns makes them. The state
/// stays as it is. rows: of each mode those that are here, or none, where all are. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
KruskalTensor<Scalar, MemorySpace> model_of(ExecutionSpace const& exec,
                                            CpAlsState<Scalar, MemorySpace> const& state,
                                            std::vector<RowMap> const& rows = {}) {
  auto chosen = unchanged(state.weights, state.factors.size());
  flip(chosen, paired_flips(exec, state.factors, rows));
  return kruskal_of(exec, state.factors, in_order(chosen, components_by_weight(state.weights)));
}

}  // namespace sporades::detail
