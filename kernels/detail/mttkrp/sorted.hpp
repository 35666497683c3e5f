// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/nonzeros/coo.hpp>
#include <sporades/kernels/detail/row_walk.hpp>

namespace sporades::detail {

/// Strategy `sorted` on a COO tensor sorted by mode n.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_sorted(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                   Factors<Scalar, MemorySpace> const& A, int n,
                   Matrix<Scalar, MemorySpace> const& V,
                   CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  with_unrolled_modes<Index>(X.order() - 1, [&](auto others) {
    sum_sorted_rows<TileWidths::coarse>(exec, "sporades::mttkrp::sorted",
                                        coo_nonzeros<others()>(X, A, n), false, V,
                                        all_rows_aligned(A, n, V), carry);
  });
}

}  // namespace sporades::detail
