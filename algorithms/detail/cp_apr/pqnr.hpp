// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/cp_apr/row_iteration.hpp>

namespace sporades::detail {

/// Projected quasi-Newton steps, PQNR: the two-loop recursion of limited-memory BFGS over the free
/// variables. Two things differ from the paper. Of the kept pairs, the
/// components of the variables that are free now are used. And the matrix that they correct is not
/// a multiple of I but of diag(b + floor), whose step is the multiplicative update: entries of b
/// differ by orders of magnitude, and so do their curvatures. Hansen, Plantenga & Kolda, Optim.
/// Methods Softw. 30(5), 2015; Nocedal & Wright, Numerical Optimization, 2nd ed., Algorithm 7.4.
struct QuasiNewton {
  static constexpr bool second_derivatives = false;
  static constexpr int most_pairs = 3;
  static constexpr double floor_fraction = 1e-4;  // of the mean entry

  double epsilon_active;

  static KOKKOS_INLINE_FUNCTION int history_doubles(int R) { return 2 * most_pairs * R; }

  KOKKOS_INLINE_FUNCTION void start(RowScalars&) const {}

  template <class Member>
  KOKKOS_FUNCTION void prepare(Member const& team, RowVectors const& v, RowScalars&, int R) const {
    double const width = active_width(R, v, epsilon_active);
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, R),
                         [&](int r) { v.free[r] = v.point[r] > width || v.phi[r] >= 1 ? 1 : 0; });
    team.team_barrier();
  }

  static KOKKOS_INLINE_FUNCTION double* moved(RowVectors const& v, int R, int pair) {
    return v.history + 2 * pair * R;
  }
  static KOKKOS_INLINE_FUNCTION double* changed(RowVectors const& v, int R, int pair) {
    return v.history + (2 * pair + 1) * R;
  }
  /// sum over the free variables of a b
  static KOKKOS_INLINE_FUNCTION double product(RowVectors const& v, int R, double const* a,
                                               double const* b) {
    return sum_by_each(R, [&](int r) { return v.free[r] ? a[r] * b[r] : 0.0; });
  }

  /// Entry r of the diagonal that stands for the inverse Hessian where there are no pairs.
  static KOKKOS_INLINE_FUNCTION double diagonal(RowVectors const& v, RowScalars const& s, int R,
                                                int r) {
    return v.point[r] + floor_fraction * s.mass / R;
  }

  /// v.step <- the step of length 1. Ends with a barrier.
  template <class Member>
  KOKKOS_FUNCTION void direct(Member const& team, RowVectors const& v, RowScalars& s, int R,
                              double*, double*) const {
    auto const for_free = [&](auto const& body) {
      team.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, R), [&](int r) {
        if (v.free[r]) body(r);
      });
      team.team_barrier();
    };
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, R),
                         [&](int r) { v.step[r] = v.phi[r] - 1; });
    team.team_barrier();
    double multiple[most_pairs], curvature[most_pairs], scale = 1;
    for (int age = 0; age < s.pairs; ++age) {
      int const pair = (s.newest + most_pairs - age) % most_pairs;
      double const* const y = changed(v, R, pair);
      curvature[pair] = product(v, R, moved(v, R, pair), y);
      if (!(curvature[pair] > 0)) continue;
      if (age == 0) {
        double const squares = sum_by_each(
            R, [&](int r) { return v.free[r] ? diagonal(v, s, R, r) * y[r] * y[r] : 0.0; });
        scale = curvature[pair] / squares;
      }
      multiple[pair] = product(v, R, moved(v, R, pair), v.step) / curvature[pair];
      for_free([&](int r) { v.step[r] -= multiple[pair] * y[r]; });
    }
    for_free([&](int r) { v.step[r] *= scale * diagonal(v, s, R, r); });
    for (int age = s.pairs - 1; age >= 0; --age) {
      int const pair = (s.newest + most_pairs - age) % most_pairs;
      if (!(curvature[pair] > 0)) continue;
      double const* const moves = moved(v, R, pair);
      double const other = product(v, R, changed(v, R, pair), v.step) / curvature[pair];
      for_free([&](int r) { v.step[r] += (multiple[pair] - other) * moves[r]; });
    }
  }

  KOKKOS_INLINE_FUNCTION void learn(RowScalars&, double) const {}

  /// Keeps the pair of an accepted step where f has a positive curvature along it.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void remember(Member const& team, RowVectors const& v, RowScalars& s,
                                       int R) const {
    double const curvature =
        sum_by_each(R, [&](int r) { return (v.trial[r] - v.point[r]) * (v.phi[r] - v.sums[r]); });
    if (!(curvature > 0)) return;
    s.newest = (s.newest + 1) % most_pairs;
    if (s.pairs < most_pairs) ++s.pairs;
    double* const moves = moved(v, R, s.newest);
    double* const changes = changed(v, R, s.newest);
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, R), [&](int r) {
      moves[r] = v.trial[r] - v.point[r];
      changes[r] = v.phi[r] - v.sums[r];
    });
  }
};

}  // namespace sporades::detail
