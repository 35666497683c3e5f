// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/algorithms/detail/cp_apr/lane_loops.hpp>
#include <sporades/core/detail/logarithm.hpp>

namespace sporades::detail {

/// The objective of a row subproblem of CP-APR over some of the row's nonzeros,
///   f(b) = sum_r b_r - sum_p x_p log m_p,  m_p = sum_r b_r pi_p(r),
///   pi_p(r) = prod_{m != n} A_m(i_m, r),
/// and its derivatives, by one team, in double:
///   df/db_r = 1 - phi_r,  phi_r = sum_p x_p pi_p(r) / m_p,
///   d2f/db_r db_s = sum_p x_p pi_p(r) pi_p(s) / m_p^2.
/// Vectors have P = padded(R) entries, zeros in the end. The order of additions does not depend on
/// the size of the team: nonzeros are dealt to `lanes` lanes whose sums are added in order. Chi &
/// Kolda, SIAM J. Matrix Anal. Appl. 33(4), 2012; Hansen, Plantenga & Kolda, Optim. Methods
/// Softw. 30(5), 2015.
template <class NonzerosType>
struct RowObjective {
  using Nonzeros = NonzerosType;
  using Scalar = typename Nonzeros::Scalar;

  static constexpr int batch = 32;               // nonzeros whose outer products are added at once
  static constexpr double least_model = 1e-120;  // m_p below it counts as 0: no overflow above it
  static constexpr double guard = 1e-10;         // stands for m_p in phi where m_p counts as 0

  Nonzeros nonzeros;
  int R;
  int lanes;

  static constexpr KOKKOS_INLINE_FUNCTION int padded(int columns) { return (columns + 7) / 8 * 8; }
  /// Nonzeros that a lane takes at once.
  template <class ExecutionSpace>
  static constexpr KOKKOS_INLINE_FUNCTION int together() {
    return is_gpu<ExecutionSpace> ? 1 : 8;
  }
  /// Entries of `sums`: phi, sum of x log m, sum of x.
  KOKKOS_INLINE_FUNCTION int sums() const { return padded(R) + 2; }
  template <class ExecutionSpace>
  KOKKOS_INLINE_FUNCTION int lane_doubles() const {
    return padded(R) * (1 + together<ExecutionSpace>()) + 8;
  }
  /// Doubles of work that evaluate and hessian need.
  template <class ExecutionSpace>
  KOKKOS_INLINE_FUNCTION int work_doubles() const {
    int const in_lanes = lanes * lane_doubles<ExecutionSpace>();
    int const in_tiles = (2 * batch + lanes) * padded(R);
    return in_lanes > in_tiles ? in_lanes : in_tiles;
  }

  /// pi(r) <- pi_p(r)
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void load(Member const& team, Position p, double* pi) const {
    auto const at = [](Scalar const* row, int r) { return static_cast<double>(row[r]); };
    int const others = nonzeros.others, P = padded(R);
    if (others == 0) {
      for_columns_in_runs(team, R, [&](int r) { pi[r] = 1; });
    } else if (others == 1) {
      Scalar const* const first = nonzeros.factor_row(p, 0);
      for_columns_in_runs(team, R, [&](int r) { pi[r] = at(first, r); });
    } else {
      Scalar const* const first = nonzeros.factor_row(p, 0);
      Scalar const* const second = nonzeros.factor_row(p, 1);
      if (others == 2) {
        for_columns_in_runs(team, R, [&](int r) { pi[r] = at(first, r) * at(second, r); });
      } else {
        Scalar const* const third = nonzeros.factor_row(p, 2);
        for_columns_in_runs(team, R,
                            [&](int r) { pi[r] = at(first, r) * at(second, r) * at(third, r); });
        for (int k = 3; k < others; ++k) {
          Scalar const* const next = nonzeros.factor_row(p, k);
          for_columns_in_runs(team, R, [&](int r) { pi[r] *= at(next, r); });
        }
      }
    }
    if (P > R) {  // by the lanes that will read it
      for_columns(team, P, [&](int r) {
        if (r >= R) pi[r] = 0;
      });
    }
  }

