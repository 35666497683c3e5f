// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/phi/baselines/atomic.hpp>
#include <sporades/kernels/detail/phi/fused.hpp>
#include <sporades/kernels/detail/phi/pull.hpp>

/// The multiplier of CP-APR's updates on mode n:
///   Phi = (X_(n) / max(B Pi, epsilon)) Pi^T, of the model M_(n) = B Pi
///   V(i, r) = sum over nonzeros p with i_n = i of
///               x_p / max(sum_s B(i, s) pi_p(s), epsilon) pi_p(r),
///   pi_p(r) = prod_{m != n} A_m(i_m, r)
/// X: I_0 x ... x I_{N-1}, values >= 0. A[m]: I_m x R; A[n] is not read unless it is B. B: I_n x R,
/// the factor of mode n times the weights. V: I_n x R, overwritten, aliases neither B nor an A[m].
/// Any order from 1 to 16, any R. (2 N + 2) R nnz flops where pi is computed twice, 4 R nnz where
/// it is stored. Enqueued on exec, does not fence.
/// Throws Error if the shapes disagree, n is not in [0, N), epsilon is not positive, or X does not
/// allow the strategy.
/// Chi & Kolda, SIAM J. Matrix Anal. Appl. 33(4), 2012, Algorithm 3; Anderson et al. 2021,
/// Algorithms 2 and 3.

namespace sporades {

/// How Phi adds up output rows. `pull` reads nonzeros sorted by row, `alto` in a linear order; they
/// give the same bits on every run and thread count; `alto` is refused on GPUs, and where rows are
/// used too seldom. `alto_atomic` adds atomically there and is `alto` elsewhere; `atomic` takes
/// nonzeros in any order, and its bits change as well.
enum class PhiStrategy { automatic, atomic, pull, alto, alto_atomic };

namespace detail {

/// Of every strategy, in the order of the enumeration.
inline constexpr char const* phi_strategy_names[] = {"automatic", "atomic", "pull", "alto",
                                                     "alto-atomic"};

}  // namespace detail

/// Where pi comes from: computed where it is read, or kept, nnz x R numbers, from one call of
/// update_pi to the next.
enum class Pi { on_the_fly, stored };

/// The name that phi_strategy knows.
inline char const* to_string(PhiStrategy strategy) {
  return detail::phi_strategy_names[static_cast<int>(strategy)];
}

/// The strategy of that name. Throws Error where there is none.
inline PhiStrategy phi_strategy(std::string const& name) {
  int number = 0;
  for (char const* known : detail::phi_strategy_names) {
    if (name == known) return static_cast<PhiStrategy>(number);
    ++number;
  }
  fail("there is no strategy ", name, " of Phi");
}

/// "stored" or "on-the-fly".
inline char const* to_string(Pi pi) {
  return pi == Pi::stored ? "stored" : "on-the-fly";
}

namespace detail {

/// The shapes of A's other factors and of V; see Phi.
template <class Scalar, class MemorySpace>
void check_phi(Dims const& dims, Factors<Scalar, MemorySpace> const& A, int n,
               Matrix<Scalar, MemorySpace> const& B, double epsilon,
               Matrix<Scalar, MemorySpace> const& V) {
  int const N = static_cast<int>(dims.size());
  expects(n >= 0 && n < N, "phi: mode ", n, " of a tensor of order ", N);
  expects(static_cast<int>(A.size()) == N, "phi: ", A.size(), " factors for order ", N);
  expects(V.extent(0) == dims[n], "phi: V has ", V.extent(0), " rows, mode ", n, " has ", dims[n]);
  expects(B.extent(0) == dims[n] && B.extent(1) == V.extent(1), "phi: B is ", B.extent(0), " x ",
          B.extent(1), ", V is ", V.extent(0), " x ", V.extent(1));
  expects(B.data() != V.data() || V.span() == 0, "phi: V is B");
  for (int m = 0; m < N; ++m) {
    if (m == n) continue;
    expects(A[m].extent(0) == dims[m], "phi: A[", m, "] has ", A[m].extent(0), " rows, mode ", m,
            " has ", dims[m]);
    expects(A[m].extent(1) == V.extent(1), "phi: A[", m, "] has ", A[m].extent(1),
            " columns, V has ", V.extent(1));
    expects(A[m].data() != V.data() || V.span() == 0, "phi: V is A[", m, "]");
  }
  expects(epsilon > 0 && static_cast<Scalar>(epsilon) > 0 && epsilon - epsilon == 0,
          "phi: epsilon ", epsilon, " is not a positive number of this precision");
}

}  // namespace detail

/// On a COO tensor in any order, strategy `atomic` and pi on the fly; for the others see
/// kernels/phi_plan.hpp. X's indices are trusted: check_coordinates checks them.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void phi(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
         Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& B,
         double epsilon, Matrix<Scalar, MemorySpace> const& V) {
  detail::check_phi(X.dims, A, n, B, epsilon, V);
  detail::phi_atomic(exec, X, detail::coo_pi(X, A, n), n, B, static_cast<Scalar>(epsilon), V);
}

}  // namespace sporades
