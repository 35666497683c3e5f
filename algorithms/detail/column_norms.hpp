// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/algorithms/components.hpp>
#include <sporades/algorithms/detail/column_signs.hpp>
#include <sporades/core/detail/dense.hpp>

namespace sporades::detail {

/// B(i, r) = |A(i, r)| / by(r)
template <class MatrixType>
struct ScaledMagnitudes {
  using Scalar = typename MatrixType::non_const_value_type;

  MatrixType A, B;                                              // I x R
  Kokkos::View<double*, typename MatrixType::memory_space> by;  // R

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    for (std::uint64_t r = 0; r < A.extent(1); ++r)
      B(i, r) = static_cast<Scalar>(math::abs(static_cast<double>(A(i, r))) / by(r));
  }
};

/// The lengths of A's columns, in double and in an order that A's shape alone gives. Columns are
/// scaled by powers of two first, so that no square overflows or vanishes. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
std::vector<double> column_norms(ExecutionSpace const& exec, Matrix<Scalar, MemorySpace> const& A,
                                 ColumnNorm norm) {
  std::vector<double> norms, by;
  for (auto const extreme : column_extremes(exec, A))
    norms.push_back(std::abs(static_cast<double>(extreme)));
  if (norm == ColumnNorm::max || norms.empty() || A.extent(0) == 0) return norms;
  for (double const largest : norms) by.push_back(std::ldexp(1.0, binary_exponent(largest)));
  std::size_t const R = norms.size();
  auto const B = make_matrix<Scalar>(exec, "sporades::column_norms::scaled", A.extent(0), R);
  launch_items(exec, "sporades::column_norms::scale", A.extent(0),
               ScaledMagnitudes<Matrix<Scalar, MemorySpace>>{
                   A, B, to_view(exec, "sporades::column_norms::by", by)});
  Workspace<MemorySpace> workspace;
  auto const sums =
      uninitialized<Kokkos::View<double*, MemorySpace>>(exec, "sporades::column_norms::sums", R);
  if (norm == ColumnNorm::one)
    column_sums(exec, B, sums, workspace);
  else
    column_dots(exec, B, B, sums, workspace);
  auto const host = to_vector(exec, sums);
  for (std::size_t r = 0; r < R; ++r)
    norms[r] = by[r] * (norm == ColumnNorm::one ? host[r] : std::sqrt(host[r]));
  return norms;
}

}  // namespace sporades::detail
