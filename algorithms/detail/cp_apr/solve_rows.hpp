// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/cp_apr/pdnr.hpp>
#include <sporades/algorithms/detail/cp_apr/pqnr.hpp>
#include <sporades/algorithms/detail/cp_apr/row_memory.hpp>
#include <sporades/algorithms/detail/cp_apr/row_nonzeros.hpp>
#include <sporades/algorithms/detail/cp_apr/row_subproblems.hpp>
#include <sporades/core/detail/dense/blocks.hpp>

namespace sporades::detail {

/// Memory of solve_rows, and the results of its last call. Calls that share one run one after
/// another on one instance.
template <class MemorySpaceType>
struct RowWorkspace {
  using MemorySpace = MemorySpaceType;

  Workspace<MemorySpace> memory;
  Vector<double, MemorySpace> violations;         // I_n or more: of the KKT conditions at the start
  Kokkos::View<int*, MemorySpace> steps;          // I_n or more: inner iterations
  Kokkos::View<std::uint64_t, MemorySpace> next;  // row that no team took yet
  Kokkos::View<double, MemorySpace> violation;    // the largest of violations
  Kokkos::View<std::uint64_t, MemorySpace> inner_iterations;  // the sum of steps
};

/// Adds up the inner iterations of all rows.
template <class Memory>
struct AddSteps {
  Kokkos::View<int*, Memory> steps;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& sum) const {
    sum += static_cast<std::uint64_t>(steps(i));
  }
};

/// The largest violation of all rows; NaN wins.
template <class Memory>
struct LargestViolation {
  Vector<double, Memory> violations;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, double& largest) const {
    if (!(violations(i) <= largest)) largest = violations(i);
  }
};

template <class ExecutionSpace, class Problem, class Method>
void solve_rows_by(ExecutionSpace const& exec, Problem const& problem,
                   Factors<typename Problem::Scalar, typename Problem::MemorySpace> const& A,
                   Matrix<typename Problem::Scalar, typename Problem::MemorySpace> const& B,
                   RowOptions const& options, Method const& method,
                   RowWorkspace<typename Problem::MemorySpace>& workspace, char const* short_label,
                   char const* long_label) {
  auto const nonzeros = row_nonzeros(problem.X, problem.mode, A);
  using Objective = RowObjective<std::decay_t<decltype(nonzeros)>>;
  using Short = SolveShortRows<ExecutionSpace, Objective, Method>;
  using Long = SolveLongRows<ExecutionSpace, Objective, Method>;
  using Kernel = typename Short::Kernel;
  int const R = problem.rank;
  std::uint64_t const rows = problem.rows();
  std::size_t const segments = problem.segment_rows.extent(0);
  std::size_t const longs = problem.long_rows.extent(0);

  Kernel kernel{Objective{nonzeros, R, row_lanes<ExecutionSpace>},
                {method, R, options.inner_iterations, options.tolerance},
                B,
                problem.begins,
                workspace.violations,
                workspace.steps,
                problem.segment_length,
                nullptr,
                false};
  auto const launch = row_launch(exec, kernel);
  kernel.in_scratch = launch.in_scratch;
  RowMemory<ExecutionSpace, Kernel> const parts(kernel, launch, longs, segments);
  double* const memory = workspace.memory.template get<double>(exec, parts.size).data();
  kernel.memory = memory + parts.teams;
  Short const short_rows{kernel, workspace.next, memory + parts.pi, stored_pi<ExecutionSpace>};
  Long long_rows{kernel,
                 problem.long_rows,
                 problem.first_segments,
                 problem.segment_rows,
                 reinterpret_cast<RowScalars*>(memory + parts.scalars),
                 memory + parts.vectors,
                 memory + parts.partial,
                 0};

  Kokkos::deep_copy(exec, workspace.next, std::uint64_t{0});
  // A launch's shape costs queries of the device, so each is made once.
  auto const shape = [&](auto tag, auto const& rows_kernel, std::size_t items) {
    int const league = static_cast<int>(std::min<std::size_t>(items, launch.teams));
    return team_policy<decltype(tag)>(exec, rows_kernel, league, launch.threads,
                                      launch.scratch_bytes, launch.width);
  };
  Kokkos::parallel_for(short_label, shape(typename Short::Solve{}, short_rows, rows), short_rows);
  if (longs == 0) return;
  auto const run = [&](auto const& policy) { Kokkos::parallel_for(long_label, policy, long_rows); };
  auto const evaluate = shape(typename Long::Evaluate{}, long_rows, segments);
  auto const start = shape(typename Long::Start{}, long_rows, longs);
  auto const hessian = shape(typename Long::Hessian{}, long_rows, segments);
  auto const direct = shape(typename Long::Direct{}, long_rows, longs);
  auto const judge = shape(typename Long::Judge{}, long_rows, longs);
  run(shape(typename Long::Load{}, long_rows, longs));
  for (int evaluation = 0; evaluation < 2; ++evaluation) {
    run(evaluate);
    run(start);
  }
  for (int step = 0; step < options.inner_iterations; ++step) {
    if (Method::second_derivatives) run(hessian);
    run(direct);
    for (long_rows.attempt = 0; long_rows.attempt <= Kernel::Iteration::lengths;
         ++long_rows.attempt) {
      run(evaluate);
      run(judge);
    }
  }
  run(shape(typename Long::Store{}, long_rows, longs));
}

