// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/detail/estimate_fiber_counts.hpp>
#include <sporades/kernels/detail/carry_count.hpp>
#include <sporades/kernels/spttm.hpp>

/// What plans for SpTTM hold.

namespace sporades::detail {

/// make_spttm_plan of an X that is kept and not streamed: the plan stays held. Carry slots count
/// for all modes, though only those with long fibers need them, and values for each, though one may
/// share X's.
template <class Scalar, class ExecutionSpace, class Tuples>
void count_spttm_plan(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                      SpttmOptions const& options, Tuples& tuples) {
  bool const is_merged = options.strategy == SpttmStrategy::automatic ||
                         options.strategy == SpttmStrategy::spmm_nonzeros;
  double most = 0;
  if (options.updatable) count.hold(X.value_bytes() + X.order() * numbers_bytes(X.nnz));
  for (int n = 0; n < X.order(); ++n) {
    auto const modes = spttm_mode_order(X.dims, n);
    double const fibers = tuples.of(modes, modes.size() - 1);
    count.make(hierarchical_bytes(exec, X.unordered(), modes, fibers));
    most = std::max(most, X.nnz + (is_merged ? fibers : 0));
  }
  auto const items = static_cast<Position>(most),
             item_bytes = static_cast<Position>(X.index_bytes + X.scalar_bytes);
  auto const columns = static_cast<std::size_t>(options.rank);
  count.hold(carry_bytes<Scalar>(
      chunks_of(items, carried_chunk_length<ExecutionSpace>(items, item_bytes, columns)), columns));
}

}  // namespace sporades::detail
