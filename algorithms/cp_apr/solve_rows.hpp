// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/cp_apr/pdnr.hpp>
#include <sporades/algorithms/cp_apr/pqnr.hpp>
#include <sporades/algorithms/cp_apr/row_nonzeros.hpp>
#include <sporades/algorithms/cp_apr/row_subproblems.hpp>

namespace sporades {

/// Memory of solve_rows, and what its last call found; for calls one after another on one instance.
template <class MemorySpaceType>
struct RowWorkspace {
  using MemorySpace = MemorySpaceType;

  Workspace<MemorySpace> memory;
  Vector<double, MemorySpace> violations;         // I_n: of the KKT conditions at the start
  Kokkos::View<int*, MemorySpace> steps;          // I_n: inner iterations
  Kokkos::View<std::uint64_t, MemorySpace> next;  // row that no team took yet
  Kokkos::View<double, MemorySpace> violation;    // the largest of violations
  Kokkos::View<std::uint64_t, MemorySpace> inner_iterations;  // the sum of steps
};

namespace detail {

/// What the kernels of solve_rows share: a row's iteration, its nonzeros, and memory for a team.
template <class ExecutionSpace, class Objective, class Method>
struct RowKernel {
  using Memory = typename ExecutionSpace::memory_space;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Scalar = typename Objective::Scalar;
  using Iteration = RowIteration<Method>;

  Objective objective;
  Iteration iteration;
  RawMatrix<Scalar, Memory> B;               // I_n x R
  RawVector<Position const, Memory> begins;  // I_n + 1
  RawVector<double, Memory> violations;      // I_n
  RawVector<int, Memory> steps;              // I_n
  Position segment_length;
  double* memory;  // near_doubles() a team of the league, unless in scratch memory
  bool in_scratch;

  KOKKOS_INLINE_FUNCTION int P() const { return Objective::padded(objective.R); }
  KOKKOS_INLINE_FUNCTION int history() const { return Method::history_doubles(objective.R); }
  KOKKOS_INLINE_FUNCTION std::size_t vector_doubles() const {
    return RowVectors::doubles(P(), history());
  }
  /// H with one more row, and a work area for it, for the objective and for directions.
  KOKKOS_INLINE_FUNCTION std::size_t matrix_doubles() const {
    std::size_t const R = objective.R;
    return Method::second_derivatives ? (R + 1) * P() : 0;
  }
  KOKKOS_INLINE_FUNCTION std::size_t work_doubles() const {
    int const evaluate = objective.template work_doubles<ExecutionSpace>();
    int const direct = 6 * (objective.R + 1);
    return evaluate > direct ? evaluate : direct;
  }
  KOKKOS_INLINE_FUNCTION std::size_t near_doubles() const {
    return (vector_doubles() + matrix_doubles() + work_doubles() + 7) / 8 * 8;
  }
  KOKKOS_INLINE_FUNCTION double* near(Member const& team) const {
    return in_scratch ? static_cast<double*>(
                            team.team_scratch(0).get_shmem(near_doubles() * sizeof(double)))
                      : memory + team.league_rank() * near_doubles();
  }
  KOKKOS_INLINE_FUNCTION void load_row(Member const& team, std::uint64_t i,
                                       RowVectors const& v) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, P()), [&](int r) {
      v.trial[r] = r < objective.R ? static_cast<double>(B(i, r)) : 0;
      v.point[r] = 0;
    });
    team.team_barrier();
  }
  KOKKOS_INLINE_FUNCTION void store_row(Member const& team, std::uint64_t i, RowVectors const& v,
                                        RowScalars const& s) const {
    if (s.moved)
      iteration.for_entries(team, [&](int r) { B(i, r) = static_cast<Scalar>(v.point[r]); });
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      violations(i) = s.violation;
      steps(i) = s.steps;
    });
  }
};

