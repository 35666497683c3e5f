// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/matrix.hpp>
#include <sporades/kernels/mttkrp_plan.hpp>

/// The least-squares problem of each row of a factor where absent entries are missing, so that each
/// row has a matrix of its own. For row i of mode n, sums over the nonzeros p of X with that index:
///   H_i = sum_p k_p k_p^T,   v_i = sum_p x_p k_p,
///   k_p = the elementwise product of the rows of all other factors that nonzero p names,
/// and then a_i, which solves (H_i + mu I) a_i = v_i: it minimises
///   sum_p (x_p - k_p . a_i)^2 + mu ||a_i||^2,
/// or more than that: see RowPenalty.
///
///   auto plan = make_mttkrp_plan(exec, X, options);  // of strategy sorted or fibers
///   auto const S = make_matrix<double>(exec, "S", X.dims[n], normal_columns(R));
///   normal_equations(exec, plan, A, n, S);
///   solve_normal_equations(exec, S, {mu}, A[n]);
/// With them alternating least squares fit a CP model to the entries that are known: Tomasi & Bro,
/// Chemometrics 75(2), 2005; Zhou et al., AAIM 2008.

namespace sporades {

/// The most columns of factors that normal equations take.
inline constexpr int most_normal_rank = 1024;

/// Columns of S for factors of R columns. With P = R rounded up to a multiple of four: P (P + 4) /
/// 2 for the lower triangle of H_i in blocks of 4 x 4, block (I, J) from column 16 (I (I + 1) / 2 +
/// J) on, row by row; then P for v_i.
constexpr std::size_t normal_columns(int R) {
  std::size_t const P = padded_columns(static_cast<std::size_t>(R));
  return P * (P + 4) / 2 + P;
}

/// H_i and v_i of every row of mode n. A[m]: I_m x R; A[n] is not read. S: I_n x normal_columns(R)
/// made by make_matrix, overwritten; rows without nonzeros become 0. What is past R in a block has
/// no meaning. About nnz (R^2 / 2 + N R) multiply-adds, and I_n (R^2 / 2) numbers written. Bits are
/// the same on every run and number of threads and processes, and where nonzeros are streamed.
/// Enqueued on exec, fences where mttkrp of the plan does. Collective where processes share the
/// plan. Throws Error if shapes disagree, R is over most_normal_rank, or the plan has not strategy
/// sorted or fibers for mode n.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void normal_equations(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan,
                      Factors<Scalar, MemorySpace> const& A, int n,
                      Matrix<Scalar, MemorySpace> const& S);

/// What the solution of row i minimises beside the squares of its nonzeros:
///   sum over j < free of  mu c_i^power a_ij^2
///                         + smoothness times the squares of differences that have a_ij in them
///   and  offset_mu c_i^power a_ij^2  of j = offset
/// Differences of neighbouring rows: a_kj - a_{k-1,j}, or second ones, a_{k-1,j} - 2 a_kj +
/// a_{k+1,j}.
struct RowPenalty {
  double mu = 0;
  int free = -1;    // how many coefficients are free, from column 0 on; -1: all
  int offset = -1;  // a column past these that is free, too, or -1: where the other factors have
                    // ones in it, its entry of H_i is c_i, the number of row i's nonzeros
  double offset_mu = 0;
  double power = 0;       // 0, or with an offset up to 1
  double smoothness = 0;  // neighbouring rows are not solved together, but one group after another
  int differences = 1;    // first ones: two groups, of every second row; 2: second ones, three
};

/// a_i of every row. S: I x normal_columns(R) of normal_equations; A: I x R, overwritten, except
/// coefficients that are not free, which are read. In double, by Cholesky's factorisation.
/// Coefficients that neither the nonzeros of a row nor the penalty determine, as their pivot is
/// less than 32 R roundings of a Scalar, are 0, and so are, where the penalty is not smooth, all of
/// a row without nonzeros, or whose H_i is near the least number that a Scalar holds. About I F^3 /
/// 6 multiply-adds for F free coefficients. Bits are the same on every run and number of threads.
/// Fences exec; hosts allocate 4 F^2 doubles a thread, and GPUs, where teams' scratch memory has no
/// room for F^2 / 2 doubles, up to 1 GiB. Throws Error if shapes disagree, a number of the penalty
/// is negative or not finite, its power is over 1 or without an offset, its differences are neither
/// 1 nor 2, or its columns are none of A's.
/// - residue: none, or I x R: becomes v_i - H_i a_i / 2, whose dot product with a_i is half of what
///   the row explains of sum_p x_p^2.
template <class ExecutionSpace, class Scalar, class MemorySpace>
void solve_normal_equations(ExecutionSpace const& exec, Matrix<Scalar, MemorySpace> const& S,
                            RowPenalty const& penalty, Matrix<Scalar, MemorySpace> const& A,
                            Matrix<Scalar, MemorySpace> const& residue = {});

}  // namespace sporades

#include <sporades/kernels/detail/normal_equations/run_normal_equations.hpp>
