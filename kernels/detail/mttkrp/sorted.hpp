// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/nonzeros/coo.hpp>
#include <sporades/kernels/detail/row_chunks.hpp>
#include <sporades/kernels/detail/row_walk.hpp>

namespace sporades::detail {

/// Strategy `sorted` on coordinates in the order of mode n's rows.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void walk_coo(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
              SortedRows<Scalar, Index, MemorySpace> const& rows,
              Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& V) {
  with_unrolled_modes<Index>(X.order() - 1, [&](auto others) {
    walk_rows<TileWidths::coarse>(exec, "sporades::mttkrp::sorted", coo_nonzeros<others()>(X, A, n),
                                  rows, V.extent(1), all_rows_aligned(A, n, V));
  });
}

}  // namespace sporades::detail
