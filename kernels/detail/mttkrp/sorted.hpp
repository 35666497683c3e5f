// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/mttkrp/coo_nonzeros.hpp>

namespace sporades::detail {

/// Strategy `sorted`: nonzeros sorted by the output mode, walked in chunks; deterministic carry.
template <TileWidths widths, class ExecutionSpace, class Nonzeros, class Scalar, class Index,
          class MemorySpace>
void sum_terms(ExecutionSpace const& exec, char const* label, Nonzeros const& nonzeros,
               bool every_row, Matrix<Scalar, MemorySpace> const& V, bool aligned,
               CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  sum_sorted_rows<widths>(exec, label, nonzeros.size(), every_row, V, aligned, carry,
                          [&](auto width, auto access, auto const& sums, WalkShape const& shape) {
                            return SegmentWalk<Nonzeros, std::decay_t<decltype(sums)>, Scalar,
                                               width(), access(), batch<ExecutionSpace>>{
                                nonzeros, sums, shape};
                          });
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_sorted(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                   Factors<Scalar, MemorySpace> const& A, int n,
                   Matrix<Scalar, MemorySpace> const& V,
                   CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  for_other_modes<Index>(X.order() - 1, [&](auto others) {
    sum_terms<TileWidths::coarse>(exec, "sporades::mttkrp::sorted",
                                  coo_nonzeros<others()>(X, A, n, Identity{}), false, V,
                                  all_rows_aligned(A, n, V), carry);
  });
}

}  // namespace sporades::detail
