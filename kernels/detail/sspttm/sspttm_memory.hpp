// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/detail/estimate_fiber_counts.hpp>
#include <sporades/kernels/detail/carry_count.hpp>
#include <sporades/kernels/sspttm.hpp>

/// What plans for SspTTM hold.

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
  double const items = blocks.nnz;
  double const fibers = tuples.of(rows, rows.size() - 1);
  double const made = fibers_bytes(items, fibers, blocks.order(), blocks.index_bytes);
  bool const is_new = modes != Y.sorted_modes;
  auto const sort = sort_bytes(exec, blocks.count());
  double const list = blocks.value_bytes() + std::max(sort.peak, sort.kept + blocks.bytes() + made);
  count.make({made + (is_new ? 8 * items : 0), is_new ? list : made});
  auto const columns = static_cast<std::size_t>(options.rank) * Y.block_size();
  Position const length = carried_chunk_length<ExecutionSpace>(
      blocks.count(), Y.block_size() * sizeof(Scalar), columns);
  CarryCount().reserve<Scalar>(count, chunks_of(blocks.count(), length), columns, sizeof(Position));
}

}  // namespace sporades::detail
