// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/cp_apr/pdnr.hpp>
#include <sporades/algorithms/detail/cp_apr/pqnr.hpp>
#include <sporades/algorithms/detail/cp_apr/row_memory.hpp>
#include <sporades/algorithms/detail/cp_apr/row_nonzeros.hpp>
#include <sporades/algorithms/detail/cp_apr/row_subproblems.hpp>
#include <sporades/core/detail/dense/blocks.hpp>
#include <sporades/kernels/detail/windows.hpp>

namespace sporades::detail {

/// Memory of solve_rows, and the results of its last call. Calls that share one run one after
/// another on one instance.
template <class MemorySpaceType>
struct RowWorkspace {
  using MemorySpace = MemorySpaceType;

  Workspace<MemorySpace> memory;
  Vector<double, MemorySpace> violations;  // I_n or more: of the KKT conditions at the start
  Kokkos::View<int*, MemorySpace> steps;   // I_n or more: inner iterations
  Kokkos::View<std::uint64_t*, MemorySpace> next;  // row that no team took yet, of each stream
  Kokkos::View<double, MemorySpace> violation;     // the largest of violations
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

/// Passes over the nonzeros of a problem: over all at once, or where they are out of core, over one
/// window after another. On a GPU several windows are at work at one time, each with its own
/// memory.
template <class ExecutionSpace, class Problem, class Kernel>
class RowPasses {
  using MemorySpace = typename Problem::MemorySpace;

 public:
  /// stream_doubles: from kernel.memory to that of the next stream, behind `spare`.
  RowPasses(ExecutionSpace const& exec, Problem const& problem, Windows<MemorySpace>* windows,
            Kernel const& kernel, double* spare, std::size_t stream_doubles)
      : exec_(exec),
        windows_(problem.out_of_core ? windows : nullptr),
        kernel_(kernel),
        spare_(spare),
        stream_doubles_(stream_doubles) {}

  static std::size_t streams(Problem const& problem, Windows<MemorySpace> const* windows) {
    return problem.out_of_core && is_gpu<ExecutionSpace> ? windows->options.streams : 1;
  }
  bool is_out_of_core() const { return windows_ != nullptr; }

  /// Calls work(exec, kernel, stream, window) for each window of the list.
  template <class Work>
  void operator()(std::vector<RowWindow> const& list, Work const& work) const {
    auto const& nonzeros = kernel_.objective.nonzeros;
    Position longest = 0;
    for (auto const& window : list) longest = std::max(longest, window.end - window.begin);
    windows_->run(
        exec_, list.size(), window_bytes(nonzeros, longest),
        [&](auto const& instance, char* room, Position w) {
          in_window(nonzeros, list[w].begin, list[w].end, room,
                    [&](auto const& to, auto const& from) { copy_to_window(instance, to, from); });
        },
        [&](auto const& instance, char* room, Position w) {
          Kernel kernel = kernel_;
          kernel.objective.nonzeros = in_window(nonzeros, list[w].begin, list[w].end, room,
                                                [](auto const&, auto const&) {});
          std::size_t const stream =
              is_gpu<ExecutionSpace> ? w % static_cast<Position>(windows_->options.streams) : 0;
          if (stream > 0) kernel.memory = spare_ + (stream - 1) * stream_doubles_;
          work(instance, kernel, stream, list[w]);
        });
  }

