// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <sporades/core/detail/dense.hpp>
#include <sporades/core/detail/lapack.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/random.hpp>

namespace sporades::detail {

/// Small matrices between host and device, and tall ones made orthonormal, with memory that is
/// allocated once a size.
template <class ExecutionSpace, class Scalar>
class TallMatrices {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  using MatrixType = Matrix<Scalar, Memory>;
  using Square = Kokkos::View<double**, Kokkos::LayoutRight, Memory>;

  explicit TallMatrices(ExecutionSpace const& exec) : exec_(exec) {}

  /// A^T A on the host, row by row. A may be the rows that are here of a distributed matrix: then
  /// this is collective. Fences exec.
  std::vector<double> gram_on_host(MatrixType const& A, RowMap const& rows = {}) {
    auto const n = A.extent(1);
    auto const G = square(n);
    gram(exec_, A, G, workspace_, rows);
    auto const host = Kokkos::create_mirror_view(G);
    copy_view(exec_, host, G);
    fence(exec_, "sporades::tucker::gram_on_host");
    return std::vector<double>(host.data(), host.data() + n * n);
  }

  /// The rows x columns matrix of these entries on the device. Fences exec.
  MatrixType on_device(std::vector<double> const& entries, std::size_t rows, std::size_t columns) {
    std::vector<Scalar> const rounded(entries.begin(), entries.end());
    return matrix_of(exec_, "sporades::tucker::small", rounded, rows, columns);
  }

  /// A's columns become orthonormal in their order, each changed by those before it alone: by
  /// Gram-Schmidt on A^T A, done twice, so that they are to rounding. A column that is in the
  /// span of those before it is replaced by random numbers, and made orthogonal to all. A may be
  /// the rows that are here of a distributed matrix: then this is collective. Fences exec. Throws
  /// RunError if that fails, as where A has more columns than rows.
  void orthonormalize(MatrixType& A, std::uint64_t seed, int mode, RowMap const& rows = {}) {
    auto const columns = static_cast<int>(A.extent(1));
    constexpr int most_passes = 12;
    int good = 0;
    for (int pass = 0; pass < most_passes && good < 2; ++pass) {
      // What sums in Scalar leave of a dependent column is their rounding.
      double const threshold = 256 * columns * double{std::numeric_limits<Scalar>::epsilon()};
      auto const S = gram_schmidt(gram_on_host(A, rows), columns, threshold);
      MatrixType const B =
          make_matrix<Scalar>(exec_, "sporades::tucker::basis", A.extent(0), A.extent(1));
      multiply(exec_, A, on_device(S, A.extent(1), A.extent(1)), B);
      ++good;
      for (int r = 0; r < columns; ++r) {
        if (S[static_cast<std::size_t>(r) * columns + r] != 0) continue;
        good = 0;
        auto const column = Kokkos::subview(B, Kokkos::ALL, std::make_pair(r, r + 1));
        launch_items(exec_, "sporades::tucker::fill_column", A.extent(0),
                     FillRandom<Scalar, Memory>{column, seed + 1000003 * (pass + 1) + r,
                                                static_cast<std::uint64_t>(mode), rows.first()});
      }
      A = B;
    }
    if (good < 2)
      throw RunError(concatenate("tucker: no ", columns, " orthonormal columns of ",
                                 rows.all(A.extent(0)), " rows were found for mode ", mode));
  }

  Workspace<Memory>& workspace() { return workspace_; }
  ExecutionSpace const& exec() const { return exec_; }

 private:
  Square square(std::size_t n) {
    if (square_.extent(0) != n)
      square_ = Square(Kokkos::view_alloc(exec_, "sporades::tucker::gram"), n, n);
    return square_;
  }

  ExecutionSpace exec_;
  Square square_;
  Workspace<Memory> workspace_;
};

}  // namespace sporades::detail
