// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/cp_apr/row_iteration.hpp>
#include <sporades/kernels/detail/row_sums.hpp>

namespace sporades::detail {

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
  double* memory;   // team_doubles() a team of the league, unless in scratch memory
  bool in_scratch;  // where a team's memory is

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
  /// What a segment of a long row finds: sums of the objective, or its share of H.
  KOKKOS_INLINE_FUNCTION std::size_t partial_doubles() const {
    std::size_t const sums = objective.sums();
    if constexpr (Method::second_derivatives) {
      std::size_t const matrix = static_cast<std::size_t>(objective.R) * P();
      return matrix > sums ? matrix : sums;
    } else {
      return sums;
    }
  }

  /// A team's own memory.
  struct TeamMemory {
    double* vectors;  // vector_doubles(), for short rows
    double* H;        // matrix_doubles()
    double* work;     // work_doubles()
  };
  KOKKOS_INLINE_FUNCTION std::size_t team_doubles() const {
    return (vector_doubles() + matrix_doubles() + work_doubles() + 7) / 8 * 8;
  }
  KOKKOS_INLINE_FUNCTION TeamMemory memory_of(Member const& team) const {
    double* const begin =
        in_scratch
            ? static_cast<double*>(team.team_scratch(0).get_shmem(team_doubles() * sizeof(double)))
            : memory + team.league_rank() * team_doubles();
    double* const H = begin + vector_doubles();
    return {begin, H, H + matrix_doubles()};
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
    // What is so small and would fall is 0: products of it would become denormal, which is slow.
    double const nothing = 1e-24 * s.mass;
    if (s.moved)
      iteration.for_entries(team, [&](int r) {
        bool const is_zero = v.point[r] < nothing && v.phi[r] < 1;
        B(i, r) = is_zero ? Scalar(0) : static_cast<Scalar>(v.point[r]);
      });
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      violations(i) = s.violation - s.violation == 0 ? s.violation : HUGE_VAL;
      steps(i) = s.steps;
    });
  }
};

/// Rows that are not long, each by one team from start to end; teams take rows one after another.
template <class ExecutionSpace, class Objective, class Method>
struct SolveShortRows {
  using Kernel = RowKernel<ExecutionSpace, Objective, Method>;
  using Member = typename Kernel::Member;

  struct Solve {};

  Kernel kernel;
  std::uint64_t* next;  // row that no team took yet
  std::uint64_t rows;   // behind the last one
  double* pi;           // stored_pi doubles a team
  Position stored_pi;   // rows of which so much is enough for all pi keep them there

  KOKKOS_FUNCTION void operator()(Solve, Member const& team) const {
    auto const own = kernel.memory_of(team);
    while (true) {
      std::uint64_t i = 0;
      Kokkos::single(
          Kokkos::PerTeam(team),
          [&](std::uint64_t& taken) { taken = Kokkos::atomic_fetch_add(next, std::uint64_t{1}); },
          i);
      if (i >= rows) return;
      if (kernel.begins(i + 1) - kernel.begins(i) <= kernel.segment_length) solve(team, i, own);
      team.team_barrier();
    }
  }

  KOKKOS_INLINE_FUNCTION void solve(Member const& team, std::uint64_t i,
                                    typename Kernel::TeamMemory const& own) const {
    auto const& objective = kernel.objective;
    auto const& iteration = kernel.iteration;
    Position const begin = kernel.begins(i), end = kernel.begins(i + 1);
    RowVectors const v(own.vectors, kernel.P(), kernel.history());
    double* stored = nullptr;
    kernel.load_row(team, i, v);
    if ((end - begin) * kernel.P() <= stored_pi && end > begin) {
      stored = pi + team.league_rank() * stored_pi;
      objective.store_pi(team, begin, end, stored);
    }
    RowScalars s;
    objective.evaluate(team, begin, end, v.trial, stored, own.work, v.sums);
    iteration.start(team, v, s);
    if (s.phase == RowPhase::start) {
      objective.evaluate(team, begin, end, v.trial, stored, own.work, v.sums);
      iteration.start(team, v, s);
    }
    while (s.phase != RowPhase::done) {
      if (s.is_out_of_core) {
        iteration.direct_from_afar(team, v, s);
      } else {
        iteration.method.prepare(team, v, s, objective.R);
        if (Method::second_derivatives)
          objective.hessian(team, begin, end, v.point, v.free, s.free, stored, own.work, own.H);
        iteration.method.direct(team, v, s, objective.R, own.H, own.work);
      }
      for (int attempt = 0; attempt == 0 || s.phase == RowPhase::searching; ++attempt) {
        iteration.propose(team, v, s, attempt);
        objective.evaluate(team, begin, end, v.trial, stored, own.work, v.sums);
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
  double* partial;                                   // segments x kernel.partial_doubles()
  std::size_t first_segment, last_segment;           // those that this launch evaluates
  int attempt;                                       // of the line search

  KOKKOS_INLINE_FUNCTION RowVectors row(std::size_t l) const {
    return RowVectors(vectors + l * kernel.vector_doubles(), kernel.P(), kernel.history());
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
    for (std::size_t t = first_segment + team.league_rank(); t < last_segment;
         t += team.league_size()) {
      Position const l = segment_rows(t);
      Position const begin =
          kernel.begins(long_rows(l)) + (t - first_segments(l)) * kernel.segment_length;
      Position const row_end = kernel.begins(long_rows(l) + 1);
      Position const end =
          begin + kernel.segment_length < row_end ? begin + kernel.segment_length : row_end;
      body(l, begin, end, partial + t * kernel.partial_doubles());
    }
  }
  /// to <- the sum of what the segments of row l found. Ends with a barrier.
  KOKKOS_INLINE_FUNCTION void add_up(Member const& team, std::size_t l, int entries,
                                     double* to) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, entries), [&](int e) {
      double total = 0;
      for (Position t = first_segments(l); t < first_segments(l + 1); ++t)
        total += partial[t * kernel.partial_doubles() + e];
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
    auto const own = kernel.memory_of(team);
    for_segments(team, [&](Position l, Position begin, Position end, double* sums) {
      RowPhase const phase = scalars[l].phase;
      if (phase != RowPhase::start && phase != RowPhase::searching) return;
      kernel.objective.evaluate(team, begin, end, row(l).trial, nullptr, own.work, sums);
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
    auto const own = kernel.memory_of(team);
    for_segments(team, [&](Position l, Position begin, Position end, double* H) {
      if (scalars[l].phase != RowPhase::at_point || scalars[l].is_out_of_core) return;
      RowVectors const v = row(l);
      kernel.objective.hessian(team, begin, end, v.point, v.free, scalars[l].free, nullptr,
                               own.work, H);
    });
  }

  KOKKOS_FUNCTION void operator()(Direct, Member const& team) const {
    auto const own = kernel.memory_of(team);
    for_rows(team, [&](std::size_t l) {
      RowScalars s = scalars[l];
      if (s.phase != RowPhase::at_point) return;
      RowVectors const v = row(l);
      if (s.is_out_of_core) {
        kernel.iteration.direct_from_afar(team, v, s);
      } else {
        if (Method::second_derivatives) add_up(team, l, s.free * Objective::padded(s.free), own.H);
        kernel.iteration.method.direct(team, v, s, kernel.objective.R, own.H, own.work);
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
    if (s.phase == RowPhase::at_point && !s.is_out_of_core)
      kernel.iteration.method.prepare(team, v, s, kernel.objective.R);
  }
};

}  // namespace sporades::detail
