// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/check_types.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <sporades/formats/kruskal_tensor.hpp>
#include <sporades/formats/tucker_tensor.hpp>

/// Inner products and norms of tensors and models, from which fits come:
///   <X, Y> = sum over all cells of x y,   ||X|| = sqrt(<X, X>)
///   fit = 1 - sqrt(||X||^2 - 2 <X, M> + ||M||^2) / ||X||
/// All are computed in double, in an order that the shapes and the nonzeros alone give: the same
/// bits on every run and number of threads. Nothing is scaled: squares of entries past 1e154 or
/// below 1e-154 leave the range of double, except in the norm of a CooTensor.
/// Bader & Kolda, SIAM J. Sci. Comput. 30(1), 2007.

namespace sporades {

/// <X, Y> of two tensors of equal dims and scalar types, in the same memory space, where one is
///   - a CooTensor, in any order, duplicates allowed, and the other a KruskalTensor: (N + 1) R nnz
///     flops, or a TuckerTensor: 2 R_0 ... R_{N-1} nnz flops at most, fewer where X is sorted;
///   - a KruskalTensor or a TuckerTensor, and the other one, too. With R and S columns a factor
///     takes 2 R S I_n flops; the host does the rest: R S N flops of two KruskalTensors, and with a
///     core of C entries 2 C flops for each component, or for each column of the other model.
/// Allocates its buffers. Fences exec. Throws Error if the shapes disagree or an index is past its
/// mode.
template <class ExecutionSpace, class Left, class Right>
double innerprod(ExecutionSpace const& exec, Left const& X, Right const& Y);

/// ||X|| of
///   - a CooTensor: of its values, so each coordinate is to come once (see sum_duplicates). No
///     square overflows or vanishes. 2 nnz flops, one pass, two more where squares leave the range;
///   - a KruskalTensor or a TuckerTensor: sqrt(<X, X>) by innerprod. Where components cancel, its
///     relative error grows by the square of what they lose; a sum below 0 gives 0.
/// Fences exec. Throws Error if a model's shapes disagree.
template <class ExecutionSpace, class Tensor>
double norm(ExecutionSpace const& exec, Tensor const& X);

}  // namespace sporades

#include <sporades/kernels/detail/run_innerprod.hpp>
