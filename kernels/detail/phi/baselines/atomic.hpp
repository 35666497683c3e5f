// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/phi/pi.hpp>

namespace sporades::detail {

/// One nonzero an item: V(i_n, :) += w_p pi_p, atomically.
template <class ExecutionSpace, class Source, class Scalar, class Index>
struct AtomicPhi {
  using Memory = typename ExecutionSpace::memory_space;

  Source pi;
  RawVector<Index const, Memory> row_of;   // nnz: coordinates of mode n
  RawVector<Scalar const, Memory> values;  // nnz
  RawMatrix<Scalar const, Memory> B;       // I_n x R
  RawMatrix<Scalar, Memory> V;             // I_n x R
  Scalar epsilon;

  KOKKOS_FUNCTION void operator()(Position p) const {
    std::uint64_t const R = V.extent(1);
    Index const row = row_of(p);
    Scalar const weight =
        phi_weight<ExecutionSpace>(pi, p, values(p), B.data() + row * B.stride_0(), R, epsilon);
    for_tiles<ExecutionSpace>(0, R, [&](auto width_constant, std::uint64_t first) {
      constexpr int width = decltype(width_constant)::value;
      Scalar product[width];
      pi.template at<width>(p, first, product);
      for (int c = 0; c < width; ++c) Kokkos::atomic_add(&V(row, first + c), weight * product[c]);
    });
  }
};

/// Strategy `atomic`: nonzeros in any order, pi from any source. Not deterministic.
template <class ExecutionSpace, class Source, class Scalar, class Index, class MemorySpace>
void phi_atomic(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                Source const& pi, int n, Matrix<Scalar, MemorySpace> const& B, Scalar epsilon,
                Matrix<Scalar, MemorySpace> const& V) {
  Kokkos::deep_copy(exec, V, Scalar(0));
  launch_items(exec, "sporades::phi::atomic", X.nnz(),
               AtomicPhi<ExecutionSpace, Source, Scalar, Index>{pi, mode_indices(X, n), X.values, B,
                                                                V, epsilon});
}

}  // namespace sporades::detail
