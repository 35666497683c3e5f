// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/mttkrp.hpp>
#include <sporades/kernels/phi_plan.hpp>

/// Phi, the multiplier of CP-APR's updates on mode n:
///   Phi = (X_(n) / max(B Pi, epsilon)) Pi^T, of the model M_(n) = B Pi
///   V(i, r) = sum over nonzeros p with i_n = i of
///               x_p / max(sum_s B(i, s) pi_p(s), epsilon) pi_p(r),
///   pi_p(r) = prod_{m != n} A_m(i_m, r)
/// X: I_0 x ... x I_{N-1}, values >= 0. A[m]: I_m x R; A[n] is not read unless it is B. B: I_n x R,
/// the factor of mode n times the weights. V: I_n x R, overwritten, aliases neither B nor an A[m].
/// Any order from 1 to 16, any R.
/// Cost: (2 N + 2) R nnz flops where pi is computed twice, 4 R nnz where it is stored; a nonzero
/// reads what it does in MTTKRP, and a row of B.
/// Chi & Kolda, SIAM J. Matrix Anal. Appl. 33(4), 2012, Algorithm 3; Anderson et al. 2021,
/// Algorithms 2 and 3.

namespace sporades {

/// Builds the formats of options.strategy for every mode. X is a CooTensor in any order; duplicates
/// are allowed, each a nonzero of its own. An X on the host that exec, a GPU, cannot access is
/// sorted by the host, and streamed except for copies that fit. Fences exec. Throws Error where
/// - the rank is not positive, or an index is past its mode,
/// - pi is to be stored for a strategy of the linear order,
/// - the strategy is one of the linear order, and the indices take more than 128 bits,
/// - strategy `alto` needs atomics, on hosts, or `coo_alto_pull` has no buffers for a mode,
/// - the strategy cannot be streamed and would have to be.
template <class ExecutionSpace, class Tensor>
detail::PlanOf<PhiPlan, Tensor, ExecutionSpace> make_phi_plan(ExecutionSpace const& exec,
                                                              Tensor const& X,
                                                              PhiOptions const& options = {});

/// make_phi_plan of a tensor whose nonzeros are those of all processes. X: the nonzeros that this
/// process brings, any of them, with the dims of the whole. phi by this plan takes and gives the
/// rows of factors that plan.products.rows_of says, and is collective; its bits are those of one
/// process. Strategy `pull`, with pi on the fly; `automatic` is that, too, where one process takes
/// `alto`. Collective. Fences exec. Throws as make_phi_plan of one process, and Error where X's
/// dims are not those of other processes, for other strategies, and where nonzeros would have to be
/// streamed.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
PhiPlan<Scalar, Index, MemorySpace> make_phi_plan(Communicator const& processes,
                                                  ExecutionSpace const& exec,
                                                  CooTensor<Scalar, Index, MemorySpace> X,
                                                  PhiOptions const& options = {});

/// Keeps pi of mode n for the calls of phi that follow, where the plan stores it; else does
/// nothing. To be called whenever an A[m], m != n, has changed. Enqueued on exec, does not fence.
/// plan: a PhiPlan. (N - 1) R nnz flops. Throws Error if the shapes disagree or n is not in [0, N).
template <class ExecutionSpace, class Plan, class FactorsType = detail::FactorsOf<Plan>>
void update_pi(ExecutionSpace const& exec, Plan& plan, FactorsType const& A, int n);

/// Phi on mode n by what the plan holds for it. A[m]: I_m x R; A[n] is not read unless it is B. B:
/// I_n x R, the factor of mode n times the weights. V: I_n x R, overwritten, aliases neither. Views
/// as mttkrp takes them: row-major (Kokkos::LayoutRight), see make_factors and copy_factor.
/// Enqueued on exec, does not fence, allocates nothing where V has the plan's rank. Where the plan
/// streams it fences, and the first call allocates room for windows. The plan is changed only in
/// its buffers: one call of a plan at a time. (2 N + 2) R nnz flops, 4 R nnz where the plan
/// stores pi. Throws Error if the shapes disagree, n is not in [0, N), epsilon is not positive, or
/// pi is stored and is not of mode n.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace,
          class FactorsType = Factors<Scalar, MemorySpace>, class Input, class Output>
void phi(ExecutionSpace const& exec, PhiPlan<Scalar, Index, MemorySpace>& plan,
         FactorsType const& A, Input const& B, int n, Output const& V, double epsilon = 1e-10);

/// Phi on mode n of a CooTensor in any order, by strategy `atomic`, with pi computed on the fly:
/// bits change from run to run. X's indices are trusted: check_coordinates checks them. Enqueued on
/// exec, does not fence. Throws Error if the shapes disagree, n is not in [0, N) or epsilon is not
/// positive.
template <class ExecutionSpace, class Tensor, class FactorsType = detail::FactorsOf<Tensor>,
          class Input, class Output>
void phi(ExecutionSpace const& exec, Tensor const& X, FactorsType const& A, Input const& B, int n,
         Output const& V, double epsilon = 1e-10);

/// The cost of phi on mode n with R columns, in flops and bytes (see Cost): (2 N + 2) R nnz flops,
/// 4 R nnz where the plan stores pi; the nonzeros as mttkrp_cost has them, the rows of B and of the
/// other factors that nonzeros use, and I_n rows of V. Where pi is stored, it is read instead of
/// the other factors, a row a nonzero, and of a nonzero only its index in mode n and its value. One
/// pass over the indices of each mode whose used rows the plan does not know: all strategies except
/// `pull` on the fly. Fences exec. Throws Error if n is not in [0, N), or the plan is one of
/// several processes.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Cost phi_cost(ExecutionSpace const& exec, PhiPlan<Scalar, Index, MemorySpace> const& plan, int R,
              int n);

/// The cost of update_pi, in flops and bytes (see Cost): (N - 1) R nnz flops; N - 1 indices a
/// nonzero, the rows of the other factors that nonzeros use, and pi, a row a nonzero. Nothing where
/// the plan stores no pi. Fences exec. Throws Error if n is not in [0, N).
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Cost update_pi_cost(ExecutionSpace const& exec, PhiPlan<Scalar, Index, MemorySpace> const& plan,
                    int R, int n);

}  // namespace sporades

#include <sporades/kernels/detail/phi/build_phi_plan.hpp>
#include <sporades/kernels/detail/phi/run_phi.hpp>
