// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/phi/pull.hpp>

namespace sporades::detail {

/// Strategies `atomic` and `coo_alto_atomic`, baselines that `automatic` never takes: nonzeros in
/// any order, pi computed or stored. Runs of equal rows are summed in registers and added to V
/// atomically. On hosts each thread takes an equal share of neighbours in that order, which is
/// ALTO's partition where the order is linear. Not deterministic. weights: as sum_weighed_rows.
template <class ExecutionSpace, class Nonzeros, class Scalar, class MemorySpace, class Weights>
void phi_atomic(ExecutionSpace const& exec, Nonzeros const& nonzeros,
                Matrix<Scalar, MemorySpace> const& B, Scalar epsilon,
                Matrix<Scalar, MemorySpace> const& V, bool aligned, Weights const& weights) {
  fill_view(exec, V, Scalar(0));
  if (nonzeros.size() == 0) return;
  using Rows = AtomicRows<Scalar, typename Nonzeros::Row, MemorySpace>;
  sum_weighed_rows(exec, "sporades::phi::atomic", nonzeros, B, epsilon, Rows{V},
                   chunk_length<ExecutionSpace>(nonzeros.size()), V, aligned, weights);
}

}  // namespace sporades::detail
