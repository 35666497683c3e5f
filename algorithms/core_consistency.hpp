// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/coo_tensor.hpp>
#include <sporades/formats/kruskal_tensor.hpp>
#include <sporades/kernels/mttkrp_plan.hpp>

/// Whether a CP model has too many components: its core consistency.

namespace sporades {

/// The core consistency of a CP model of X, in per cent:
///   100 (1 - ||G - I||^2 / R),   G = X x_0 A_0^+ x_1 A_1^+ ... x_{N-1} A_{N-1}^+
/// G, R x ... x R, is the core by which the factors fit X best; I is that of the model, 1 where all
/// indices are equal and 0 elsewhere. Columns of factors have length a_r^(1/N), where a_r is the
/// weight of the normalised component. 100: X asks for these components and no interaction of
/// different ones. About 50 or less: for fewer components. Components of weight 0 count as missing
/// from G. It judges models by least squares, of order 3 and more; X's other cells are 0.
///
/// plan: of X, on one process. Cost: MTTKRP on the shortest mode with R^(N-1) columns, some at a
/// time, and 2 N R^(N+1) flops on the host: of three modes R / 3 iterations of CP-ALS. Memory: the
/// factors twice, and for the columns at a time (4 R, up to 32, or R where that is more) twice as
/// many of them. Bits are as stable as those of the plan's strategy. Fences exec. Throws Error if
/// the shapes disagree, the model has no components, processes share the plan, or G does not fit
/// the memory. Bro & Kiers, J. Chemometrics 17(5), 2003.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
double core_consistency(ExecutionSpace const& exec, MttkrpPlan<Scalar, Index, MemorySpace>& plan,
                        KruskalTensor<Scalar, MemorySpace> const& model);

/// Without a plan: on the mode that X is sorted by first, or on the shortest, by which a copy is
/// sorted. The same bits on every run and number of threads. Throws Error for an index that is past
/// its mode, too.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
double core_consistency(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                        KruskalTensor<Scalar, MemorySpace> const& model);

}  // namespace sporades

#include <sporades/algorithms/detail/core_consistency.hpp>