/// Rows that are not long, each by one team from start to end; teams take rows one after another.
template <class ExecutionSpace, class Objective, class Method>
struct SolveShortRows {
  using Kernel = RowKernel<ExecutionSpace, Objective, Method>;
  using Member = typename Kernel::Member;

  Kernel kernel;
  Kokkos::View<std::uint64_t, typename Kernel::Memory> next;
  double* pi;          // stored_pi doubles a team
  Position stored_pi;  // rows of which so much is enough for all pi keep them there

  KOKKOS_FUNCTION void operator()(Member const& team) const {
    double* const near = kernel.near(team);
    std::uint64_t const rows = kernel.B.extent(0);
    while (true) {
      std::uint64_t i = 0;
      Kokkos::single(
          Kokkos::PerTeam(team),
          [&](std::uint64_t& taken) {
            taken = Kokkos::atomic_fetch_add(&next(), std::uint64_t{1});
          },
          i);
      if (i >= rows) return;
      if (kernel.begins(i + 1) - kernel.begins(i) <= kernel.segment_length) solve(team, i, near);
      team.team_barrier();
    }
  }

  KOKKOS_INLINE_FUNCTION void solve(Member const& team, std::uint64_t i, double* near) const {
    auto const& objective = kernel.objective;
    auto const& iteration = kernel.iteration;
    Position const begin = kernel.begins(i), end = kernel.begins(i + 1);
    RowVectors const v(near, kernel.P(), kernel.history());
    double* const H = near + kernel.vector_doubles();
    double* const work = H + kernel.matrix_doubles();
    double* stored = nullptr;
    kernel.load_row(team, i, v);
    if ((end - begin) * kernel.P() <= stored_pi && end > begin) {
      stored = pi + team.league_rank() * stored_pi;
      objective.store_pi(team, begin, end, stored);
    }
    RowScalars s;
    objective.evaluate(team, begin, end, v.trial, stored, work, v.sums);
    iteration.start(team, v, s);
    if (s.phase == RowPhase::start) {
      objective.evaluate(team, begin, end, v.trial, stored, work, v.sums);
      iteration.start(team, v, s);
    }
    while (s.phase != RowPhase::done) {
      if (s.is_far) {
        iteration.direct_from_afar(team, v, s);
      } else {
        iteration.method.prepare(team, v, s, objective.R);
        if (Method::second_derivatives)
          objective.hessian(team, begin, end, v.point, v.free, s.free, stored, work, H);
        iteration.method.direct(team, v, s, objective.R, H, work);
      }
      for (int attempt = 0; attempt == 0 || s.phase == RowPhase::searching; ++attempt) {
        iteration.propose(team, v, s, attempt);
        objective.evaluate(team, begin, end, v.trial, stored, work, v.sums);
        iteration.judge(team, v, s, attempt);
      }
    }
    kernel.store_row(team, i, v, s);
  }
};

/// Long rows, all at once, in steps of one launch: teams evaluate segments of the rows' nonzeros,
/// then a team a row adds up what they found, in order, and goes on from there.
template <class ExecutionSpace, class Objective, class Method>
struct SolveLongRows {
  using Kernel = RowKernel<ExecutionSpace, Objective, Method>;
  using Member = typename Kernel::Member;
  using Memory = typename Kernel::Memory;

  struct Load {};
  struct Evaluate {};
  struct Start {};
  struct Hessian {};
  struct Direct {};
  struct Judge {};
  struct Store {};

  Kernel kernel;
  RawVector<Position const, Memory> long_rows;       // L
  RawVector<Position const, Memory> first_segments;  // L + 1
  RawVector<Position const, Memory> segment_rows;    // segments
  RowScalars* scalars;                               // L
  double* vectors;                                   // L x kernel.vector_doubles()
  double* partial;                                   // segments x partial_doubles()
  int attempt;                                       // of the line search

