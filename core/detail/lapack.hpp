// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <vector>

namespace sporades::detail {

/// Small symmetric problems on the host, in double, through LAPACK. Matrices are n x n, stored
/// whole (symmetric, so row- and column-major are the same). All run on one thread of the BLAS
/// where it is OpenBLAS or MKL: their factorisations give other bits on other thread counts.

/// H = sum_j values[j] vectors[j] vectors[j]^T.
struct SymmetricEigen {
  std::vector<double> values;   // n, ascending (of leading_eigen: descending)
  std::vector<double> vectors;  // n x n, row j is the eigenvector of values[j]
};

/// Eigenvalues and eigenvectors of H (dsyev). Throws RunError if the iteration fails or H holds
/// NaN.
SymmetricEigen symmetric_eigen(std::vector<double> const& H, int n);

/// The `count` largest eigenvalues of H, descending, and their eigenvectors, row j that of
/// values[j] (dsyevr). Throws Error unless 0 <= count <= n, RunError as symmetric_eigen.
SymmetricEigen leading_eigen(std::vector<double> const& H, int n, int count);

struct SymmetricInverse {
  std::vector<double> inverse;  // n x n
  bool is_pseudo;               // H was numerically singular
  int rank;                     // eigenvalues kept; n unless is_pseudo
  double reciprocal_condition;  // estimate in the 1-norm; 0 where Cholesky broke down
};

/// (H + ridge I)^-1 of a positive semidefinite H: by Cholesky (dpotrf, dpotri) where dpocon finds a
/// reciprocal condition of at least n epsilon, else the pseudo-inverse from dsyev without the
/// eigenvalues <= n epsilon max. epsilon: relative error of the right-hand sides to come.
/// Throws RunError if H holds NaN or infinity.
SymmetricInverse inverse_or_pseudo_inverse(std::vector<double> H, int n, double ridge = 0,
                                           double epsilon = std::numeric_limits<double>::epsilon());

/// S (n x n, row-major) with (Y S)^T (Y S) = I for any Y with Y^T Y = G; the columns of S that
/// belong to directions which Y lacks (relative to its own column lengths) are zero and come last.
std::vector<double> orthonormalizer(std::vector<double> const& G, int n);

/// S (n x n, row-major, upper triangular) such that the columns of Y S are those of Y after
/// Gram-Schmidt in their order, for any Y with Y^T Y = G; zero are the columns of S where Y's lies,
/// to a relative `threshold` of its squared length, in the span of those before it. n^4 flops up to
/// 64 columns; past that n^3, unless a column lies in that span and is not itself zero.
std::vector<double> gram_schmidt(std::vector<double> const& G, int n, double threshold);

}  // namespace sporades::detail
