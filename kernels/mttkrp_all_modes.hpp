// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/mttkrp.hpp>
#include <sporades/kernels/mttkrp_all_modes_plan.hpp>

/// MTTKRP on all modes of one tensor, one after another, as a sweep of alternating least squares
/// takes them. What products of several modes have in common is computed once (a dimension tree of
/// one fork: Phan, Tichavský, Cichocki, IEEE Trans. Signal Process. 61(19), 2013; Li et al., IPDPS
/// 2017), and strategy `flycoo` finds the nonzeros in order for each mode.

namespace sporades {

/// Builds the formats for products on all modes; see make_mttkrp_plan. Fences exec. Throws as that
/// does.
template <class ExecutionSpace, class Tensor>
detail::PlanOf<MttkrpAllModesPlan, Tensor, ExecutionSpace> make_mttkrp_all_modes_plan(
    ExecutionSpace const& exec, Tensor X, MttkrpAllModesOptions const& options = {});

/// make_mttkrp_all_modes_plan of a tensor whose nonzeros are those of all processes: see
/// make_mttkrp_plan. The modes that are fused are those of one process with enough memory.
/// Collective. Fences exec. Throws as make_mttkrp_plan of several processes.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MttkrpAllModesPlan<Scalar, Index, MemorySpace> make_mttkrp_all_modes_plan(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> X, MttkrpAllModesOptions const& options = {});

/// MTTKRP on modes 0 to N - 1, in this order:
///   V[n] = X_(n) (A_{N-1} ⊙ ... ⊙ A_{n+1} ⊙ A_{n-1} ⊙ ... ⊙ A_0), then update(n)
/// update(n) may enqueue on exec what changes A[n], as alternating least squares does, and nothing
/// else. Where something else changes between two calls, call factors_changed.
/// A and V: N matrices each, as those of mttkrp. V[n] aliases no A[m], m != n, and is not used
/// after update(n), so that all V[n] may share memory.
///   auto plan = make_mttkrp_all_modes_plan(exec, X, {{MttkrpStrategy::automatic, R}});
///   mttkrp_all_modes(exec, plan, A, V, [&](int n) { solve(V[n], A[n]); });
/// Enqueued on exec, does not fence, except for what update does and for plans that stream. At most
/// N^2 R nnz flops. Throws Error if the shapes disagree.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Update>
void mttkrp_all_modes(ExecutionSpace const& exec,
                      MttkrpAllModesPlan<Scalar, Index, MemorySpace>& plan,
                      Factors<Scalar, MemorySpace> const& A, Factors<Scalar, MemorySpace> const& V,
                      Update const& update);

/// MTTKRP on modes 0 to N - 1 with factors that stay as they are. A, V, cost and errors: see
/// mttkrp_all_modes with an update. Enqueued on exec, does not fence, except for plans that stream.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_all_modes(ExecutionSpace const& exec,
                      MttkrpAllModesPlan<Scalar, Index, MemorySpace>& plan,
                      Factors<Scalar, MemorySpace> const& A, Factors<Scalar, MemorySpace> const& V);

/// The product on mode n alone, as mttkrp(exec, plan, A, n, V) of an MttkrpPlan. From one call to
/// the next only A[n] may change. Where something else changes, call factors_changed.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp(ExecutionSpace const& exec, MttkrpAllModesPlan<Scalar, Index, MemorySpace>& plan,
            Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& V);

/// The cost of mttkrp_all_modes with R columns, after another such call: mttkrp_cost of all
/// products that it takes, those of K and T among them, added up. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Cost mttkrp_all_modes_cost(ExecutionSpace const& exec,
                           MttkrpAllModesPlan<Scalar, Index, MemorySpace> const& plan, int R);

/// To be called where factors have changed since the last product, except for the changes that
/// mttkrp_all_modes, and mttkrp on one mode, allow.
template <class Scalar, class Index, class MemorySpace>
void factors_changed(MttkrpAllModesPlan<Scalar, Index, MemorySpace>& plan) {
  plan.has_K = plan.has_T = false;
  plan.whole.work.rounded.kept.forget();
  detail::forget_gathered(plan.whole);
  detail::forget_gathered(plan.grid);
}

}  // namespace sporades

#include <sporades/kernels/detail/mttkrp_all_modes/run_all_modes.hpp>
