// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense/blocks.hpp>
#include <sporades/core/detail/processes/gpu_exchange.hpp>

/// Sums over rows that processes share: each sums the blocks of its own rows, all get the sums of
/// all blocks, and add them as one process does.

namespace sporades::detail {

/// Whether each process's rows begin where one of these blocks does.
inline bool begin_at_multiples(RowMap const& rows, std::uint64_t rows_per_block) {
  auto const& begins = rows.begins;
  return std::all_of(begins.begin(), begins.end(), [&](std::uint64_t begin) {
    return begin % rows_per_block == 0 || begin == begins.back();
  });
}

/// Whether processes add so many blocks in groups before they share the sums: while there are more
/// than `most`, and each group lies within a process.
inline bool add_groups(RowMap const& rows, std::uint64_t rows_per_block, std::uint64_t blocks,
                       std::uint64_t most) {
  return blocks > most && begin_at_multiples(rows, rows_per_block * blocks_of_group);
}

/// Where the sums of each process's blocks begin among those of all, and where they end.
inline std::vector<std::size_t> bounds_of_blocks(RowMap const& rows, std::uint64_t rows_per_block,
                                                 std::uint64_t entries) {
  std::vector<std::size_t> bounds;
  for (auto begin : rows.begins)
    bounds.push_back((begin + rows_per_block - 1) / rows_per_block * entries);
  return bounds;
}

/// Sends numbers[bounds[p]] to numbers[bounds[p + 1] - 1] of each process p to all others. Fences
/// exec, or is enqueued: see enqueue_exchange. Nothing on one process.
template <class ExecutionSpace, class Number>
void all_gather_parts(ExecutionSpace const& exec, Communicator const& processes, char const* name,
                      Number* numbers, std::vector<std::size_t> const& bounds) {
  if (processes.size() == 1) return;
  auto const me = static_cast<std::size_t>(processes.rank());
  auto* const bytes = reinterpret_cast<std::byte*>(numbers);
  std::vector<Sent> sent;
  std::vector<Received> received;
  for (std::size_t p = 0; p + 1 < bounds.size(); ++p) {
    if (p == me) continue;
    sent.push_back({static_cast<int>(p), bytes + bounds[me] * sizeof(Number),
                    (bounds[me + 1] - bounds[me]) * sizeof(Number)});
    received.push_back({static_cast<int>(p), bytes + bounds[p] * sizeof(Number),
                        (bounds[p + 1] - bounds[p]) * sizeof(Number)});
  }
  enqueue_exchange(exec, processes, name, sent, received);
}

/// partial[b][e]: the sums of the blocks of this process's rows, at their places among those of all
/// rows; followed by scratch_of_sum_blocks doubles. Returns where the sums of all are, `blocks` of
/// them: of the same blocks, or, while there are more than `most`, of groups of them that lie
/// within a process, as sum_blocks_to groups them. As all_gather_parts, unless all rows are here.
template <class ExecutionSpace>
double* share_blocks(ExecutionSpace const& exec, RowMap const& rows, double* partial,
                     std::uint64_t rows_per_block, std::uint64_t& blocks, std::uint64_t entries,
                     std::uint64_t most) {
  if (rows.is_whole()) return partial;
  using Groups = SumGroups<ExecutionSpace>;
  std::uint64_t const first = rows.first(), end = first + rows.here(0);
  for (; add_groups(rows, rows_per_block, blocks, most); rows_per_block *= Groups::group) {
    std::uint64_t const begin = first / rows_per_block;
    std::uint64_t const here = (end + rows_per_block - 1) / rows_per_block - begin;
    double* const next = partial + blocks * entries;
    Groups const level{partial + begin * entries, next + begin / Groups::group * entries, here,
                       entries};
    if (here > 0)
      launch(exec, "sporades::dense::sum_blocks", level.groups() * level.runs(),
             level.run * std::min(here, level.group), level);
    partial = next;
    blocks = (blocks + Groups::group - 1) / Groups::group;
  }
  all_gather_parts(exec, rows.processes, "sums of rows", partial,
                   bounds_of_blocks(rows, rows_per_block, entries));
  return partial;
}

/// sum(partial, blocks): the sums of these blocks of rows of a matrix, each of `entries` doubles;
/// use(partial, count): those of all rows, to be summed as sum_blocks_to does to at most `most`.
template <class ExecutionSpace, class Memory, class Sum, class Use>
void sum_row_blocks(ExecutionSpace const& exec, RowMap const& rows, RowBlocks const& blocks,
                    std::uint64_t entries, std::uint64_t most, Workspace<Memory>& workspace,
                    Sum const& sum, Use const& use) {
  expects(rows.is_whole() || begin_at_multiples(rows, blocks.rows_per_block),
          "dense: rows of processes begin within blocks of ", blocks.rows_per_block,
          ": they were distributed for fewer columns");
  auto const partial = workspace.template get<double>(
      exec, blocks.count * entries + scratch_of_sum_blocks(blocks.count, entries));
  auto const here = blocks.here(rows);
  if (here.count > 0) sum(partial.data() + rows.first() / blocks.rows_per_block * entries, here);
  std::uint64_t count = blocks.count;
  double* const sums =
      share_blocks(exec, rows, partial.data(), blocks.rows_per_block, count, entries, most);
  use(sums, count);
}

}  // namespace sporades::detail
