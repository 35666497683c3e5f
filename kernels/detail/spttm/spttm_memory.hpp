// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/detail/estimate_fiber_counts.hpp>
#include <sporades/kernels/detail/carry_count.hpp>
#include <sporades/kernels/spttm.hpp>

/// What plans for SpTTM hold.

namespace sporades::detail {

/// make_spttm_plan of an X that is kept and not streamed: the plan stays held. Carry slots count
/// for all modes, though only those with long fibers need them.
template <class Scalar, class ExecutionSpace, class Index, class MemorySpace, class Tuples>
void count_spttm_plan(ExecutionSpace const& exec, MemoryCount& count,
                      CooTensor<Scalar, Index, MemorySpace> const& tensor,
                      SpttmOptions const& options, Tuples& tuples) {
  auto const X = shape_of(tensor);
  auto const columns = static_cast<std::size_t>(options.rank);
  bool const is_merged = options.strategy == SpttmStrategy::automatic ||
                         options.strategy == SpttmStrategy::spmm_nonzeros;
  CarryCount carry;
  double carried = 0;
  if (options.updatable) count.hold(X.value_bytes());  // numbers, while it is built
  SpttmModeOrders<ExecutionSpace, Scalar, Index, MemorySpace> const orders(exec, tensor);
  for (int n = 0; n < X.order(); ++n) {
    auto const modes = orders(n, static_cast<double>(columns * sizeof(Scalar)));
    double const fibers = tuples.of(modes, modes.size() - 1);
    count.make(hierarchical_bytes(exec, X, modes, fibers));
    carried = std::max(carried, X.nnz + (is_merged ? fibers : 0));
  }
  if (options.updatable) {
    count.hold(X.order() * numbers_bytes(X.nnz));
    bool is_sorted = false;  // then its fibers keep the array of numbers
    for (int n = 0; n < X.order(); ++n)
      is_sorted =
          is_sorted || is_sorted_by(X, orders(n, static_cast<double>(columns * sizeof(Scalar))));
    if (!is_sorted) count.release(X.value_bytes());
  }
  auto const items = static_cast<Position>(carried);
  Position const length =
      carried_chunk_length<ExecutionSpace>(items, sizeof(Index) + sizeof(Scalar), columns);
  carry.reserve<Scalar>(count, chunks_of(items, length), columns, sizeof(Position));
}

}  // namespace sporades::detail
