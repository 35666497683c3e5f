// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/column_tiles.hpp>

/// Loops over the columns of a row by the vector lanes of a thread of a team: on GPUs by Kokkos, on
/// CPUs by the compiler, which makes vectors of `#pragma omp simd` loops and tiles only.

namespace sporades::detail {

/// body(r) for 0 <= r < n by the vector lanes of one thread.
template <class Member, class Body>
KOKKOS_FORCEINLINE_FUNCTION void for_columns(Member const& team, int n, Body const& body) {
  if constexpr (is_gpu<typename Member::execution_space>) {
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n), body);
  } else {
#pragma omp simd
    for (int r = 0; r < n; ++r) body(r);
  }
}

/// The sum of term(r), 0 <= r < n, by the vector lanes of one thread, which all get it.
template <class Member, class Term>
KOKKOS_FORCEINLINE_FUNCTION double sum_columns(Member const& team, int n, Term const& term) {
  double total = 0;
  if constexpr (is_gpu<typename Member::execution_space>) {
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, n), [&](int r, double& sum) { sum += term(r); }, total);
  } else {
#pragma omp simd reduction(+ : total)
    for (int r = 0; r < n; ++r) total += term(r);
  }
  return total;
}

/// The sum of term(r), 0 <= r < n, computed by every thread and lane of a team for itself.
template <class Term>
KOKKOS_FORCEINLINE_FUNCTION double sum_by_each(int n, Term const& term) {
  double total = 0;
#pragma omp simd reduction(+ : total)
  for (int r = 0; r < n; ++r) total += term(r);
  return total;
}

/// a . b of `columns` entries (a multiple of 8) by the vector lanes of one thread, which all get
/// it.
template <class Member>
KOKKOS_FORCEINLINE_FUNCTION double dot_columns(Member const& team, int columns, double const* a,
                                               double const* b) {
  if constexpr (is_gpu<typename Member::execution_space>) {
    return sum_columns(team, columns, [&](int r) { return a[r] * b[r]; });
  } else {
    using T = Tile<double, 8>;
    T total;
    total.fill(0);
    for (int r = 0; r < columns; r += 8)
      total.add_product(load_tile<double, 8>(a + r), load_tile<double, 8>(b + r));
    return ((total[0] + total[4]) + (total[2] + total[6])) +
           ((total[1] + total[5]) + (total[3] + total[7]));
  }
}

/// sum += weight[0] rows[0] + weight[1] rows[1] + ... of `columns` entries (a multiple of 8) by the
/// vector lanes of one thread.
template <class Member>
KOKKOS_FORCEINLINE_FUNCTION void add_rows(Member const& team, int columns, int count,
                                          double const* weight, double const* rows, double* sum) {
  if constexpr (is_gpu<typename Member::execution_space>) {
    for (int q = 0; q < count; ++q)
      for_columns(team, columns, [&](int r) { sum[r] += weight[q] * rows[q * columns + r]; });
  } else {
    for (int r = 0; r < columns; r += 8) {
      auto total = load_tile<double, 8>(sum + r);
      for (int q = 0; q < count; ++q)
        total.add_product(weight[q], load_tile<double, 8>(rows + q * columns + r));
      store_tile(total, sum + r);
    }
  }
}

/// body(r) for 0 <= r < n, n not known in advance, in runs of a constant length on CPUs.
template <class Member, class Body>
KOKKOS_FORCEINLINE_FUNCTION void for_columns_in_runs(Member const& team, int n, Body const& body) {
  if constexpr (is_gpu<typename Member::execution_space>) {
    for_columns(team, n, body);
  } else {
    int r = 0;
    for (; r + 8 <= n; r += 8) {
#pragma omp simd
      for (int j = 0; j < 8; ++j) body(r + j);
    }
    for (; r < n; ++r) body(r);
  }
}

}  // namespace sporades::detail
