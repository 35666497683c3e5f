// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/check_types.hpp>
#include <sporades/kernels/detail/row_sums.hpp>
#include <sporades/kernels/ttm_chain_plan.hpp>

/// TTM chain, a sparse tensor times the factor matrices of all modes except n:
///   Y_(n) = X_(n) (A_{N-1} (x) ... (x) A_{n+1} (x) A_{n-1} (x) ... (x) A_0)
/// X: I_0 x ... x I_{N-1}. A[m]: I_m x R_m; A[n] is not read. Y_(n): I_n x prod_{m != n} R_m,
/// dense. Columns in the order of Kolda & Bader and Tensor Toolbox: the index of the first of the
/// other modes runs fastest. A tensor of order 1 is its own Y_(0), of one column. Only the rows of
/// non-empty slices are computed. The same bits on every run and number of threads, without
/// atomics. Cost: depends on the strategy and the tensor; TtmChainChoice::flops of a plan. Kolda &
/// Bader, SIAM Review 51(3), 2009, Section 4.2.

namespace sporades {

/// Builds the formats for the chains of all modes. X is a CooTensor in any order; values of equal
/// coordinates are added. ranks: R_0 to R_{N-1}. The memory of an X that is handed over (hand_over)
/// is given back when all modes have their copies. Fences exec.
///
/// Strategies of orders 1 and 2: `fused` where it is asked for or the plan streams. Else order 1
/// takes `csf`; order 2 takes `semi_sparse` where it is asked for or, on GPUs, by `automatic`, and
/// `csf` otherwise.
///
/// An X in host memory that exec cannot access is made ready by the host and always streamed;
/// another X is streamed where its copies take more than options.streaming says. Strategies `fused`
/// and, from order 2 on, `semi_sparse` stream; `automatic` takes `fused` then, for any order. Bits
/// are the same as without, where the SpTTM of `semi_sparse` is by strategy `lanes` without: always
/// on hosts, and on GPUs where spttm's `automatic` takes it.
///
/// Throws Error where
/// - a rank is not positive, or an index is past its mode,
/// - a strategy asked for cannot take the tensor,
/// - a product does not fit the memory limit (with both numbers),
/// - X would be streamed, and another strategy is asked for or, by `fused`, the indices of all
/// modes
///   except one take over 63 bits.
///
/// Throws RunError where there is no out-of-core memory.
template <class ExecutionSpace, class Tensor>
detail::PlanOf<TtmChainPlan, Tensor, ExecutionSpace> make_ttm_chain_plan(
    ExecutionSpace const& exec, Tensor X, std::vector<int> const& ranks,
    TtmChainOptions const& options = {});

/// The rows of Y_(n) that are not empty. plan: a TtmChainPlan. A[m]: I_m x R_m, row-major, its rows
/// padded with zeros, as make_matrix makes them and copy_matrix makes them of any View; A[n] is not
/// read. Enqueued on exec, does not fence, allocates nothing. Where the plan streams it fences, and
/// the first call allocates room for windows. The plan is changed only in its buffers: one product
/// of a plan at a time. Throws Error if the shapes or the padding disagree or n is not in [0, N).
template <class ExecutionSpace, class Plan, class FactorsType = detail::FactorsOf<Plan>>
detail::PlanOf<TtmChainProduct, Plan> ttm_chain(ExecutionSpace const& exec, Plan& plan,
                                                FactorsType const& A, int n);

/// The whole of Y_(n), I_n x prod_{m != n} R_m, in the order of columns of Kolda & Bader. Y is
/// overwritten and aliases no A[m]. A, fences and errors are those of ttm_chain without Y.
template <class ExecutionSpace, class Plan, class FactorsType = detail::FactorsOf<Plan>,
          class Output>
void ttm_chain(ExecutionSpace const& exec, Plan& plan, FactorsType const& A, int n,
               Output const& Y);

/// The cost of ttm_chain on mode n, in flops and bytes (see Cost): TtmChainChoice::flops; the
/// nonzeros as the strategy holds them (a word and a value, a tree, or fibers and those of the
/// partial products), the rows of the other factors that nonzeros use, and the product's rows with
/// their padding. Throws Error if n is not in [0, N).
template <class Scalar, class Index, class MemorySpace>
Cost ttm_chain_cost(TtmChainPlan<Scalar, Index, MemorySpace> const& plan, int n);

/// The nonzeros that the plan holds for mode n, as coordinates; they are sorted by n and then by
/// the modes of its columns. Enqueued on exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             TtmChainPlan<Scalar, Index, MemorySpace> const& plan,
                                             int n);

}  // namespace sporades

#include <sporades/kernels/detail/ttm_chain/build_ttm_chain_plan.hpp>
#include <sporades/kernels/detail/ttm_chain/run_ttm_chain.hpp>