  KOKKOS_INLINE_FUNCTION std::size_t partial_doubles() const {
    std::size_t const R = kernel.objective.R, sums = kernel.objective.sums();
    std::size_t const matrix = Method::second_derivatives ? R * Objective::padded(R) : 0;
    return matrix > sums ? matrix : sums;
  }
  KOKKOS_INLINE_FUNCTION RowVectors row(std::size_t l) const {
    return RowVectors(vectors + l * kernel.vector_doubles(), kernel.P(), kernel.history());
  }
  KOKKOS_INLINE_FUNCTION double* work(double* near) const {
    return near + kernel.vector_doubles() + kernel.matrix_doubles();
  }

  /// body(l) for the long rows of this team.
  template <class Body>
  KOKKOS_INLINE_FUNCTION void for_rows(Member const& team, Body const& body) const {
    for (std::size_t l = team.league_rank(); l < long_rows.extent(0); l += team.league_size())
      body(l);
  }
  /// body(l, begin, end, partial) for the segments of this team.
  template <class Body>
  KOKKOS_INLINE_FUNCTION void for_segments(Member const& team, Body const& body) const {
    for (std::size_t t = team.league_rank(); t < segment_rows.extent(0); t += team.league_size()) {
      Position const l = segment_rows(t);
      Position const begin =
          kernel.begins(long_rows(l)) + (t - first_segments(l)) * kernel.segment_length;
      Position const row_end = kernel.begins(long_rows(l) + 1);
      Position const end =
          begin + kernel.segment_length < row_end ? begin + kernel.segment_length : row_end;
      body(l, begin, end, partial + t * partial_doubles());
    }
  }
  /// to <- the sum of what the segments of row l found. Ends with a barrier.
  KOKKOS_INLINE_FUNCTION void add_up(Member const& team, std::size_t l, int entries,
                                     double* to) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, entries), [&](int e) {
      double total = 0;
      for (Position t = first_segments(l); t < first_segments(l + 1); ++t)
        total += partial[t * partial_doubles() + e];
      to[e] = total;
    });
    team.team_barrier();
  }
  KOKKOS_INLINE_FUNCTION void save(Member const& team, std::size_t l, RowScalars const& s) const {
    team.team_barrier();
    Kokkos::single(Kokkos::PerTeam(team), [&] { scalars[l] = s; });
    team.team_barrier();
  }

  KOKKOS_FUNCTION void operator()(Load, Member const& team) const {
    for_rows(team, [&](std::size_t l) {
      kernel.load_row(team, long_rows(l), row(l));
      save(team, l, RowScalars());
    });
  }

  KOKKOS_FUNCTION void operator()(Evaluate, Member const& team) const {
    double* const near = kernel.near(team);
    for_segments(team, [&](Position l, Position begin, Position end, double* sums) {
      RowPhase const phase = scalars[l].phase;
      if (phase != RowPhase::start && phase != RowPhase::searching) return;
      kernel.objective.evaluate(team, begin, end, row(l).trial, nullptr, work(near), sums);
    });
  }

  KOKKOS_FUNCTION void operator()(Start, Member const& team) const {
    for_rows(team, [&](std::size_t l) {
      RowScalars s = scalars[l];
      if (s.phase != RowPhase::start) return;
      RowVectors const v = row(l);
      add_up(team, l, kernel.objective.sums(), v.sums);
      kernel.iteration.start(team, v, s);
      prepare(team, v, s);
      save(team, l, s);
    });
  }

  KOKKOS_FUNCTION void operator()(Hessian, Member const& team) const {
    double* const near = kernel.near(team);
    for_segments(team, [&](Position l, Position begin, Position end, double* H) {
      if (scalars[l].phase != RowPhase::at_point || scalars[l].is_far) return;
      RowVectors const v = row(l);
      kernel.objective.hessian(team, begin, end, v.point, v.free, scalars[l].free, nullptr,
                               work(near), H);
    });
  }

  KOKKOS_FUNCTION void operator()(Direct, Member const& team) const {
    double* const near = kernel.near(team);
    double* const H = near + kernel.vector_doubles();
    for_rows(team, [&](std::size_t l) {
      RowScalars s = scalars[l];
      if (s.phase != RowPhase::at_point) return;
      RowVectors const v = row(l);
      if (s.is_far) {
        kernel.iteration.direct_from_afar(team, v, s);
      } else {
        if (Method::second_derivatives) add_up(team, l, s.free * Objective::padded(s.free), H);
        kernel.iteration.method.direct(team, v, s, kernel.objective.R, H, work(near));
      }
      kernel.iteration.propose(team, v, s, 0);
      save(team, l, s);
    });
  }

  KOKKOS_FUNCTION void operator()(Judge, Member const& team) const {
    for_rows(team, [&](std::size_t l) {
      RowScalars s = scalars[l];
      if (s.phase != RowPhase::searching) return;
      RowVectors const v = row(l);
      add_up(team, l, kernel.objective.sums(), v.sums);
      kernel.iteration.judge(team, v, s, attempt);
      if (s.phase == RowPhase::searching) kernel.iteration.propose(team, v, s, attempt + 1);
      prepare(team, v, s);
      save(team, l, s);
    });
  }

  KOKKOS_FUNCTION void operator()(Store, Member const& team) const {
    for_rows(team,
             [&](std::size_t l) { kernel.store_row(team, long_rows(l), row(l), scalars[l]); });
  }

  KOKKOS_INLINE_FUNCTION void prepare(Member const& team, RowVectors const& v,
                                      RowScalars& s) const {
    if (s.phase == RowPhase::at_point && !s.is_far)
      kernel.iteration.method.prepare(team, v, s, kernel.objective.R);
  }
};

