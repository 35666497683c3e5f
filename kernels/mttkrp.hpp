// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/check_types.hpp>
#include <sporades/kernels/detail/row_sums.hpp>
#include <sporades/kernels/mttkrp_plan.hpp>

/// MTTKRP, the matricized tensor times Khatri-Rao product on mode n:
///   V = X_(n) (A_{N-1} ⊙ ... ⊙ A_{n+1} ⊙ A_{n-1} ⊙ ... ⊙ A_0)
///   V(i, r) = sum over nonzeros p with i_n = i of x_p prod_{m != n} A_m(i_m, r)
/// X: I_0 x ... x I_{N-1}. A[m]: I_m x R; A[n] is not read. V: I_n x R, overwritten, aliases no
/// A[m]. Any order from 1 to 16, any R.
/// Cost: N R nnz flops; a nonzero reads at least one index a mode, one value and N - 1 factor rows.
/// Bader & Kolda, SIAM J. Sci. Comput. 30(1), 2007.

namespace sporades {

/// Builds the formats of options.strategy for every mode. X is a CooTensor in any order; duplicates
/// are allowed. The memory of an X that is handed over (hand_over) is given back as soon as there
/// is a sorted copy. Fences exec.
///
/// Strategy `automatic` takes the fastest of these that options.memory leaves; MttkrpPlan::choices
/// say which, and bits are those of the choice:
/// - a sorted copy a mode;
/// - on a GPU the same copies, sorted by the host;
/// - one copy, `alto` on hosts or `flycoo`;
/// - sorted copies, of which a GPU streams those that do not fit from the host's memory; or on a
///   host, where a limit is set, all from files.
///
/// An X on the host that exec, a GPU, cannot access is sorted by the host, and its copies are
/// streamed, except those that options.streaming.memory leaves room for. memory_need
/// (kernels/memory_need.hpp) tells the bytes before.
///
/// Throws Error where
/// - the rank is not positive, or an index is past its mode,
/// - the split or the precision is not possible with the strategy,
/// - indices do not fit the words of strategy `fibers` or `alto`, or of order `morton`,
/// - strategy `alto` needs atomics, on hosts,
/// - the strategy cannot be streamed and would have to be.
///
/// Throws RunError where there is no out-of-core memory, and where the plan takes more memory than
/// it may, with both numbers and the least that would do.
template <class ExecutionSpace, class Tensor>
detail::PlanOf<MttkrpPlan, Tensor, ExecutionSpace> make_mttkrp_plan(
    ExecutionSpace const& exec, Tensor X, MttkrpOptions const& options = {});

/// make_mttkrp_plan of a tensor whose nonzeros are those of all processes. X: the nonzeros that
/// this process brings, any of them, with the dims of the whole. The plan's products take and give
/// the rows of factors that plan.rows_of says, and are collective; their bits are those of one
/// process. Collective. Fences exec.
///
/// Strategies; `automatic` chooses as on one process with enough memory:
/// - `sorted` and `fibers`: nonzeros are sorted across processes once a mode; a process keeps
///   consecutive ones in the order of each mode's rows.
/// - `alto`, on hosts: a process keeps some parts of the linear order. The coarsest partition of a
///   mode must have enough parts for all processes, or some processes have none.
///
/// Throws as make_mttkrp_plan of one process, and Error where X's dims are not those of other
/// processes, or options ask for streaming or a limit: nothing is streamed, nor fitted to a limit.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MttkrpPlan<Scalar, Index, MemorySpace> make_mttkrp_plan(Communicator const& processes,
                                                        ExecutionSpace const& exec,
                                                        CooTensor<Scalar, Index, MemorySpace> X,
                                                        MttkrpOptions const& options = {});

/// MTTKRP on mode n by what the plan holds for it:
///   V = X_(n) (A_{N-1} ⊙ ... ⊙ A_{n+1} ⊙ A_{n-1} ⊙ ... ⊙ A_0)
/// A[m]: I_m x R; A[n] is not read. V: I_n x R, overwritten, aliases no A[m].
/// A is a list of N matrices, and V a matrix: rank-2 Views in the tensor's memory space, of its
/// scalar type, not const, row-major (Kokkos::LayoutRight). make_matrix makes one, with padded
/// rows, which are faster where R is no multiple of four. make_factors takes Views of any layout
/// and memory space, and copies those that do not fit. copy_factor copies a product to any View:
///   auto plan = make_mttkrp_plan(exec, X, options);
///   auto const V = make_matrix<double>(exec, "V", X.dims[n], R);
///   mttkrp(exec, plan, make_factors(exec, views), n, V);
///   copy_factor(exec, V, views[n]);
/// Enqueued on exec, does not fence, allocates nothing where V has the plan's rank. Where the plan
/// streams it fences, and the first call allocates room for windows. The plan is changed only in
/// its buffers, and where it has a FlycooTensor in its order: one product of a plan at a time. N R
/// nnz flops. Throws Error if the shapes disagree or n is not in [0, N).
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace,
          class FactorsType = Factors<Scalar, MemorySpace>, class Output>
void mttkrp(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan,
            FactorsType const& A, int n, Output const& V);

/// MTTKRP on mode n of one tensor, by buffers that each call allocates. A and V are those of the
/// product of a plan. X and its strategies:
///   CooTensor        atomic, duplicated; sorted, where X is sorted with mode n first
///   PackedTensor     sorted, fibers (for X sorted by all its modes); on its row mode only
///   PermutedTensor   permuted
///   CsfTensor        csf, on its root mode only
///   AltoTensor       alto, alto_atomic
///   FlycooTensor     flycoo, flycoo_blocks, on the mode in whose order it is only; it stays there
/// X's indices are trusted: check_coordinates checks them. Enqueued on exec, does not fence. Throws
/// Error if the shapes disagree, n is not in [0, N), or X does not allow the strategy.
template <class ExecutionSpace, class Tensor, class FactorsType = detail::FactorsOf<Tensor>,
          class Output>
void mttkrp(ExecutionSpace const& exec, Tensor const& X, FactorsType const& A, int n,
            Output const& V, MttkrpStrategy strategy = MttkrpStrategy::automatic);

/// The cost of mttkrp on mode n with R columns, in flops and bytes (see Cost): N R nnz flops; a
/// nonzero as the plan holds it for mode n, the rows of the other factors that nonzeros use (all
/// rows where they are rounded first), and I_n rows of V. A nonzero takes
///   sorted, fibers     a word of 4 or 8 bytes and its value, and an index a row of V that is not
///                      empty; N indices and its value where indices do not fit the word
///   csf                its share of the tree's nodes
///   alto, alto_atomic  8 or 16 bytes and its value, and what sums mode n's rows without atomics
///   flycoo, flycoo_blocks  its record twice, as it is moved to the next mode's order, and a remap
///                      id
///   permuted           N indices, its value and 8 bytes
///   atomic, duplicated N indices and its value
/// One pass over the indices of each mode whose used rows the plan does not know: alto, permuted,
/// atomic and duplicated. Fences exec. Throws Error if n is not in [0, N), or the plan is one of
/// several processes.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Cost mttkrp_cost(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace> const& plan,
                 int R, int n);

/// The nonzeros that the plan was made of, in an order given by the plan: those that it holds as
/// coordinates, else an unpacked copy of one of its formats. Enqueued on exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             MttkrpPlan<Scalar, Index, MemorySpace> const& plan);

}  // namespace sporades

#include <sporades/kernels/detail/mttkrp/build_mttkrp_plan.hpp>
#include <sporades/kernels/detail/mttkrp/run_mttkrp.hpp>
