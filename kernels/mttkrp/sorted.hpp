// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/mttkrp/coo_nonzeros.hpp>

namespace sporades::detail {

/// Strategy `sorted`: nonzeros sorted by the output mode, walked in chunks; deterministic carry.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_sorted(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                   Factors<Scalar, MemorySpace> const& A, int n,
                   Matrix<Scalar, MemorySpace> const& V,
                   CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  for_other_modes<Index>(X.order() - 1, [&](auto others) {
    sum_sorted_rows<tile_widths<others()>>(exec, "sporades::mttkrp::sorted",
                                           coo_nonzeros<others()>(X, A, n, Identity{}), V,
                                           all_rows_aligned(A, n, V), carry);
  });
}

}  // namespace sporades::detail
