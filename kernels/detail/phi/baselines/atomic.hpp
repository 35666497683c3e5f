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
                PhiOperands<Scalar, MemorySpace> const& operands, bool aligned,
                Weights const& weights) {
  fill_view(exec, operands.V, Scalar(0));
  if (nonzeros.size() == 0) return;
  using Rows = AtomicRows<Scalar, typename Nonzeros::Row, MemorySpace>;
  Position const length = chunk_length<ExecutionSpace>(nonzeros.size());
  sum_weighed_rows(exec, "sporades::phi::atomic", nonzeros, operands,
                   ChunkSums{length, chunks_of(nonzeros.size(), length), Rows{operands.V}}, aligned,
                   weights);
}

}  // namespace sporades::detail
