// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <vector>

namespace sporades::detail {

/// Small symmetric problems, solved on the host, in double, by LAPACK. Matrices are n x n and
/// stored as a whole; since they are symmetric, row-major and column-major are the same. OpenBLAS
/// and MKL are limited to one thread meanwhile, because their factorisations give different bits on
/// different numbers of threads.

/// H = sum_j values[j] vectors[j] vectors[j]^T.
struct SymmetricEigen {
  std::vector<double> values;   // ascending; descending from leading_eigen
  std::vector<double> vectors;  // row j, of length n, is the eigenvector of values[j]
};

/// All eigenvalues and eigenvectors of H (LAPACK's dsyev). Throws RunError if the iteration fails
/// or H holds NaN.
SymmetricEigen symmetric_eigen(std::vector<double> const& H, int n);

/// The `count` largest eigenvalues of H, descending, and their eigenvectors (LAPACK's dsyevr).
/// Throws Error unless 0 <= count <= n, and RunError as symmetric_eigen does.
SymmetricEigen leading_eigen(std::vector<double> const& H, int n, int count);

struct LeadingSingular {
  std::vector<double> values;   // descending
  std::vector<double> vectors;  // row j, of length `rows`, is the left singular vector of values[j]
};

/// The `count` largest singular values of A, rows x columns row by row, and their left singular
/// vectors (LAPACK's dgesdd). Takes three times the memory of A. Throws Error unless 0 <= count <=
/// min(rows, columns), and RunError if the iteration fails or A holds NaN or infinity.
LeadingSingular leading_left_vectors(std::vector<double> A, int rows, int columns, int count);

struct SymmetricInverse {
  std::vector<double> inverse;  // n x n; where is_factor: U
  bool is_pseudo;               // H was numerically singular: this is its pseudo-inverse
  int rank;                     // eigenvalues kept; n unless is_pseudo
  double reciprocal_condition;  // estimated in the 1-norm; 0 if Cholesky's factorisation failed
  bool is_factor = false;       // the inverse is U U^T, U upper triangular
};

/// (H + ridge I)^-1 for a positive semidefinite H.
/// - If the reciprocal condition (LAPACK's dpocon) is at least n epsilon: by Cholesky's
/// factorisation
///   (dpotrf, dpotri).
/// - Else: the pseudo-inverse from dsyev, without eigenvalues <= n epsilon times the largest.
/// epsilon: relative error of the right-hand sides that the inverse will be applied to.
/// may_factor: where the reciprocal condition is below the square root of double's epsilon, gives U
/// with inverse = U U^T instead. V U U^T from left to right is the solution for rows V up to the
/// root of the condition times epsilon; V times the rounded inverse, up to the condition times it.
/// Throws RunError if H holds NaN or infinity.
SymmetricInverse inverse_or_pseudo_inverse(std::vector<double> H, int n, double ridge = 0,
                                           double epsilon = std::numeric_limits<double>::epsilon(),
                                           bool may_factor = false);

/// S (n x n, row-major) with (Y S)^T (Y S) = I for every Y with Y^T Y = G. If Y has a rank below n,
/// relative to the lengths of its columns, then as many of the last columns of S are zero.
std::vector<double> orthonormalizer(std::vector<double> const& G, int n);

/// Gram-Schmidt: S (n x n, row-major, upper triangular) such that the columns of Y S are the
/// columns of Y made orthonormal one after another, for every Y with Y^T Y = G. A column of S is
/// zero if that column of Y is, up to `threshold` of its squared length, a combination of those
/// before it. Takes n^4 flops for n <= 64. For larger n it takes n^3 flops, except if a nonzero
/// column of Y is such a combination: then n^4.
std::vector<double> gram_schmidt(std::vector<double> const& G, int n, double threshold);

}  // namespace sporades::detail
