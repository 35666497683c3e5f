// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/cp_apr/cp_apr_method.hpp>
#include <sporades/algorithms/detail/memory/fit.hpp>
#include <sporades/core/detail/dense/workspace_bytes.hpp>
#include <sporades/kernels/detail/phi/phi_memory.hpp>

namespace sporades::detail {

/// The memory of solve_rows for so many windows at once.
template <class ExecutionSpace, class Scalar, class Index, class Method>
double row_workspace_bytes(ExecutionSpace const& exec, CooShape const& X, int R, int streams) {
  using Nonzeros = RowNonzeros<Scalar, Index, typename ExecutionSpace::memory_space>;
  using Objective = RowObjective<Nonzeros>;
  using Short = SolveShortRows<ExecutionSpace, Objective, Method>;
  typename Short::Kernel kernel{};
  kernel.objective.R = R;
  kernel.objective.lanes = row_lanes<ExecutionSpace>;
  auto const launch = row_launch(exec, kernel);
  // Long rows are longer than a segment, and have at most twice as many segments as fit the
  // nonzeros.
  auto const longs = static_cast<std::size_t>(
      X.nnz / static_cast<double>(default_segment_length<ExecutionSpace>(X.count(), R)));
  RowMemory<ExecutionSpace, typename Short::Kernel> const parts(kernel, launch, longs, 2 * longs);
  std::size_t const doubles = parts.size + static_cast<std::size_t>(streams - 1) * parts.vectors;
  return static_cast<double>(doubles * sizeof(double) + 8 * longs);
}

/// make_row_subproblems on a mode: what it holds beside the nonzeros.
template <class ExecutionSpace>
double row_subproblem_bytes(CooShape const& X, int n, int R) {
  double const longs =
      std::floor(X.nnz / static_cast<double>(default_segment_length<ExecutionSpace>(X.count(), R)));
  return 8 * (static_cast<double>(X.dims[n]) + 1) + 8 * (4 * longs + 1);
}

/// What CpAprSolver holds for methods pdnr and pqnr.
template <class Scalar, class Index, class ExecutionSpace>
double row_solver_bytes(ExecutionSpace const& exec, CooShape const& X, CpAprOptions const& options,
                        int streams) {
  int const R = options.rank;
  double rows =
      row_workspace_bytes<ExecutionSpace, Scalar, Index, QuasiNewton>(exec, X, R, streams);
  if (options.method == CpAprMethod::pdnr)
    rows = std::max(rows, row_workspace_bytes<ExecutionSpace, Scalar, Index, DampedNewton>(
                              exec, X, R, streams));
  return rows + (sizeof(double) + sizeof(int)) * longest(X.dims) + 24;
}

/// cp_apr_start: the state stays held.
template <class ExecutionSpace, class Scalar>
void count_cp_apr_state(MemoryCount& count, Dims const& dims, int R) {
  int const P = static_cast<int>(padded_columns(static_cast<std::size_t>(R)));
  double const factors = factors_bytes<Scalar>(dims, R);
  count.hold(factors + factors / sizeof(Scalar));  // and a byte an entry that marks what to raise
  double workspace = 0;
  for (auto dim : dims)
    workspace = std::max(workspace, column_workspace_bytes<ExecutionSpace>(dim, P));
  count.pass(workspace + 8.0 * P);
}

/// What follows the problem of X's counts, in so many windows at once: the best of several starts,
/// CpAprSolver with Phi, weights, rows and what the log-likelihood takes, and the model.
template <class Scalar, class Index, class ExecutionSpace>
MemoryNeed count_cp_apr_solver(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                               CpAprOptions const& options, int streams) {
  auto const& dims = X.dims;
  int const R = options.rank, P = static_cast<int>(padded_columns(static_cast<std::size_t>(R)));
  double const factors = factors_bytes<Scalar>(dims, R);
  if (options.starts > 1) count.hold(2 * factors + factors / sizeof(Scalar));
  if (options.method != CpAprMethod::mu)
    count.hold(row_solver_bytes<Scalar, Index>(exec, X, options, streams));
  double workspace = 0;
  for (auto dim : dims)
    workspace = std::max(workspace, column_workspace_bytes<ExecutionSpace>(dim, P));
  auto const blocks = static_cast<std::uint64_t>(std::ceil(X.nnz / 2048));
  double const likelihood =
      8.0 * static_cast<double>(64 * blocks + scratch_of_sum_blocks(blocks, 64));
  count.hold(matrix_bytes<Scalar>(longest(dims), R) + 8.0 * P + workspace +
             std::max(likelihood, workspace) +
             8.0 * (64 + (static_cast<double>(dims.size()) + 1) * P));
  count.hold(factors + (8.0 + sizeof(Scalar)) * R);
  return {count.held(), with_small_views(count.peak()), 8.0 * R};
}

/// What is in resident memory where X is streamed: cp_apr_start, then make_cp_apr_problem(exec, X,
/// options) of an X that stays on the host, then cp_apr. Windows are not counted.
template <class Scalar, class Index, class ExecutionSpace>
MemoryNeed streamed_need(ExecutionSpace const& exec, CooShape const& X, CpAprOptions const& options,
                         Numbers<Scalar, Index>) {
  check_cp_apr(options);
  auto const& dims = X.dims;
  int const R = options.rank, P = static_cast<int>(padded_columns(static_cast<std::size_t>(R)));
  MemoryCount count;
  count_cp_apr_state<ExecutionSpace, Scalar>(count, dims, R);
  if (options.method == CpAprMethod::mu) {
    for (auto dim : dims)
      count.hold(packed_row_bytes(X, std::min(static_cast<double>(dim), X.nnz)));
    count.hold(carry_bytes_of<ExecutionSpace, Scalar>(X.count(), P, sizeof(Index)));
  } else {
    for (int n = 0; n < X.order(); ++n) count.hold(row_subproblem_bytes<ExecutionSpace>(X, n, R));
  }
  return count_cp_apr_solver<Scalar, Index>(exec, count, X, options,
                                            is_gpu<ExecutionSpace> ? options.streaming.streams : 1);
}

inline bool can_stream(CooShape const& X, CpAprOptions const& options) {
  if (options.method != CpAprMethod::mu) return true;
  bool const pulls =
      options.strategy == PhiStrategy::automatic || options.strategy == PhiStrategy::pull;
  return pulls && options.pi == Pi::on_the_fly && fits_packed_words(X);
}

inline void set_streaming(bool, CooShape const&, CpAprOptions& options, double bytes) {
  options.streaming.always = true;
  options.streaming.memory = static_cast<std::uint64_t>(bytes);
}

inline std::string lighten(bool, CooShape const&, CpAprOptions const&, CpAprOptions&, bool) {
  return "";
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MemoryNeed resident_need(ExecutionSpace const& exec, CooShape const& shape,
                         CooTensor<Scalar, Index, MemorySpace> const& X,
                         CpAprOptions const& options) {
  check_cp_apr(options);
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  int const R = options.rank;
  FiberCountEstimate<ExecutionSpace, Tensor> tuples(exec, X);
  MemoryCount count;
  count.hold(shape.bytes());
  count_cp_apr_state<ExecutionSpace, Scalar>(count, X.dims, R);
  auto const counts = count_sum_duplicates(exec, count, shape, may_repeat(exec, X));
  double const largest = static_cast<double>(max_abs(exec, X.values));
  bool const in_units = unit_of_counts(least_count(exec, X.values), largest) != 1;
  if (in_units) count.hold(counts.value_bytes());
  if (options.method == CpAprMethod::mu) {
    int const columns = static_cast<int>(padded_columns(static_cast<std::size_t>(R)));
    PhiOptions const products{options.strategy, columns, options.pi, {}};
    bool const is_alto = count_phi_plan<Scalar>(exec, count, counts, products, tuples);
    if (is_alto) count.pass(counts.bytes() + (in_units ? counts.value_bytes() : 0));
  } else {
    for (int n = 0; n < X.order(); ++n) {
      count.make(sorted_bytes(exec, counts, mttkrp_mode_order(X.dims, n)));
      count.hold(row_subproblem_bytes<ExecutionSpace>(counts, n, R));
    }
  }
  return count_cp_apr_solver<Scalar, Index>(exec, count, counts, options, 1);
}

}  // namespace sporades::detail

#include <sporades/eti/cp_apr_memory.hpp>