/// How a kernel on rows is launched.
template <class ExecutionSpace>
struct RowLaunch {
  ExecutionSpace exec;
  int teams;    // at most
  int threads;  // of a team
  int width;    // vector lanes
  std::size_t scratch;

  template <class Policy, class Kernel>
  Policy policy(Kernel const& kernel, std::uint64_t items) const {
    // Not used: where it is 0, Kokkos 4.6 on CUDA allocates it anew in every launch.
    auto const pool = Kokkos::PerTeam(8);
    auto const bytes = Kokkos::PerTeam(static_cast<int>(scratch));
    int const league = static_cast<int>(std::min<std::uint64_t>(items, teams));
    auto widest = Policy(exec, league, Kokkos::AUTO, width);
    widest.set_scratch_size(0, bytes).set_scratch_size(1, pool);
    int const most = widest.team_size_max(kernel, Kokkos::ParallelForTag{});
    auto fitting = Policy(exec, league, std::min(threads, most), width);
    fitting.set_scratch_size(0, bytes).set_scratch_size(1, pool);
    return fitting;
  }
};

/// Number of inner iterations, and largest violation.
template <class Memory>
struct AddSteps {
  Kokkos::View<int*, Memory> steps;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& sum) const {
    sum += static_cast<std::uint64_t>(steps(i));
  }
};
template <class Memory>
struct LargestViolation {
  Vector<double, Memory> violations;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, double& largest) const {
    if (!(violations(i) <= largest)) largest = violations(i);
  }
};

