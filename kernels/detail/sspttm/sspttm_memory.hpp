// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/detail/format_memory.hpp>
#include <sporades/kernels/detail/carry_count.hpp>
#include <sporades/kernels/sspttm.hpp>

/// What plans for SspTTM hold: as formats/detail/format_memory.hpp.

namespace sporades::detail {

/// make_sspttm_plan of a Y that is kept and not streamed, on its mode n; blocks: its coordinates as
/// those of nonzeros. The plan stays held.
template <class Scalar, class ExecutionSpace, class Tensor, class Tuples>
void count_sspttm_plan(ExecutionSpace const& exec, MemoryCount& count, Tensor const& Y,
                       CooShape const& blocks, int n, SspttmOptions const& options,
                       Tuples& tuples) {
  auto const& sparse = Y.sparse_modes;
  std::vector<int> modes, rows;
  for (int m : Y.sorted_modes.size() == sparse.size() ? Y.sorted_modes : sparse)
    if (m != n) modes.push_back(m);
  modes.push_back(n);
  for (int m : modes)
    rows.push_back(static_cast<int>(std::find(sparse.begin(), sparse.end(), m) - sparse.begin()));
  double const before = count.held(), items = blocks.nnz;
  double const fibers = tuples.of(rows, rows.size() - 1);
  double permutation = 0;
  if (modes != Y.sorted_modes) {
    permutation = 8 * items;
    count.hold(blocks.value_bytes());
    count_sort_items(exec, count, blocks.count(), sorted_bits(blocks.dims, rows, blocks.order()));
    count.hold(blocks.bytes());
  }
  double const kept = fibers_bytes(items, fibers, blocks.order(), blocks.index_bytes);
  count.hold(kept);
  count.hold_in_all(before + permutation + kept);
  auto const columns = static_cast<std::size_t>(options.rank) * Y.block_size();
  Position const length = carried_chunk_length<ExecutionSpace>(
      blocks.count(), Y.block_size() * sizeof(Scalar), columns);
  CarryCount().reserve<Scalar>(count, chunks_of(blocks.count(), length), columns, sizeof(Position));
}

}  // namespace sporades::detail