/// For every row i of mode n: b = B(i, :) <- the minimum over b >= 0 of
///   f(b) = sum_r b_r - sum_{p in row i} x_p log(sum_r b_r prod_{m != n} A_m(i_m, r)),
/// from B(i, :), by at most options.inner_iterations steps, until |min(b_r, df/db_r)| <=
/// options.tolerance for all r. The bound on b_r is absolute, so it solves rows whose x are about 1
/// or more; make_cp_apr_problem takes smaller counts in a smaller unit. problem: of
/// make_row_subproblems for mode n and R columns. A[m]: I_m x R, m != n; columns with sum 1 and
/// entries >= 0; A[n] is not read. B: I_n x R, entries >= 0. Rows without nonzeros become 0; rows
/// that already fulfil the tolerance stay as they are; where the model is 0 at a nonzero it is made
/// positive. workspace.violation is the largest |min(b_r, df/db_r)| over all rows *before* they
/// were solved (the outer iteration's test of convergence), workspace.inner_iterations the number
/// of steps of all rows; both are in device memory. Enqueued on exec; fences only where the
/// workspace grows. Same bits on every run and number of threads. An inner iteration costs (N + 2)
/// R nnz flops an evaluation, of which the line search takes one or more, and for pdnr R^2 nnz +
/// R^3 / 3 a row for the free variables; nothing of size nnz x R is kept. Throws Error if the
/// shapes disagree or an option is out of range. Hansen, Plantenga & Kolda, Newton-based
/// optimization for Kullback-Leibler nonnegative tensor factorizations, Optim. Methods Softw.
/// 30(5), 2015.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void solve_rows(ExecutionSpace const& exec,
                RowSubproblems<Scalar, Index, MemorySpace> const& problem,
                Factors<Scalar, MemorySpace> const& A, Matrix<Scalar, MemorySpace> const& B,
                RowOptions const& options, RowWorkspace<MemorySpace>& workspace) {
  int const N = problem.X.order(), n = problem.mode;
  auto const R = static_cast<std::size_t>(problem.rank);
  expects(A.size() == static_cast<std::size_t>(N), "solve_rows: ", A.size(),
          " factors, the tensor has order ", N);
  for (int m = 0; m < N; ++m)
    expects(m == n || (A[m].extent(0) == problem.X.dims[m] && A[m].extent(1) == R),
            "solve_rows: factor ", m, " is ", A[m].extent(0), " x ", A[m].extent(1), ", mode ", m,
            " has length ", problem.X.dims[m], " and the rank is ", R);
  expects(B.extent(0) == problem.rows() && B.extent(1) == R, "solve_rows: B is ", B.extent(0),
          " x ", B.extent(1), ", mode ", n, " has length ", problem.rows(), " and the rank is ", R);
  expects(options.inner_iterations >= 1, "solve_rows: ", options.inner_iterations,
          " inner iterations, at least 1 is needed");
  expects(options.tolerance >= 0 && options.epsilon_active >= 0 && options.damping > 0,
          "solve_rows: tolerance ", options.tolerance, ", epsilon_active ", options.epsilon_active,
          " and damping ", options.damping, " must not be negative, nor damping 0");
  if (!workspace.inner_iterations.is_allocated()) {  // the last of the three
    workspace.next = uninitialized<decltype(workspace.next)>(exec, "sporades::cp_apr::next_row");
    workspace.violation =
        uninitialized<decltype(workspace.violation)>(exec, "sporades::cp_apr::violation");
    workspace.inner_iterations = uninitialized<decltype(workspace.inner_iterations)>(
        exec, "sporades::cp_apr::inner_iterations");
  }
  if (workspace.steps.extent(0) < problem.rows()) {  // the last of the two
    fence(exec, "sporades::cp_apr::row_workspace");
    workspace.violations = uninitialized<decltype(workspace.violations)>(
        exec, "sporades::cp_apr::violations", problem.rows());
    workspace.steps =
        uninitialized<decltype(workspace.steps)>(exec, "sporades::cp_apr::steps", problem.rows());
  }
  if (problem.rows() == 0) {
    Kokkos::deep_copy(exec, workspace.violation, 0.0);
    Kokkos::deep_copy(exec, workspace.inner_iterations, std::uint64_t{0});
    return;
  }
  if (options.steps == RowSteps::damped_newton)
    solve_rows_by(exec, problem, A, B, options,
                  DampedNewton{options.epsilon_active, options.damping}, workspace,
                  "sporades::cp_apr::pdnr", "sporades::cp_apr::pdnr_long");
  else
    solve_rows_by(exec, problem, A, B, options, QuasiNewton{options.epsilon_active}, workspace,
                  "sporades::cp_apr::pqnr", "sporades::cp_apr::pqnr_long");
  Range<ExecutionSpace> const all(exec, 0, problem.rows());
  Kokkos::parallel_reduce("sporades::cp_apr::inner_iterations", all,
                          AddSteps<MemorySpace>{workspace.steps}, workspace.inner_iterations);
  Kokkos::parallel_reduce("sporades::cp_apr::violation", all,
                          LargestViolation<MemorySpace>{workspace.violations},
                          Kokkos::Max<double, MemorySpace>(workspace.violation));
}

}  // namespace sporades::detail

#include <sporades/eti/solve_rows.hpp>
