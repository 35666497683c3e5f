// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/mttkrp/packed.hpp>
#include <sporades/kernels/detail/rounded_factors.hpp>

namespace sporades::detail {

/// Strategies `sorted` and `fibers` on packed nonzeros, with factors that are rounded first.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_rounded(ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& X,
                    Factors<Scalar, MemorySpace> const& A, Matrix<Scalar, MemorySpace> const& V,
                    int split, RoundedFactors<MemorySpace>& rounded,
                    CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  with_rounded_type<Scalar>(rounded.precision, [&](auto number) {
    using To = decltype(number);
    std::vector<RawMatrix<To const, MemorySpace>> rows(A.size());
    for (std::size_t m = 0; m < A.size(); ++m)
      if (static_cast<int>(m) != X.row_mode) rows[m] = rounded.template round<To>(exec, m, A[m]);
    mttkrp_packed(exec, "sporades::mttkrp::rounded", X, rows, V, split, carry);
  });
}

}  // namespace sporades::detail

#include <sporades/eti/rounded.hpp>