template <class ExecutionSpace, class Problem, class Method, class Workspace>
void solve_rows_by(ExecutionSpace const& exec, Problem const& problem,
                   Factors<typename Problem::Scalar, typename Problem::MemorySpace> const& A,
                   Matrix<typename Problem::Scalar, typename Problem::MemorySpace> const& B,
                   RowOptions const& options, Method const& method, Workspace& workspace,
                   char const* short_label, char const* long_label) {
  constexpr bool on_gpu = is_gpu<ExecutionSpace>;
  auto const nonzeros = row_nonzeros(problem.X, problem.mode, A);
  using Objective = RowObjective<std::decay_t<decltype(nonzeros)>>;
  using Short = SolveShortRows<ExecutionSpace, Objective, Method>;
  using Long = SolveLongRows<ExecutionSpace, Objective, Method>;
  using Kernel = typename Short::Kernel;
  int const R = problem.rank, lanes = on_gpu ? 8 : 1;
  std::uint64_t const rows = problem.rows();
  std::size_t const segments = problem.segment_rows.extent(0);
  std::size_t const longs = problem.long_rows.extent(0);

  Kernel kernel{Objective{nonzeros, R, lanes},
                {method, R, options.inner_iterations, options.tolerance},
                B,
                problem.begins,
                workspace.violations,
                workspace.steps,
                problem.segment_length,
                nullptr,
                false};
  RowLaunch<ExecutionSpace> launch{exec, 0, on_gpu ? lanes : 1, 1, 0};
  while (on_gpu && launch.width < 32 && launch.width < R) launch.width *= 2;
  launch.teams = std::max(1, static_cast<int>(exec.concurrency()) / launch.threads / launch.width);
  std::size_t const bytes = kernel.near_doubles() * sizeof(double);
  kernel.in_scratch =
      on_gpu && bytes + 256 <= static_cast<std::size_t>(
                                   Kokkos::TeamPolicy<ExecutionSpace>::scratch_size_max(0));
  launch.scratch = kernel.in_scratch ? bytes : 0;

  Short short_rows{kernel, workspace.next, nullptr, on_gpu ? 0 : Position{1} << 16};
  Long long_rows{kernel,
                 problem.long_rows,
                 problem.first_segments,
                 problem.segment_rows,
                 nullptr,
                 nullptr,
                 nullptr,
                 0};
  std::size_t const near = kernel.in_scratch ? 0 : launch.teams * kernel.near_doubles();
  std::size_t const scalars = (longs * sizeof(RowScalars) + 7) / 8;
  std::size_t const vectors = longs * kernel.vector_doubles();
  std::size_t const partial = segments * long_rows.partial_doubles();
  auto const memory = workspace.memory.template get<double>(
      exec, near + launch.teams * short_rows.stored_pi + scalars + vectors + partial);
  kernel.memory = memory.data();
  short_rows.kernel = long_rows.kernel = kernel;
  short_rows.pi = memory.data() + near;
  long_rows.vectors = short_rows.pi + launch.teams * short_rows.stored_pi;
  long_rows.partial = long_rows.vectors + vectors;
  long_rows.scalars = reinterpret_cast<RowScalars*>(long_rows.partial + partial);

  Kokkos::deep_copy(exec, workspace.next, std::uint64_t{0});
  Kokkos::parallel_for(short_label,
                       launch.template policy<Kokkos::TeamPolicy<ExecutionSpace>>(short_rows, rows),
                       short_rows);
  if (longs == 0) return;
  auto const run = [&](auto tag, std::size_t items) {
    using Policy = Kokkos::TeamPolicy<ExecutionSpace, decltype(tag)>;
    Kokkos::parallel_for(long_label, launch.template policy<Policy>(long_rows, items), long_rows);
  };
  run(typename Long::Load{}, longs);
  for (int evaluation = 0; evaluation < 2; ++evaluation) {
    run(typename Long::Evaluate{}, segments);
    run(typename Long::Start{}, longs);
  }
  for (int step = 0; step < options.inner_iterations; ++step) {
    if (Method::second_derivatives) run(typename Long::Hessian{}, segments);
    run(typename Long::Direct{}, longs);
    for (long_rows.attempt = 0; long_rows.attempt <= Kernel::Iteration::halvings;
         ++long_rows.attempt) {
      run(typename Long::Evaluate{}, segments);
      run(typename Long::Judge{}, longs);
    }
  }
  run(typename Long::Store{}, longs);
}

}  // namespace detail

