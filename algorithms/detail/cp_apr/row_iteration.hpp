// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/cp_apr/row_objective.hpp>
#include <sporades/algorithms/detail/cp_apr/row_options.hpp>

namespace sporades::detail {

/// How far the solution of a row is.
enum class RowPhase {
  start,      // nothing was evaluated, or the start was moved and is to be evaluated again
  at_point,   // a step is to be computed
  searching,  // the line search along a step goes on
  done        // the row is solved, or as far as it gets
};

/// What a row carries besides its vectors. Every thread of a team computes the same for itself.
struct RowScalars {
  RowPhase phase = RowPhase::start;
  int steps = 0;                // taken
  int free = 0;                 // pdnr: variables that are free
  int pairs = 0;                // pqnr: kept ones
  int newest = -1;              // pqnr: place of the newest pair
  bool raised = false;          // the start was moved away from zeros that the data forbids
  bool is_out_of_core = false;  // phi is so large somewhere that no model of f helps
  bool moved = false;           // point is set; else the row stays as it is
  bool unused = false;          // fills the word, so that copies read nothing undefined
  double value = 0;             // f at point
  double mass = 0;              // sum of x
  double damping = 0;           // pdnr: mu
  double predicted = 0;         // pdnr: change of f that the quadratic model of the step promises
  double violation = 0;         // of the KKT conditions, at the start
};

/// The vectors of a row, in scratch or global memory, of P = padded(R) entries and more; those
/// past R are 0.
struct RowVectors {
  double *point, *phi;   // b, and 1 - gradient there
  double *trial, *sums;  // a point to evaluate, and what RowObjective found there: P, P + 2
  double* step;          // direction of the line search
  double* history;       // pqnr: kept pairs
  int* free;             // pdnr: the free variables; pqnr: 1 where free, else 0

  static KOKKOS_INLINE_FUNCTION std::size_t doubles(int P, int history) {
    return 5 * static_cast<std::size_t>(P) + 8 + P / 2 + history;
  }
  KOKKOS_INLINE_FUNCTION RowVectors(double* memory, int P, int history_doubles)
      : point(memory),
        phi(point + P),
        trial(phi + P),
        sums(trial + P),
        step(sums + P + 8),
        history(step + P),
        free(reinterpret_cast<int*>(history + history_doubles)) {}
};

/// max_r |min(b_r, 1 - phi_r)|: 0 where the Karush-Kuhn-Tucker conditions hold.
KOKKOS_INLINE_FUNCTION double kkt_violation(int R, double const* b, double const* phi) {
  double largest = 0;
  for (int r = 0; r < R; ++r) {
    double const gradient = 1 - phi[r];
    double const least = math::abs(b[r] < gradient ? b[r] : gradient);
    if (!(least <= largest)) largest = least;
    if (largest - largest != 0) return largest;  // NaN or infinite
  }
  return largest;
}

/// Variables at most this far from 0 whose gradient is positive are held: min(epsilon,
/// ||b - P(b - gradient)||). Bertsekas, SIAM J. Control Optim. 20(2), 1982.
KOKKOS_INLINE_FUNCTION double active_width(int R, RowVectors const& v, double epsilon) {
  double const squares = sum_by_each(R, [&](int r) {
    double const b = v.point[r], gradient = 1 - v.phi[r];
    double const change = b < gradient ? b : gradient;
    return change * change;
  });
  return squares < epsilon * epsilon ? math::sqrt(squares) : epsilon;
}

/// The iteration that both methods share: start, line search, stop. The pieces between which the
/// objective is evaluated at v.trial; they end with a barrier.
template <class MethodType>
struct RowIteration {
  using Method = MethodType;

  // Steps of length 1, 1/2, 1/8, 1/32, ... are tried; the attempt after them lifts entries that are
  // too low, or is multiplicative.
  static constexpr int lengths = 6;
  static constexpr double most_phi = 100;  // past it, a point is far from the solution (phi <= 1)
  static constexpr double sufficient = 1e-4;  // decrease, of what the slope promises (Armijo)

  Method method;
  int R;
  int inner_iterations;
  double tolerance;

  KOKKOS_INLINE_FUNCTION int P() const { return (R + 7) / 8 * 8; }

  /// The objective was evaluated at v.trial = v.point, the start. A model that is 0 at a nonzero is
  /// raised, and wants another evaluation. Then the start is scaled to the sum of the row's x,
  /// which is the minimum along the ray, where all that was evaluated is known.
  template <class Member>
  KOKKOS_FUNCTION void start(Member const& team, RowVectors const& v, RowScalars& s) const {
    if (s.phase != RowPhase::start) return;
    double const total = sum_by_each(R, [&](int r) { return v.trial[r]; });
    s.mass = v.sums[P() + 1];
    double const logarithms = v.sums[P()];
    if (!s.raised) s.violation = kkt_violation(R, v.trial, v.sums);
    bool const is_finite = logarithms - logarithms == 0;
    bool const is_lost = total - total != 0 || (!is_finite && s.raised);  // NaN was given
    if (!(s.mass > 0) || is_lost) {  // no nonzero counts: b = 0
      s.moved = !is_lost;
      for_entries(team, [&](int r) { v.point[r] = v.phi[r] = 0; });
      s.phase = RowPhase::done;
    } else if (!is_finite) {
      double const kept = total > 0 ? 0.9 * s.mass / total : 0;
      double const added = (kept > 0 ? 0.1 : 1) * s.mass / R;
      team.team_barrier();
      for_entries(team, [&](int r) { v.trial[r] = (kept > 0 ? kept * v.trial[r] : 0) + added; });
      s.raised = true;
    } else if (!s.raised && s.violation <= tolerance) {
      s.phase = RowPhase::done;
    } else {
      double const scale = s.mass / total;
      team.team_barrier();
      for_entries(team, [&](int r) {
        v.point[r] = scale * v.trial[r];
        v.phi[r] = v.sums[r] / scale;
      });
      s.value = s.mass - (logarithms + s.mass * math::log_of_normal(scale));
      s.phase = RowPhase::at_point;
      s.moved = true;
      method.start(s);
      team.team_barrier();
      settle(v, s);
    }
    team.team_barrier();
  }