  /// The pi of nonzeros begin to end - 1 side by side, P each, which evaluate and hessian then
  /// take. Ends with a barrier.
  template <class Member>
  KOKKOS_FUNCTION void store_pi(Member const& team, Position begin, Position end,
                                double* stored) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(end - begin)), [&](int q) {
      load(team, begin + q, stored + static_cast<std::size_t>(q) * padded(R));
    });
    team.team_barrier();
  }

  /// What a lane adds up besides phi.
  struct Totals {
    double logarithms = 0, mass = 0;
  };

  /// sums <- phi_0 ... phi_{P-1}, sum_p x_p log m_p, sum_p x_p at b, over nonzeros begin to end-1.
  /// Nonzeros whose pi is 0 do not count; where m_p is 0 and pi_p is not, the sum of logarithms is
  /// -infinity, and phi is finite. stored: of store_pi, or null. Ends with a barrier.
  template <class Member>
  KOKKOS_FUNCTION void evaluate(Member const& team, Position begin, Position end, double const* b,
                                double const* stored, double* work, double* sums) const {
    using ExecutionSpace = typename Member::execution_space;
    constexpr int most = together<ExecutionSpace>();
    int const P = padded(R), stride = lane_doubles<ExecutionSpace>();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, lanes), [&](int lane) {
      double* const phi = work + lane * stride;
      double* const own = phi + P + 8;
      for_columns(team, P, [&](int r) { phi[r] = 0; });
      Totals totals;
      for (Position first = begin + lane * most; first < end; first += lanes * most) {
        int const count = static_cast<int>(end - first < most ? end - first : most);
        double const* const pi = stored ? stored + (first - begin) * P : own;
        if (!stored)
          for (int q = 0; q < count; ++q) load(team, first + q, own + q * P);
        add_nonzeros<most>(team, first, count, b, pi, phi, totals);
      }
      Kokkos::single(Kokkos::PerThread(team), [&] {
        phi[P] = totals.logarithms;
        phi[P + 1] = totals.mass;
      });
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, P + 2), [&](int e) {
      double total = 0;
      for (int lane = 0; lane < lanes; ++lane) total += work[lane * stride + e];
      sums[e] = total;
    });
    team.team_barrier();
  }

  /// Adds what `count` nonzeros, of at most `most`, give to phi and the totals. pi: count x P.
  template <int most, class Member>
  KOKKOS_FORCEINLINE_FUNCTION void add_nonzeros(Member const& team, Position first, int count,
                                                double const* b, double const* pi, double* phi,
                                                Totals& totals) const {
    int const P = padded(R);
    double x[most], model[most], weight[most];
    for (int q = 0; q < most; ++q) {
      x[q] = q < count ? nonzeros.value(first + q) : 0;
      model[q] = q < count ? dot_columns(team, P, b, pi + q * P) : 1;
    }
    int regular = 0;
    double logarithms = 0, mass = 0;
#pragma omp simd reduction(+ : regular, logarithms, mass)
    for (int q = 0; q < most; ++q) {
      bool const is_regular = model[q] > least_model;
      double const divisor = is_regular ? model[q] : 1;
      weight[q] = x[q] / divisor;
      logarithms += x[q] * math::log_of_normal(divisor);
      mass += x[q];
      regular += is_regular ? 1 : 0;
    }
    if (regular < most) {
      for (int q = 0; q < count; ++q) {
        if (model[q] > least_model) continue;
        weight[q] = x[q] / guard;
        if (model[q] != model[q]) {
          logarithms = weight[q] = model[q];
        } else if (x[q] > 0 &&
                   sum_columns(team, R, [&](int r) { return pi[q * P + r]; }) > least_model) {
          logarithms = -HUGE_VAL;
        } else {
          mass -= x[q];
          weight[q] = 0;
        }
      }
    }
    totals.logarithms += logarithms;
    totals.mass += mass;
    add_rows(team, P, count, weight, pi, phi);
  }

  /// H(k, j) <- the second derivative by variables free[k] and free[j] at b, over nonzeros begin to
  /// end-1, for j <= k < count; rows of H are padded(count) apart. Ends with a barrier.
  template <class Member>
  KOKKOS_FUNCTION void hessian(Member const& team, Position begin, Position end, double const* b,
                               int const* free, int count, double const* stored, double* work,
                               double* H) const {
    int const stride = padded(count), P = padded(R);
    double* const whole = work;                  // batch x P
    double* const chosen = work + batch * P;     // batch x padded(count)
    double* const lane_pi = chosen + batch * P;  // lanes x P
    double const* const tile = count == R ? whole : chosen;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, count * stride), [&](int e) { H[e] = 0; });
    for (Position first = begin; first < end; first += batch) {
      int const filled = static_cast<int>(end - first < batch ? end - first : batch);
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, lanes), [&](int lane) {
        for (int q = lane; q < filled; q += lanes) {
          double const* pi = lane_pi + lane * P;
          if (stored)
            pi = stored + (first + q - begin) * P;
          else
            load(team, first + q, lane_pi + lane * P);
          double const model = dot_columns(team, P, b, pi);
          double const factor =
              model > least_model ? math::sqrt(nonzeros.value(first + q)) / model : 0;
          double* const row = whole + q * P;
          for_columns(team, P, [&](int r) { row[r] = factor * pi[r]; });
        }
      });
      team.team_barrier();
      if (count < R) {
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, filled), [&](int q) {
          for_columns(team, stride, [&](int k) {
            chosen[q * stride + k] = k < count ? whole[q * P + free[k]] : 0;
          });
        });
        team.team_barrier();
      }
      add_outer_products(team, tile, filled, count, stride, H);
      team.team_barrier();
    }
  }

  /// H += sum over the tile's rows y of y y^T, in blocks that meet the lower triangle.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void add_outer_products(Member const& team, double const* tile,
                                                      int filled, int count, int stride,
                                                      double* H) const {
    constexpr int width = is_gpu<typename Member::execution_space> ? 4 : 8;
    constexpr int height = 4;
    int const rows = (count + height - 1) / height, columns = stride / width;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, rows * columns), [&](int block) {
      int const i = block / columns * height, j = block % columns * width;
      if (j >= i + height || j >= count) return;
      add_block<height, width>(tile, filled, count, stride, i, j, H);
    });
  }

  template <int height, int width>
  static KOKKOS_INLINE_FUNCTION void add_block(double const* tile, int filled, int count,
                                               int stride, int i, int j, double* H) {
    using T = Tile<double, width>;
    T total[height];
    for (int k = 0; k < height; ++k) total[k].fill(0);
    for (int q = 0; q < filled; ++q) {
      double const* const y = tile + q * stride;
      T const row = load_tile<double, width>(y + j);
      for (int k = 0; k < height; ++k) total[k].add_product(y[i + k], row);
    }
    for (int k = 0; k < height && i + k < count; ++k)
      for (int c = 0; c < width; ++c) H[(i + k) * stride + j + c] += total[k][c];
  }
};

}  // namespace sporades::detail
