// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/spttm.hpp>
#include <sporades/kernels/sspttm_plan.hpp>

/// SspTTM, a semi-sparse tensor times a dense matrix on a sparse mode n, Z = Y x_n U:
///   Z(f, c, k) = sum over blocks j of Y in fiber f of U(i_n(j), c) Y(j, k)
/// with f the coordinates in the other sparse modes and k those in Y's dense modes.
/// Y: semi-sparse, any number of dense modes. U: I_n x R. Z: semi-sparse, mode n dense as well, the
/// slowest in its blocks; overwritten; it aliases neither Y nor U. A product on a dense mode would
/// be dense, block by block; it is refused. The same bits on every run and number of threads.
/// Cost: 2 R flops an entry of Y, which is read once for eight columns of U (on GPUs, for one); R
/// blocks are written a fiber.
/// Ma, Li, Wu, Yan, Sun & Vuduc, JPDC 2018, section 5 and Algorithm 5 (whose line 10 places by the
/// row of U where its column is meant).

namespace sporades {

/// A plan for products of ScooTensors with Y's coordinates on mode n. Fences exec. Nothing is
/// sorted if Y.sorted_modes lists all sparse modes, n last; products of spttm and sspttm are so
/// sorted if n is the last of their sorted_modes. Else the blocks are sorted by the other modes, in
/// their order, and then by n.
///
/// Products stream the fibers, and the blocks of a Y whose values are in out-of-core memory, and
/// fence, if
/// - Y is a streamed product, of spttm or sspttm, with its coordinates or values in out-of-core
/// memory,
/// - Y is on the host and exec, a GPU, cannot access it, or
/// - Y and its fibers take more than options.streaming.memory.
///
/// In these cases Y.sorted_modes must list all sparse modes, n last. Throws Error if n is not a
/// sparse mode of Y, the rank is not positive, or Y would be streamed and is not sorted, or by
/// strategy `chunks`; RunError where there is no out-of-core memory.
template <class ExecutionSpace, class Tensor>
detail::PlanOf<SspttmPlan, Tensor, ExecutionSpace> make_sspttm_plan(
    ExecutionSpace const& exec, Tensor const& Y, int n, SspttmOptions const& options = {});

/// A tensor for the product with a matrix of R columns: it shares the plan's coordinates of fibers.
/// Its values are not set. Where the plan streams, they are in out-of-core memory under the
/// conditions of make_spttm_output; then a product streams them, too, and this fences exec.
/// Allocates on exec. Throws Error if R is zero, RunError where there is no out-of-core memory.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
ScooTensor<Scalar, Index, MemorySpace> make_sspttm_output(
    ExecutionSpace const& exec, SspttmPlan<Scalar, Index, MemorySpace> const& plan, std::size_t R);

/// Z = Y x_n U on the mode n of an SspttmPlan. U: I_n x R, a row-major View (Kokkos::LayoutRight):
/// make_factor makes one of any View. 2 R flops an entry of Y. Z is made by make_sspttm_output.
/// Enqueued on exec, does not fence, allocates nothing where U has the plan's rank. Where the plan
/// streams it fences, and the first call allocates room for windows; the bits are the same. The
/// plan is changed only in its buffers: one product of a plan at a time. Throws Error if the shapes
/// disagree, or plan and Z were not made for Y.
template <class ExecutionSpace, class Plan, class Tensor, class Input, class Output>
void sspttm(ExecutionSpace const& exec, Plan& plan, Tensor const& Y, Input const& U,
            Output const& Z);

/// The cost of sspttm with R columns, in flops and bytes (see Cost): 2 R flops an entry of Y; Y's
/// entries, an index a block (and 8 bytes where the plan had to sort blocks), 8 bytes a fiber or on
/// GPUs 12 for 32 blocks, the rows of U that blocks use, and the product. One pass over the blocks'
/// indices. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Cost sspttm_cost(ExecutionSpace const& exec, SspttmPlan<Scalar, Index, MemorySpace> const& plan,
                 int R);

}  // namespace sporades

#include <sporades/kernels/detail/sspttm/run_sspttm.hpp>
