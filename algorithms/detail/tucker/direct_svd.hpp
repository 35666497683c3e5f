// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <sporades/algorithms/detail/tucker/gpu_unfolding.hpp>
#include <sporades/core/detail/cusolver.hpp>
#include <sporades/core/detail/lapack.hpp>
#include <sporades/core/detail/memory_count.hpp>
#include <sporades/core/error.hpp>

/// The leading left singular vectors of a matrix by an SVD of the matrix itself: by cuSOLVER where
/// it is linked, else by LAPACK on the host.

namespace sporades::detail {

template <class MatrixType>
struct DirectSvd {
  std::vector<double> values;  // descending
  MatrixType vectors;          // rows x values
};

/// By LAPACK, in double. Fences exec. Throws RunError as leading_left_vectors.
template <class ExecutionSpace, class MatrixType>
DirectSvd<MatrixType> svd_on_host(ExecutionSpace const& exec, MatrixType const& Y, int wanted) {
  using Scalar = typename MatrixType::non_const_value_type;
  std::size_t const rows = Y.extent(0), columns = Y.extent(1);
  auto const k = static_cast<std::size_t>(wanted);
  // Without the padding of rows.
  auto const packed = uninitialized<MatrixType>(exec, "sporades::tucker::packed", rows, columns);
  copy_view(exec, packed, Y);
  auto const host = Kokkos::create_mirror_view(packed);
  copy_view(exec, host, packed);
  fence(exec, "sporades::tucker::svd");
  auto const found =
      leading_left_vectors({host.data(), host.data() + rows * columns}, static_cast<int>(rows),
                           static_cast<int>(columns), wanted);
  std::vector<Scalar> entries(rows * k);  // a vector a column
  for (std::size_t r = 0; r < k; ++r)
    for (std::size_t i = 0; i < rows; ++i)
      entries[i * k + r] = static_cast<Scalar>(found.vectors[r * rows + i]);
  return {found.values, matrix_of(exec, "sporades::tucker::left", entries, rows, k)};
}

/// Where Y is and in its type, by solve(A, s, U, Vt): A = U diag(s) V^T by columns, A is m x n and
/// overwritten, m >= n; what is m x n by columns is an n x m MatrixType. So Y of rows that are no
/// longer than its columns is transposed, and another is A^T as it is: its left vectors are those
/// of Vt. Fences exec. Throws RunError where Y holds NaN or infinity.
template <class ExecutionSpace, class MatrixType, class Solve>
DirectSvd<MatrixType> svd_in_place(ExecutionSpace const& exec, MatrixType const& Y, int wanted,
                                   Solve const& solve) {
  using Scalar = typename MatrixType::non_const_value_type;
  using Values = Vector<Scalar, typename MatrixType::memory_space>;
  std::size_t const rows = Y.extent(0), columns = Y.extent(1);
  auto const k = static_cast<std::size_t>(wanted);
  bool const is_tall = rows >= columns;
  std::size_t const m = std::max(rows, columns), n = std::min(rows, columns);
  auto const left = make_matrix<Scalar>(exec, "sporades::tucker::left", rows, k);
  if (k == 0) return {{}, left};
  auto const A = uninitialized<MatrixType>(exec, "sporades::tucker::svd_matrix", n, m);
  if (is_tall)
    launch_items(exec, "sporades::tucker::transpose", rows * columns,
                 TransposeMatrix<MatrixType>{Y, A});
  else
    copy_view(exec, A, Y);
  auto const U = uninitialized<MatrixType>(exec, "sporades::tucker::svd_left", n, m);
  auto const Vt = uninitialized<MatrixType>(exec, "sporades::tucker::svd_right", n, n);
  auto const s = uninitialized<Values>(exec, "sporades::tucker::svd_values", n);
  solve(A, s, U, Vt);
  auto const leading = std::make_pair(std::size_t{0}, k);
  if (is_tall) {
    MatrixType const vectors = Kokkos::subview(U, leading, Kokkos::ALL);
    launch_items(exec, "sporades::tucker::transpose", k * rows,
                 TransposeMatrix<MatrixType>{vectors, left});
  } else {
    MatrixType const vectors = Kokkos::subview(Vt, Kokkos::ALL, leading);
    copy_view(exec, left, vectors);
  }
  auto const host = Kokkos::create_mirror_view(s);
  copy_view(exec, host, s);
  fence(exec, "sporades::tucker::svd");
  for (std::size_t r = 0; r < n; ++r)
    if (!std::isfinite(host(r))) throw RunError("tucker: an unfolding holds NaN or infinity");
  return {{host.data(), host.data() + k}, left};
}

/// See above. Fences exec. Throws RunError where Y holds NaN or infinity, or the iteration fails.
template <class ExecutionSpace, class MatrixType>
DirectSvd<MatrixType> direct_svd(ExecutionSpace const& exec, MatrixType const& Y, int wanted) {
  if constexpr (has_cusolver<ExecutionSpace>) {
    using Scalar = typename MatrixType::non_const_value_type;
    using Memory = typename MatrixType::memory_space;
    return svd_in_place(
        exec, Y, wanted, [&](auto const& A, auto const& s, auto const& U, auto const& Vt) {
          auto const m = static_cast<int>(A.extent(1)), n = static_cast<int>(A.extent(0));
          int const numbers = cusolver_svd_work<Scalar>(m, n);
          if (numbers < 0)
            throw RunError(
                concatenate("tucker: singular vectors of ", m, " x ", n,
                            " are not found by cuSOLVER's gesvd, but by gram and lanczos"));
          auto const work =
              uninitialized<Vector<Scalar, Memory>>(exec, "sporades::tucker::svd_work", numbers);
          auto const info =
              uninitialized<Vector<int, Memory>>(exec, "sporades::tucker::svd_info", 1);
          cusolver_svd(native_stream(exec, 0), m, n, A.data(), s.data(), U.data(), Vt.data(),
                       work.data(), info.data());
          int const remaining = entry_at(exec, info, 0);
          if (remaining != 0)
            throw RunError(concatenate("tucker: cuSOLVER's gesvd of ", m, " x ", n,
                                       " did not converge: ", remaining,
                                       " superdiagonals are left"));
        });
  } else {
    return svd_on_host(exec, Y, wanted);
  }
}

/// What direct_svd holds at most, the vectors that it gives included.
struct DirectSvdBytes {
  double device, host;
};
template <class ExecutionSpace, class Scalar>
DirectSvdBytes direct_svd_bytes(double rows, double columns, int wanted) {
  double const n = std::min(rows, columns), m = std::max(rows, columns);
  double const vectors = matrix_bytes<Scalar>(rows, wanted);
  if constexpr (has_cusolver<ExecutionSpace>) {
    bool const is_taken = n >= 1 && m <= std::numeric_limits<int>::max();
    double const work =
        is_taken ? std::max(0, cusolver_svd_work<Scalar>(static_cast<int>(m), static_cast<int>(n)))
                 : 0;
    return {vectors + sizeof(Scalar) * (2 * m * n + n * n + n + work), 8 * n};
  } else {
    // A^T, both sides' vectors and LAPACK's work; and the leading ones.
    return {vectors + sizeof(Scalar) * m * n,
            8 * (m * n + (m + n) * n + 8 * n * n + 2 * wanted * rows)};
  }
}

}  // namespace sporades::detail