/// For every row i of mode n: b = B(i, :) <- the minimum over b >= 0 of
///   f(b) = sum_r b_r - sum_{p in row i} x_p log(sum_r b_r prod_{m != n} A_m(i_m, r)),
/// from B(i, :), by at most options.inner_iterations steps, until |min(b_r, df/db_r)| <=
/// options.tolerance for all r. problem: of make_row_subproblems for mode n and R columns. A[m]:
/// I_m x R, m != n; columns with sum 1 and entries >= 0; A[n] is not read. B: I_n x R, entries >=
/// 0. Rows without nonzeros become 0; rows that already fulfil the tolerance stay as they are;
/// where the model is 0 at a nonzero it is made positive. workspace.violation is the largest
/// |min(b_r, df/db_r)| over all rows *before* they were solved (the outer iteration's test of
/// convergence), workspace.inner_iterations the number of steps of all rows; both lie in device
/// memory. Enqueued on exec; fences only where the workspace grows. Same bits on every run and
/// number of threads. An inner iteration costs (N + 2) R nnz flops an evaluation, of which the line
/// search takes one or more, and for pdnr R^2 nnz + R^3 / 3 a row for the free variables; nothing
/// of size nnz x R is kept. Throws Error if the shapes disagree or an option is out of range.
/// Hansen, Plantenga & Kolda, Newton-based optimization for Kullback-Leibler nonnegative tensor
/// factorizations, Optim. Methods Softw. 30(5), 2015, Algorithms 2 to 5.
template <class ExecutionSpace, class Tensor>
void solve_rows(ExecutionSpace const& exec, RowSubproblems<Tensor> const& problem,
                Factors<typename Tensor::Scalar, typename Tensor::MemorySpace> const& A,
                Matrix<typename Tensor::Scalar, typename Tensor::MemorySpace> const& B,
                RowOptions const& options, RowWorkspace<typename Tensor::MemorySpace>& workspace) {
  using Memory = typename Tensor::MemorySpace;
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
  if (!workspace.violation.is_allocated()) {
    workspace.next = uninitialized<decltype(workspace.next)>(exec, "sporades::cp_apr::next_row");
    workspace.violation =
        uninitialized<decltype(workspace.violation)>(exec, "sporades::cp_apr::violation");
    workspace.inner_iterations = uninitialized<decltype(workspace.inner_iterations)>(
        exec, "sporades::cp_apr::inner_iterations");
  }
  if (workspace.steps.extent(0) != problem.rows()) {
    fence(exec, "sporades::cp_apr::row_workspace");
    workspace.violations = uninitialized<decltype(workspace.violations)>(
        exec, "sporades::cp_apr::violations", problem.rows());
    workspace.steps =
        uninitialized<decltype(workspace.steps)>(exec, "sporades::cp_apr::steps", problem.rows());
  }
  if (problem.rows() > 0) {
    if (options.method == RowMethod::pdnr)
      detail::solve_rows_by(exec, problem, A, B, options,
                            detail::DampedNewton{options.epsilon_active, options.damping},
                            workspace, "sporades::cp_apr::pdnr", "sporades::cp_apr::pdnr_long");
    else
      detail::solve_rows_by(exec, problem, A, B, options,
                            detail::QuasiNewton{options.epsilon_active}, workspace,
                            "sporades::cp_apr::pqnr", "sporades::cp_apr::pqnr_long");
  }
  detail::Range<ExecutionSpace> const all(exec, 0, problem.rows());
  Kokkos::parallel_reduce("sporades::cp_apr::inner_iterations", all,
                          detail::AddSteps<Memory>{workspace.steps}, workspace.inner_iterations);
  Kokkos::parallel_reduce("sporades::cp_apr::violation", all,
                          detail::LargestViolation<Memory>{workspace.violations},
                          Kokkos::Max<double, Memory>(workspace.violation));
}

}  // namespace sporades
