// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/kernels/detail/log_likelihood/run_log_likelihood.hpp>
#include <sporades/kernels/detail/processes/share_rows.hpp>
#include <sporades/kernels/phi.hpp>

/// CP-APR on several processes. Of the counts in the order of all modes a process has whole blocks
/// of the log-likelihood. Method mu takes a shared plan of Phi. For the methods that solve rows the
/// nonzeros of a row are on one process, which solves it: rows with many nonzeros are not divided.

namespace sporades::detail {

/// What a process keeps of counts that several share: where its parts lie, and which rows of
/// factors they read.
template <class Scalar, class Index, class MemorySpace>
struct DistributedCounts {
  RowMap counts;                  // the problem's counts among those of all
  std::vector<RowRanges> solved;  // per mode: the rows that processes solve; or none, for mu
  std::vector<GhostRows<Scalar, MemorySpace>> read;  // per mode: by counts, and other modes' rows
  Factors<Scalar, MemorySpace> factors;  // per mode: these rows, as they were last gathered
  std::vector<bool> gathered;            // per mode: whether they have not changed since then
  Matrix<Scalar, MemorySpace> solving;   // room for the rows that are solved here

  std::uint64_t bytes() const {
    std::uint64_t sum = solving.span() * sizeof(Scalar);
    for (auto const& mode : read) sum += mode.bytes();
    return sum;
  }

  /// All factors have changed.
  void forget() { gathered.assign(read.size(), false); }

  /// The rows that are read here of A, of which each process has those that it owns: of all modes
  /// but n, if there is such a mode. Valid until the next call. Collective. Fences exec.
  template <class ExecutionSpace>
  Factors<Scalar, MemorySpace> const& gather(ExecutionSpace const& exec,
                                             Factors<Scalar, MemorySpace> const& A, int n = -1) {
    factors.resize(A.size());
    for (std::size_t m = 0; m < A.size(); ++m) {
      if (static_cast<int>(m) == n || gathered[m]) continue;
      factors[m] = read[m].gather(exec, "rows of factors", A[m]);
      gathered[m] = true;
    }
    return factors;
  }

  /// Mode n's rows that are solved here, of B, of which each process has those that it owns.
  /// Collective. Fences exec.
  template <class ExecutionSpace>
  Matrix<Scalar, MemorySpace> rows_to_solve(ExecutionSpace const& exec, RowMap const& rows, int n,
                                            Matrix<Scalar, MemorySpace> const& B) {
    auto const& wanted = solved[static_cast<std::size_t>(n)];
    auto const me = static_cast<std::size_t>(counts.processes.rank());
    std::uint64_t const count = wanted.ends[me] - wanted.begins[me];
    if (solving.extent(0) < count || solving.extent(1) != B.extent(1))
      solving = make_matrix<Scalar>(exec, "sporades::cp_apr::rows_to_solve", count, B.extent(1));
    Matrix<Scalar, MemorySpace> const to(solving.data(), count, B.extent(1));
    exchange_rows(exec, counts.processes, "rows of factors", ranges_of(rows), B, wanted, to);
    return to;
  }
};

/// The rows that each process solves: X, its nonzeros, in the order of the rows of mode n, which
/// are whole, follow those of the process before. Rows without nonzeros are solved where the row
/// before them is. Collective. Fences exec.
template <class ExecutionSpace, class Tensor>
RowRanges rows_of_processes(Communicator const& processes, ExecutionSpace const& exec,
                            Tensor const& X, int n) {
  auto const all = all_gather(processes, "rows at cuts", row_ends(exec, X, n));
  RowRanges ranges{{0}, {}};
  std::uint64_t begun = 0;
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (p > 0) {
      ranges.begins.push_back(all[p].any ? all[p].first : begun);
      ranges.ends.push_back(ranges.begins.back());
    }
    if (all[p].any) begun = all[p].last + 1;
  }
  ranges.ends.push_back(X.dims[static_cast<std::size_t>(n)]);
  return ranges;
}

/// The nonzeros of all processes in the order of mode n's rows, each row's on one process.
/// Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> whole_rows(Communicator const& processes,
                                                 ExecutionSpace const& exec,
                                                 CooTensor<Scalar, Index, MemorySpace> const& X,
                                                 int n) {
  auto const nnz = exclusive_scan_of_all(processes, X.nnz()).back();
  auto const by_row =
      roughly_sorted_across(processes, exec, X, {n}, even_cuts(processes.size(), nnz));
  return sorted(exec, by_row, mttkrp_mode_order(X.dims, n));
}

/// Distributes counts, which this process brings as `counts` in their own unit and as `in_units` in
/// that of the problem: the plan of mu or the rows' subproblems, and what the log-likelihood reads.
/// Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void share_counts(Communicator const& processes, ExecutionSpace const& exec,
                  CooTensor<Scalar, Index, MemorySpace> counts,
                  CooTensor<Scalar, Index, MemorySpace> in_units, CpAprOptions const& options,
                  CpAprProblem<Scalar, Index, MemorySpace>& problem) {
  Dims const dims = counts.dims;
  int const N = counts.order();
  auto const me = static_cast<std::size_t>(processes.rank());
  std::size_t const columns = padded_columns(static_cast<std::size_t>(options.rank));
  auto share = std::make_shared<DistributedCounts<Scalar, Index, MemorySpace>>();
  share->counts = {processes, exclusive_scan_of_all(processes, counts.nnz())};
  ReadRows<MemorySpace> read(exec, dims);
  std::vector<CooTensor<Scalar, Index, MemorySpace>> by_row;  // per mode; none for mu
  if (options.method == CpAprMethod::mu) {
    problem.plan = make_phi_plan(
        processes, exec, hand_over(in_units),
        PhiOptions{options.strategy, static_cast<int>(columns), options.pi, options.streaming});
    problem.factor_rows = problem.plan.products.rows;
  } else {
    expects(!options.streaming.always && options.streaming.memory == 0,
            "cp_apr: nonzeros that processes share are not streamed");
    for (int n = 0; n < N; ++n) {
      by_row.push_back(whole_rows(processes, exec, in_units, n));
      read.insert(exec, by_row.back(), n);
      share->solved.push_back(rows_of_processes(processes, exec, by_row.back(), n));
      problem.factor_rows.push_back(
          make_row_map<ExecutionSpace>(processes, dims[static_cast<std::size_t>(n)],
                                       share->solved.back().begins, columns * columns));
    }
  }
  read.insert(exec, counts);
  read.finish(exec);
  problem.counts = read.renumbered(exec, counts);
  Position const segment = default_segment_length<ExecutionSpace>(problem.nnz, options.rank);
  for (std::size_t n = 0; n < by_row.size(); ++n) {
    auto const& rows = share->solved[n];
    auto here = read.renumbered(exec, by_row[n], static_cast<int>(n), rows.begins[me]);
    here.dims[n] = rows.ends[me] - rows.begins[me];
    here.sorted_modes = by_row[n].sorted_modes;
    by_row[n] = {};
    problem.rows.push_back(
        make_row_subproblems(exec, here, static_cast<int>(n), options.rank, segment));
  }
  for (std::size_t n = 0; n < dims.size(); ++n)
    share->read.emplace_back(processes, exec, problem.factor_rows[n].begins, read.lists()[n]);
  share->forget();
  problem.share = share;
}

}  // namespace sporades::detail
