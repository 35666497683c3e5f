// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/detail/estimate_fiber_counts.hpp>
#include <sporades/kernels/detail/carry_count.hpp>
#include <sporades/kernels/sspttm.hpp>

/// What plans for SspTTM hold.

namespace sporades::detail {

/// make_sspttm_plan of a Y that is kept and not streamed, on its mode n; blocks: its coordinates as
/// those of nonzeros. The plan stays held. Carry slots count, though only long fibers need them.
template <class Scalar, class ExecutionSpace, class Tensor, class Tuples>
void count_sspttm_plan(ExecutionSpace const& exec, MemoryCount& count, Tensor const& Y,
                       CooShape const& blocks, int n, SspttmOptions const& options,
                       Tuples& tuples) {
  bool const is_new = Y.sorted_modes.size() != Y.sparse_modes.size() || Y.sorted_modes.back() != n;
  std::vector<int> rows;  // of the coordinates
  for (std::size_t k = 0; k < Y.sparse_modes.size(); ++k)
    if (Y.sparse_modes[k] != n) rows.push_back(static_cast<int>(k));
  double const fibers = tuples.of(rows, rows.size());
  double const made = fibers_bytes(blocks.nnz, fibers, blocks.order(), blocks.index_bytes);
  // Where Y is sorted anew, its blocks' places are: they stay, their sorted coordinates do not.
  auto const sort = in_sorted_order(sort_bytes(exec, blocks.count()), blocks.bytes() + made);
  count.make(is_new ? MadeBytes{made + 8 * blocks.nnz, blocks.value_bytes() + sort.peak}
                    : MadeBytes{made, made});
  auto const columns = static_cast<std::size_t>(options.rank) * Y.block_size();
  Position const length = carried_chunk_length<ExecutionSpace>(
      blocks.count(), Y.block_size() * sizeof(Scalar), columns);
  count.hold(carry_bytes<Scalar>(chunks_of(blocks.count(), length), columns));
}

}  // namespace sporades::detail
