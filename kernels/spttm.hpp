// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/check_types.hpp>
#include <sporades/formats/scoo_tensor.hpp>
#include <sporades/kernels/detail/row_sums.hpp>
#include <sporades/kernels/spttm_plan.hpp>

/// SpTTM, a sparse tensor times a dense matrix on mode n, Y = X x_n U:
///   Y(i_0 ... r ... i_{N-1}) = sum over i_n of X(i_0 ... i_n ... i_{N-1}) U(i_n, r)
/// X: I_0 x ... x I_{N-1}, by its fibers of mode n. U: I_n x R. Y: semi-sparse, mode n dense: one
/// row of R values for each non-empty fiber of X, overwritten; it does not alias U. Any order from
/// 1 to 16, any R. The same bits on every run and number of threads, except by `spmm_library`.
/// Cost: 2 nnz R flops; at least an index and a value a nonzero, a place a fiber and U are read,
/// fibers x R values written.
/// Ma, Li, Wu, Yan, Sun & Vuduc, JPDC 2018.

namespace sporades {

/// Builds the fibers of every mode. X is a CooTensor in any order; duplicates are allowed. Where
/// the fibers of all modes take more than options.streaming says, they are in out-of-core memory,
/// and products stream them and fence; an X on the host that exec, a GPU, cannot access is sorted
/// by the host, and always streamed. Fences exec. Throws Error if the rank is not positive, an
/// index is past its mode, or the strategy cannot be streamed and would have to be; RunError where
/// there is no out-of-core memory.
template <class ExecutionSpace, class Tensor>
detail::PlanOf<SpttmPlan, Tensor, ExecutionSpace> make_spttm_plan(ExecutionSpace const& exec,
                                                                  Tensor const& X,
                                                                  SpttmOptions const& options = {});

/// A tensor for the product of X with a matrix of R columns: it shares X's coordinates of fibers.
/// Its values are not set. Allocates on exec. Throws Error if R is zero.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
ScooTensor<Scalar, Index, MemorySpace> make_spttm_output(
    ExecutionSpace const& exec, HierarchicalTensor<Scalar, Index, MemorySpace> const& X,
    std::size_t R);

/// A tensor for the plan's product on mode n with a matrix of R columns: it shares the plan's
/// coordinates of fibers. Its values are not set. Allocates on exec. Throws Error if R is zero or n
/// is not in [0, N), RunError where there is no out-of-core memory. Its values are in out-of-core
/// memory, where exec and the host can access them, if the plan streams and they take more than its
/// options' streaming.memory, or where that is 0 more than half of the memory that is left. Then a
/// product streams them, too, and this fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
ScooTensor<Scalar, Index, MemorySpace> make_spttm_output(
    ExecutionSpace const& exec, SpttmPlan<Scalar, Index, MemorySpace> const& plan, int n,
    std::size_t R);

/// Y = X x_n U by what the plan holds for mode n. U: I_n x R, or R x I_n where `layout` says so, a
/// row-major View (Kokkos::LayoutRight): make_factor makes one of any View. 2 nnz R flops. Y is
/// made by make_spttm_output. Enqueued on exec, does not fence, allocates nothing where U has the
/// plan's rank, except room for a transposed U in the first call that has one. Where the plan
/// streams it fences, and the first call allocates room for windows; the bits are the same. The
/// plan is changed only in its buffers: one product of a plan at a time. Throws Error if the shapes
/// disagree, n is not in [0, N), or Y was not made for this product.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Input,
          class Output>
void spttm(ExecutionSpace const& exec, SpttmPlan<Scalar, Index, MemorySpace>& plan, Input const& U,
           int n, Output const& Y, TtmMatrix layout = TtmMatrix::mode_by_rank);

/// Y = X x_n U of a HierarchicalTensor, whose mode n is, by buffers that each call allocates.
/// Enqueued on exec, does not fence unless X is out of core (an entry of a streamed plan). Throws
/// Error if the shapes disagree, or Y was not made for X.
template <class ExecutionSpace, class Tensor, class Input, class Output>
void spttm(ExecutionSpace const& exec, Tensor const& X, Input const& U, Output const& Y,
           SpttmStrategy strategy = SpttmStrategy::automatic);

/// The cost of spttm with R columns, in flops and bytes (see Cost): 2 nnz R flops; an index and a
/// value a nonzero, 8 bytes a fiber, the rows of U that nonzeros use, and the product. On GPUs,
/// where `lanes` sums windows, 12 bytes for 32 nonzeros tell the fibers instead. One pass over the
/// nonzeros' indices. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Cost spttm_cost(ExecutionSpace const& exec, HierarchicalTensor<Scalar, Index, MemorySpace> const& X,
                int R, SpttmStrategy strategy = SpttmStrategy::automatic);

/// The cost of the plan's product on mode n with R columns: see spttm_cost of a tensor. Fences
/// exec. Throws Error if n is not in [0, N).
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Cost spttm_cost(ExecutionSpace const& exec, SpttmPlan<Scalar, Index, MemorySpace> const& plan,
                int R, int n);

}  // namespace sporades

#include <sporades/kernels/detail/spttm/build_spttm_plan.hpp>
#include <sporades/kernels/detail/spttm/run_spttm.hpp>