  /// v.trial <- the point that this attempt of the line search tries; the last never raises f. It
  /// is a multiplicative update, or where entries are too low for that, as zeros are, these alone
  /// are lifted by 1 / (R phi). Together they at most double the model of a count of 1 or more, so
  /// that f falls by (phi / 2 - 1) / (R phi) each at least. Steps that are measured by the row's
  /// mass are too long for such entries where one count is larger than the others by orders of
  /// magnitude.
  template <class Member>
  KOKKOS_FUNCTION void propose(Member const& team, RowVectors const& v, RowScalars& s,
                               int attempt) const {
    if (s.phase == RowPhase::done) return;
    s.phase = RowPhase::searching;
    double const length = attempt == 0 ? 1.0 : 2.0 / (1 << 2 * attempt);
    bool lifts = false;
    if (attempt == lengths)
      for (int r = 0; r < R; ++r) lifts = lifts || is_low(v, r);
    for_entries(team, [&](int r) {
      double entry = v.point[r];
      if (attempt < lengths)
        entry += length * v.step[r];
      else if (!lifts)
        entry *= v.phi[r];
      else if (is_low(v, r))
        entry += 1 / (R * v.phi[r]);
      v.trial[r] = entry > 0 ? entry : 0;
    });
    team.team_barrier();
  }

  /// Whether an entry should grow by more than a multiplicative update lets it, see propose.
  KOKKOS_INLINE_FUNCTION bool is_low(RowVectors const& v, int r) const {
    return v.phi[r] > 2 && v.point[r] * R * v.phi[r] < 1;
  }

  /// Accepts v.trial, where the objective was evaluated, or not.
  template <class Member>
  KOKKOS_FUNCTION void judge(Member const& team, RowVectors const& v, RowScalars& s,
                             int attempt) const {
    double const total = sum_by_each(R, [&](int r) { return v.trial[r]; });
    double const slope =
        sum_by_each(R, [&](int r) { return (1 - v.phi[r]) * (v.trial[r] - v.point[r]); });
    double const value = total - v.sums[P()];
    double const rounding =
        1e-15 * (math::abs(s.value) + 2 * sum_by_each(R, [&](int r) { return v.point[r]; }));
    if (attempt == 0 && !s.is_out_of_core) method.learn(s, value);
    bool const accepted =
        attempt < lengths
            ? slope <= 0 && value <= s.value + sufficient * slope + rounding && is_balanced(v)
            : value <= s.value + rounding;
    if (accepted) {
      method.remember(team, v, s, R);
      team.team_barrier();
      for_entries(team, [&](int r) {
        v.point[r] = v.trial[r];
        v.phi[r] = v.sums[r];
      });
      s.value = value;
      team.team_barrier();
    }
    if (accepted || attempt == lengths) {
      ++s.steps;
      s.phase = accepted ? RowPhase::at_point : RowPhase::done;
      if (s.steps >= inner_iterations) s.phase = RowPhase::done;
      settle(v, s);
    }
    team.team_barrier();
  }

  /// False where the model at some nonzero has become much too small: phi must be <= 1 in the end,
  /// steps can double the model at most, and so steps from there would take long.
  KOKKOS_INLINE_FUNCTION bool is_balanced(RowVectors const& v) const {
    double before = most_phi, after = 0;
    for (int r = 0; r < R; ++r) {
      if (v.phi[r] > before) before = v.phi[r];
      if (v.sums[r] > after) after = v.sums[r];
    }
    return after <= before;
  }

  /// Decides at a new point whether it is a solution, or so far from one that Newton's model is of
  /// no use.
  KOKKOS_INLINE_FUNCTION void settle(RowVectors const& v, RowScalars& s) const {
    if (kkt_violation(R, v.point, v.phi) <= tolerance) s.phase = RowPhase::done;
    s.is_out_of_core = false;
    for (int r = 0; r < R; ++r)
      if (v.phi[r] > most_phi) s.is_out_of_core = true;
  }

  /// v.step <- the step from a point that is far from the solution: to the multiplicative update,
  /// which corrects entries that are too small by orders of magnitude, and a little up from 0.
  template <class Member>
  KOKKOS_FUNCTION void direct_from_afar(Member const& team, RowVectors const& v,
                                        RowScalars const& s) const {
    double const nudge = 1e-4 * s.mass / R;
    for_entries(team, [&](int r) {
      double const rise = v.phi[r] - 1;
      v.step[r] = v.point[r] * rise + nudge * (rise < 1 ? rise : 1);
    });
    team.team_barrier();
  }

  template <class Member, class Body>
  KOKKOS_INLINE_FUNCTION void for_entries(Member const& team, Body const& body) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, R), body);
  }
};

}  // namespace sporades::detail
