// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/kokkos.hpp>

namespace sporades::detail {

/// body(i, j) for 0 <= i, j < n, over the threads and vector lanes of a team.
template <class Member, class Body>
KOKKOS_INLINE_FUNCTION void for_square(Member const& team, int n, Body const& body) {
  Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n), [&](int i) {
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n), [&](int j) { body(i, j); });
  });
}

/// Eigenvalues and eigenvectors of one symmetric matrix by one team: cyclic Jacobi, where a round
/// rotates n / 2 disjoint pairs at once and n - 1 rounds (a round-robin tournament) meet every
/// pair. Each entry is computed by one thread, the same way whoever it is. Golub & Van Loan, Matrix
/// Computations, 4th ed., 8.5.
struct JacobiRounds {
  int n;
  double* M;        // n x n, row-major
  double* vectors;  // n x n, a vector a row
  double* cosine;   // of the round's pairs: (n + 1) / 2
  double* sine;

  KOKKOS_INLINE_FUNCTION int pairs() const { return (n + 1) / 2; }
  KOKKOS_INLINE_FUNCTION int rounds() const { return 2 * pairs() - 1; }

  /// One of the pair may be n, the guest of an odd n, with whom nothing is rotated.
  KOKKOS_INLINE_FUNCTION int first(int round, int pair) const {
    return pair == 0 ? rounds() : (round + pair) % rounds();
  }
  KOKKOS_INLINE_FUNCTION int second(int round, int pair) const {
    return (round + rounds() - pair) % rounds();
  }

  KOKKOS_INLINE_FUNCTION double get(int i, int j) const {
    return i < n && j < n ? M[i * n + j] : 0;
  }
  KOKKOS_INLINE_FUNCTION void put(int i, int j, double value) const {
    if (i < n && j < n) M[i * n + j] = M[j * n + i] = value;
  }

  /// The rotation that makes M(p, q) zero.
  KOKKOS_INLINE_FUNCTION void choose(int round, int pair) const {
    int const p = first(round, pair), q = second(round, pair);
    double c = 1, s = 0;
    double const off = get(p, q);
    if (off != 0) {
      double const theta = (get(q, q) - get(p, p)) / (2 * off);
      double const t = (theta < 0 ? -1 : 1) / (math::abs(theta) + math::sqrt(1 + theta * theta));
      c = 1 / math::sqrt(1 + t * t);
      s = t * c;
    }
    cosine[pair] = c;
    sine[pair] = s;
  }

  /// The four entries where rows of pair a meet columns of pair b >= a, and their mirror images.
  KOKKOS_INLINE_FUNCTION void rotate(int round, int a, int b) const {
    int const p = first(round, a), q = second(round, a);
    if (a == b) {
      if (p >= n || q >= n) return;
      double const change = sine[a] / cosine[a] * M[p * n + q];
      M[p * n + p] -= change;
      M[q * n + q] += change;
      put(p, q, 0);
      return;
    }
    int const u = first(round, b), v = second(round, b);
    double const pu = get(p, u), pv = get(p, v), qu = get(q, u), qv = get(q, v);
    double const c = cosine[a], s = sine[a], d = cosine[b], t = sine[b];
    double const row_pu = c * pu - s * qu, row_pv = c * pv - s * qv;
    double const row_qu = s * pu + c * qu, row_qv = s * pv + c * qv;
    put(p, u, d * row_pu - t * row_pv);
    put(p, v, t * row_pu + d * row_pv);
    put(q, u, d * row_qu - t * row_qv);
    put(q, v, t * row_qu + d * row_qv);
  }

  KOKKOS_INLINE_FUNCTION void rotate_vectors(int round, int pair, int i) const {
    int const p = first(round, pair), q = second(round, pair);
    if (p >= n || q >= n) return;
    double const x = vectors[p * n + i], y = vectors[q * n + i];
    vectors[p * n + i] = cosine[pair] * x - sine[pair] * y;
    vectors[q * n + i] = sine[pair] * x + cosine[pair] * y;
  }
};

/// M = V^T diag(M) V up to rounding: the eigenvalues end on M's diagonal in no order, the vectors
/// in V's rows. M, vectors: n x n; work: 3 n. Ends with a barrier of the team.
template <class Member>
KOKKOS_INLINE_FUNCTION void jacobi_eigen(Member const& team, int n, double* M, double* vectors,
                                         double* work) {
  constexpr int most_sweeps = 40;
  constexpr double negligible = 5e-17;  // of the largest diagonal entry
  double* const largest_off = work;
  JacobiRounds const jacobi{n, M, vectors, work + n, work + n + (n + 1) / 2};
  for_square(team, n, [&](int i, int j) { vectors[i * n + j] = i == j ? 1 : 0; });
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int j) {
      double largest = 0;
      for (int i = 0; i < n; ++i)
        if (i != j && math::abs(M[i * n + j]) > largest) largest = math::abs(M[i * n + j]);
      largest_off[j] = largest;
    });
    team.team_barrier();
    double off = 0, diagonal = 0;
    for (int j = 0; j < n; ++j) {
      if (largest_off[j] > off) off = largest_off[j];
      if (math::abs(M[j * n + j]) > diagonal) diagonal = math::abs(M[j * n + j]);
    }
    if (!(off > negligible * diagonal)) break;
    for (int round = 0; round < jacobi.rounds(); ++round) {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, jacobi.pairs()),
                           [&](int pair) { jacobi.choose(round, pair); });
      team.team_barrier();
      for_square(team, jacobi.pairs(), [&](int a, int b) {
        if (a <= b) jacobi.rotate(round, a, b);
      });
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, jacobi.pairs()), [&](int pair) {
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n),
                             [&](int i) { jacobi.rotate_vectors(round, pair, i); });
      });
      team.team_barrier();
    }
  }
  team.team_barrier();
}

}  // namespace sporades::detail