 private:
  ExecutionSpace exec_;
  Windows<MemorySpace>* windows_;
  Kernel kernel_;
  double* spare_;
  std::size_t stream_doubles_;
};

/// The windows with a long row for which is_active(its RowScalars). Fences exec.
template <class ExecutionSpace, class Long, class IsActive>
std::vector<RowWindow> active_windows(ExecutionSpace const& exec, Long const& long_rows,
                                      std::vector<RowWindow> const& windows,
                                      IsActive const& is_active) {
  std::vector<RowScalars> scalars(long_rows.long_rows.extent(0));
  std::size_t const bytes = scalars.size() * sizeof(RowScalars);
  using Memory = typename Long::Memory;
  copy_view(exec,
            Kokkos::View<char*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                reinterpret_cast<char*>(scalars.data()), bytes),
            Kokkos::View<char const*, Memory, Kokkos::MemoryUnmanaged>(
                reinterpret_cast<char const*>(long_rows.scalars), bytes));
  fence(exec, "sporades::cp_apr::active_windows");
  std::vector<RowWindow> active;
  std::copy_if(windows.begin(), windows.end(), std::back_inserter(active), [&](auto const& window) {
    return std::any_of(scalars.begin() + static_cast<std::ptrdiff_t>(window.first_long),
                       scalars.begin() + static_cast<std::ptrdiff_t>(window.last_long), is_active);
  });
  return active;
}

template <class ExecutionSpace, class Problem, class Method>
void solve_rows_by(ExecutionSpace const& exec, Problem const& problem,
                   Factors<typename Problem::Scalar, typename Problem::MemorySpace> const& A,
                   Matrix<typename Problem::Scalar, typename Problem::MemorySpace> const& B,
                   RowOptions const& options, Method const& method,
                   RowWorkspace<typename Problem::MemorySpace>& workspace,
                   Windows<typename Problem::MemorySpace>* windows, char const* short_label,
                   char const* long_label) {
  auto const nonzeros = row_nonzeros(problem.X, problem.mode, A);
  using Objective = RowObjective<std::decay_t<decltype(nonzeros)>>;
  using Short = SolveShortRows<ExecutionSpace, Objective, Method>;
  using Long = SolveLongRows<ExecutionSpace, Objective, Method>;
  using Kernel = typename Short::Kernel;
  using Passes = RowPasses<ExecutionSpace, Problem, Kernel>;
  int const R = problem.rank;
  std::uint64_t const rows = problem.rows();
  std::size_t const segments = problem.segment_rows.extent(0);
  std::size_t const longs = problem.long_rows.extent(0);
  std::size_t const streams = Passes::streams(problem, windows);

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
  double* const memory =
      workspace.memory.template get<double>(exec, parts.size + (streams - 1) * parts.vectors)
          .data();
  kernel.memory = memory + parts.teams;
  if (workspace.next.extent(0) < streams)
    workspace.next = uninitialized<std::decay_t<decltype(workspace.next)>>(
        exec, "sporades::cp_apr::next_row", streams);
  Passes const pass(exec, problem, windows, kernel, memory + parts.size, parts.vectors);
  // A launch's shape costs queries of the device, so each is made once.
  auto const shape_on = [&](auto const& instance, auto tag, auto const& rows_kernel,
                            std::size_t items) {
    int const league = static_cast<int>(std::min<std::size_t>(items, launch.teams));
    return team_policy<decltype(tag)>(instance, rows_kernel, league, launch.threads,
                                      launch.scratch_bytes, launch.width);
  };
  auto const shape = [&](auto tag, auto const& rows_kernel, std::size_t items) {
    return shape_on(exec, tag, rows_kernel, items);
  };
  auto const solve_short = [&](auto const& instance, Kernel const& part, std::size_t stream,
                               RowWindow const& window) {
    Short const short_rows{part, workspace.next.data() + stream, window.last,
                           part.memory + (parts.pi - parts.teams), stored_pi<ExecutionSpace>};
    fill_view(instance, Kokkos::subview(workspace.next, stream), window.first);
    Kokkos::parallel_for(
        short_label,
        shape_on(instance, typename Short::Solve{}, short_rows, window.last - window.first),
        short_rows);
  };
  if (pass.is_out_of_core())
    pass(problem.short_windows, solve_short);
  else
    solve_short(exec, kernel, 0, RowWindow{0, problem.X.nnz(), 0, rows});
  if (longs == 0) return;

  Long long_rows{kernel,
                 problem.long_rows,
                 problem.first_segments,
                 problem.segment_rows,
                 reinterpret_cast<RowScalars*>(memory + parts.scalars),
                 memory + parts.vectors,
                 memory + parts.partial,
                 0,
                 segments,
                 0};
  auto const run = [&](auto const& policy) { Kokkos::parallel_for(long_label, policy, long_rows); };
  auto const run_segments = [&](auto tag, auto const& policy, auto const& is_active) {
    if (!pass.is_out_of_core()) return run(policy);
    pass(active_windows(exec, long_rows, problem.long_windows, is_active),
         [&](auto const& instance, Kernel const& part, std::size_t, RowWindow const& window) {
           Long here = long_rows;
           here.kernel = part;
           here.first_segment = window.first;
           here.last_segment = window.last;
           Kokkos::parallel_for(long_label,
                                shape_on(instance, tag, here, window.last - window.first), here);
         });
  };
  auto const evaluate = [&, policy = shape(typename Long::Evaluate{}, long_rows, segments)] {
    run_segments(typename Long::Evaluate{}, policy, [](RowScalars const& s) {
      return s.phase == RowPhase::start || s.phase == RowPhase::searching;
    });
  };
  auto const hessian = [&, policy = shape(typename Long::Hessian{}, long_rows, segments)] {
    run_segments(typename Long::Hessian{}, policy, [](RowScalars const& s) {
      return s.phase == RowPhase::at_point && !s.is_out_of_core;
    });
  };
  auto const start = shape(typename Long::Start{}, long_rows, longs);
  auto const direct = shape(typename Long::Direct{}, long_rows, longs);
  auto const judge = shape(typename Long::Judge{}, long_rows, longs);
  run(shape(typename Long::Load{}, long_rows, longs));
  for (int evaluation = 0; evaluation < 2; ++evaluation) {
    evaluate();
    run(start);
  }
  for (int step = 0; step < options.inner_iterations; ++step) {
    if (Method::second_derivatives) hessian();
    run(direct);
    for (long_rows.attempt = 0; long_rows.attempt <= Kernel::Iteration::lengths;
         ++long_rows.attempt) {
      evaluate();
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
/// workspace grows, or X is out of core: the windows of its nonzeros are given then, and a pass
/// over long rows has those windows alone in which a row takes part. Same bits on every run and
/// number of threads. An inner iteration costs (N + 2) R nnz flops an evaluation, of which the line
/// search takes one or more, and for pdnr R^2 nnz + R^3 / 3 a row for the free variables; nothing
/// of size nnz x R is kept. Throws Error if the shapes disagree or an option is out of range.
/// Hansen, Plantenga & Kolda, Newton-based optimization for Kullback-Leibler nonnegative tensor
/// factorizations, Optim. Methods Softw. 30(5), 2015.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void solve_rows(ExecutionSpace const& exec,
                RowSubproblems<Scalar, Index, MemorySpace> const& problem,
                Factors<Scalar, MemorySpace> const& A, Matrix<Scalar, MemorySpace> const& B,
                RowOptions const& options, RowWorkspace<MemorySpace>& workspace,
                Windows<MemorySpace>* windows = nullptr) {
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
  if (!workspace.inner_iterations.is_allocated()) {  // the last of the two
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
    fill_view(exec, workspace.violation, 0.0);
    fill_view(exec, workspace.inner_iterations, std::uint64_t{0});
    return;
  }
  if (options.steps == RowSteps::damped_newton)
    solve_rows_by(exec, problem, A, B, options,
                  DampedNewton{options.epsilon_active, options.damping}, workspace, windows,
                  "sporades::cp_apr::pdnr", "sporades::cp_apr::pdnr_long");
  else
    solve_rows_by(exec, problem, A, B, options, QuasiNewton{options.epsilon_active}, workspace,
                  windows, "sporades::cp_apr::pqnr", "sporades::cp_apr::pqnr_long");
  Range<ExecutionSpace> const all(exec, 0, problem.rows());
  Kokkos::parallel_reduce("sporades::cp_apr::inner_iterations", all,
                          AddSteps<MemorySpace>{workspace.steps}, workspace.inner_iterations);
  Kokkos::parallel_reduce("sporades::cp_apr::violation", all,
                          LargestViolation<MemorySpace>{workspace.violations},
                          Kokkos::Max<double, MemorySpace>(workspace.violation));
}

}  // namespace sporades::detail

#include <sporades/eti/solve_rows.hpp>
