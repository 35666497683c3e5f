// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/processes/share_rows.hpp>
#include <sporades/kernels/detail/processes/ttm_chain.hpp>
#include <sporades/kernels/detail/tucker_inner_product.hpp>
#include <sporades/kernels/ttm_chain_plan.hpp>

/// How a plan of chains gets its nonzeros where they are those of several processes.

namespace sporades::detail {

/// marks(i) += 1: the rows of a share are numbered from 1.
template <class Marks>
struct MarkFromOne {
  Marks marks;

  KOKKOS_FUNCTION void operator()(Position i) const { ++marks(i); }
};

/// Where the rows of a mode's factor are, `all` rows of `rank` columns, and which of them have
/// nonzeros: `mine` begin on this process, and `begun` says how many begin on each. rows: of the
/// factor's rows here those that have nonzeros, counted from the first row here. Collective.
template <class ExecutionSpace, class Index>
RowsOfMode share_factor(RowMap const& begun, std::uint64_t all, int rank,
                        std::vector<std::uint64_t> const& mine, std::vector<Index>& rows) {
  auto const& processes = begun.processes;
  auto const P = static_cast<std::size_t>(processes.size());
  auto begins = all_gather(processes, "rows at cuts", mine.empty() ? all : mine.front());
  for (std::size_t p = P - 1; p-- > 0;) begins[p] = std::min(begins[p], begins[p + 1]);
  std::uint64_t const columns = padded_columns(static_cast<std::size_t>(rank));
  RowsOfMode where;
  where.product = begun;
  where.factor = make_row_map<ExecutionSpace>(processes, all, begins, columns * columns);
  // Rows that begin here and lie below each process's first one; then those of all processes.
  std::vector<std::uint64_t> below;
  for (auto const begin : where.factor.begins)
    below.push_back(static_cast<std::uint64_t>(std::lower_bound(mine.begin(), mine.end(), begin) -
                                               mine.begin()));
  where.used = {processes, std::vector<std::uint64_t>(P + 1, 0)};
  auto const of_all = all_gather(processes, "rows at cuts", below);
  for (std::size_t k = 0; k < of_all.size(); ++k) where.used.begins[k % (P + 1)] += of_all[k];
  // They are numbered in the order of processes, and so are those that come here.
  auto const me = static_cast<std::size_t>(processes.rank());
  std::vector<std::uint64_t> received;
  std::uint64_t const first = where.used.begins[me], end = where.used.begins[me + 1];
  for (auto const begin : begun.begins)
    received.push_back(std::min(std::max(begin, first), end) - first);
  std::vector<std::uint64_t> arrived(end - first);
  all_to_all_parts(processes, "lists of rows", mine.data(), below, arrived.data(), received);
  rows.clear();
  for (auto const row : arrived) rows.push_back(static_cast<Index>(row - where.factor.first()));
  return where;
}

/// Throws Error where processes cannot share a plan with these options.
inline void check_processes(TtmChainOptions const& options) {
  char const* const where = "make_ttm_chain_plan";
  expects(!options.streaming.always && options.streaming.memory == 0, where,
          ": nonzeros that processes share are not streamed");
  expects(!options.updatable, where, ": values are updated on one process");
  expects(options.strategy == TtmChainStrategy::automatic ||
              options.strategy == TtmChainStrategy::fused,
          where, ": strategy ", to_string(options.strategy),
          " works on one process: fused on several");
}

/// Gives a plan that several processes share its nonzeros. X: those that the process brings, no
/// coordinate twice. plan: without nonzeros, but with their number, the ranks and its choices.
/// Collective.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void share_chains(Communicator const& processes, ExecutionSpace const& exec,
                  CooTensor<Scalar, Index, MemorySpace> X,
                  TtmChainPlan<Scalar, Index, MemorySpace>& plan) {
  std::vector<ShareOrder> orders;
  for (int n = 0; n < plan.order(); ++n) {
    auto const& columns = plan.choices[static_cast<std::size_t>(n)].columns;
    auto modes = columns.modes;
    modes.insert(modes.begin(), n);
    Position const length =
        chain_shape<ExecutionSpace>(plan.nnz, columns, TtmChainStrategy::fused).length;
    // Fits of floats take the nonzeros of mode 0 once more, in larger parts.
    Position const part =
        n == 0 && sizeof(Scalar) < sizeof(double)
            ? TuckerChunks(plan.nnz, length, tucker_partial_size(plan.ranks, modes)).length
            : length;
    orders.push_back({modes, even_cuts(processes.size(), plan.nnz, part), length});
  }
  auto distributed = std::make_shared<DistributedChains<Scalar, Index, MemorySpace>>();
  distributed->processes = processes;
  std::vector<std::vector<std::uint64_t>> read, used;
  auto const lists = share_rows(processes, exec, hand_over(X), orders, read, used);
  for (int n = 0; n < plan.order(); ++n) {
    auto const mode = static_cast<std::size_t>(n);
    auto const marks = lists[mode].packed.marks;
    plan.formats.set(n, plan.formats.share(lists[mode].packed));
    distributed->shares.push_back(lists[mode].share);
    launch_items(exec, "sporades::ttm_chain::mark_from_one", marks.extent(0),
                 MarkFromOne<std::decay_t<decltype(marks)>>{marks});
    std::vector<Index> rows;
    plan.work.where.push_back(share_factor<ExecutionSpace>(distributed->begun(n), plan.dims[mode],
                                                           plan.ranks[mode], used[mode], rows));
    plan.rows.push_back(to_view(exec, "sporades::ttm_chain::rows", rows));
    distributed->read.emplace_back(processes, exec, plan.work.where.back().factor.begins,
                                   read[mode]);
  }
  plan.work.distributed = distributed;
}

}  // namespace sporades::detail
