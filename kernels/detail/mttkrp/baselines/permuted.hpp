// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/permuted_tensor.hpp>
#include <sporades/kernels/detail/nonzeros/coo.hpp>
#include <sporades/kernels/detail/row_walk.hpp>

namespace sporades::detail {

/// Strategy `permuted`, a baseline that `automatic` never takes: as `sorted`, but one copy of the
/// tensor read through a permutation a mode.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_permuted(ExecutionSpace const& exec,
                     PermutedTensor<Scalar, Index, MemorySpace> const& X,
                     Factors<Scalar, MemorySpace> const& A, int n,
                     Matrix<Scalar, MemorySpace> const& V,
                     CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  Permuted<MemorySpace> const order{X.orders[n]};
  sum_sorted_rows<TileWidths::coarse>(exec, "sporades::mttkrp::permuted",
                                      coo_nonzeros<any_number>(X.tensor, A, n, order), false, V,
                                      all_rows_aligned(A, n, V), carry);
}

}  // namespace sporades::detail
