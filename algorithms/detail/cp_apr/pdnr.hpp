// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/cp_apr/row_iteration.hpp>

namespace sporades::detail {

/// x with M x = rhs for a symmetric positive definite M of n x n, whose lower triangle is in M
/// (rows `stride` apart) with rhs as row n: L D L^T by one team, rank-1 updates from left to right,
/// one barrier each. Pivots that rounding made too small are raised to 1e-14 of the largest
/// diagonal entry. M is overwritten; x may not be part of it. work: 2 (n + 1). About n^3 / 3 flops.
/// Golub & Van Loan, Matrix Computations, 4th ed., 4.1 and 4.2. Ends with a barrier.
template <class Member>
KOKKOS_INLINE_FUNCTION void solve_definite(Member const& team, int n, int stride, double* M,
                                           double* x, double* work) {
  double largest = 0;
  for (int k = 0; k < n; ++k)
    if (M[k * stride + k] > largest) largest = M[k * stride + k];
  double const least = largest > 0 ? 1e-14 * largest : 1;
  double* column = work;
  double* next = work + n + 1;
  Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n + 1),
                       [&](int i) { column[i] = M[i * stride]; });
  team.team_barrier();
  for (int k = 0; k < n; ++k) {
    double const factor = 1 / (column[k] > least ? column[k] : least);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, k + 1, n + 1), [&](int i) {
      double* const row = M + i * stride;
      double const multiple = column[i] * factor;
      int const last = i < n ? i : n - 1;
      for_columns(team, last - k, [&](int j) { row[k + 1 + j] -= multiple * column[k + 1 + j]; });
      Kokkos::single(Kokkos::PerThread(team), [&] { row[k] = multiple; });
    });
    team.team_barrier();
    if (k + 1 < n)
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, k + 1, n + 1),
                           [&](int i) { next[i] = M[i * stride + k + 1]; });
    team.team_barrier();
    double* const done = column;
    column = next;
    next = done;
  }
  Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int k) { x[k] = M[n * stride + k]; });
  team.team_barrier();
  for (int k = n - 1; k > 0; --k) {
    double const known = x[k];
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, k),
                         [&](int j) { x[j] -= M[k * stride + j] * known; });
    team.team_barrier();
  }
}

/// Projected damped Newton steps, PDNR. Held variables move along the gradient, the free ones by
/// the Newton step of the Hessian plus mu I. Two things differ from the paper. mu is relative to 1
/// / sum of x, which makes it the paper's for a row of mass 1: steps scale with the data. And the
/// step knows which free variables it takes to 0 (see direct), where the paper cuts them off
/// afterwards, which far from the solution is often no descent. Hansen, Plantenga & Kolda, Optim.
/// Methods Softw. 30(5), 2015; two-metric projection: Bertsekas, SIAM J. Control Optim. 20(2),
/// 1982.
struct DampedNewton {
  static constexpr bool second_derivatives = true;
  static constexpr int most_rounds = 10;  // of deciding which variables a step takes to 0

  double epsilon_active;
  double damping;

  static KOKKOS_INLINE_FUNCTION int history_doubles(int) { return 0; }

  KOKKOS_INLINE_FUNCTION void start(RowScalars& s) const { s.damping = damping; }

  /// Chooses the free variables. Ends with a barrier.
  template <class Member>
  KOKKOS_FUNCTION void prepare(Member const& team, RowVectors const& v, RowScalars& s,
                               int R) const {
    double const width = active_width(R, v, epsilon_active);
    auto const is_free = [&](int r) { return v.point[r] > width || v.phi[r] >= 1; };
    s.free = 0;
    for (int r = 0; r < R; ++r)
      if (is_free(r)) ++s.free;
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      int k = 0;
      for (int r = 0; r < R; ++r)
        if (is_free(r)) v.free[k++] = r;
    });
    team.team_barrier();
  }

  /// v.step <- the step of length 1, from H of RowObjective::hessian with room for one more row,
  /// which is overwritten. Where the Newton step of the free variables would take some below 0,
  /// these go to 0, the step of the others is computed anew with that known, and so on. work:
  /// 6 (R + 1). Ends with a barrier.
  template <class Member>
  KOKKOS_FUNCTION void direct(Member const& team, RowVectors const& v, RowScalars& s, int R,
                              double* H, double* work) const {
    int const n = s.free, stride = (n + 7) / 8 * 8;
    double* const diagonal = work + 2 * (R + 1);
    double* const d = diagonal + R;
    double* const ends = d + R;  // 1 where the step ends at 0
    double* const slope = ends + R;
    double const shift = s.damping / s.mass;
    auto const for_free = [&](auto const& body) {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), body);
      team.team_barrier();
    };
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, R),
                         [&](int r) { v.step[r] = v.phi[r] - 1; });
    for_free([&](int k) {
      diagonal[k] = H[k * stride + k] += shift;
      for (int j = 0; j < k; ++j) H[j * stride + k] = H[k * stride + j];
      H[n * stride + k] = v.phi[v.free[k]] - 1;
      ends[k] = 0;
    });
    for (int round = 0; round < most_rounds && n > 0; ++round) {
      solve_definite(team, n, stride, H, d, work);
      int below = 0;
      for (int k = 0; k < n; ++k)
        if (ends[k] == 0 && v.point[v.free[k]] + d[k] < 0) ++below;
      if (below == 0 || round + 1 == most_rounds) break;
      team.team_barrier();
      for_free([&](int k) {
        if (v.point[v.free[k]] + d[k] < 0) ends[k] = 1;
        if (ends[k] != 0) d[k] = -v.point[v.free[k]];
      });
      for_free([&](int k) {  // the lower triangle and the right-hand side, less what ends at 0
        double* const row = H + k * stride;
        double known = 0;
        for (int j = 0; j < n; ++j)
          if (ends[j] != 0 && j != k) known += H[j < k ? j * stride + k : k * stride + j] * d[j];
        for (int j = 0; j < k; ++j) row[j] = ends[j] + ends[k] == 0 ? H[j * stride + k] : 0;
        row[k] = ends[k] == 0 ? diagonal[k] : 1;
        H[n * stride + k] = ends[k] == 0 ? v.phi[v.free[k]] - 1 - known : d[k];
      });
    }
    for_free([&](int k) {
      double product = diagonal[k] * d[k];
      for (int j = 0; j < n; ++j)
        if (j != k) product += H[j < k ? j * stride + k : k * stride + j] * d[j];
      slope[k] = (1 - v.phi[v.free[k]] + 0.5 * product) * d[k];
      v.step[v.free[k]] = d[k];
    });
    s.predicted = sum_by_each(n, [&](int k) { return slope[k]; });
    team.team_barrier();
  }

  /// Raises or lowers mu by how well the quadratic model predicted f at the step of length 1.
  KOKKOS_INLINE_FUNCTION void learn(RowScalars& s, double value) const {
    double const ratio = (value - s.value) / s.predicted;
    if (s.predicted == 0)
      s.damping *= 10;
    else if (!(ratio >= 0.25))
      s.damping *= 3.5;
    else if (ratio > 0.75)
      s.damping /= 3.5;
  }

  template <class Member>
  KOKKOS_INLINE_FUNCTION void remember(Member const&, RowVectors const&, RowScalars&, int) const {}
};

}  // namespace sporades::detail
