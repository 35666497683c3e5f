// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/dense/blocks.hpp>
#include <sporades/formats/ktensor.hpp>
#include <sporades/kernels/mttkrp/coo_nonzeros.hpp>

namespace sporades::detail {

/// A COO tensor and a Kruskal model of it: at(p) = m_p = sum_r weights(r) prod_n A_n(i_n, r), in
/// double.
template <class Scalar, class Index, class MemorySpace>
struct CooModel {
  RawVector<Scalar const, MemorySpace> values;                            // nnz
  Kokkos::Array<RawVector<Index const, MemorySpace>, max_order> indices;  // of every mode
  Kokkos::Array<RawMatrix<Scalar const, MemorySpace>, max_order> factors;
  double const* weights;  // R
  Position nnz;
  std::uint64_t rank;
  int order;

  template <class ExecutionSpace>
  KOKKOS_INLINE_FUNCTION double at(Position p) const {
    double total = 0;
    for_tiles<ExecutionSpace>(0, rank, [&](auto width_constant, std::uint64_t first) {
      constexpr int width = decltype(width_constant)::value;
      double product[width];
      for (int c = 0; c < width; ++c) product[c] = weights[first + c];
      for (int n = 0; n < order; ++n) {
        Scalar const* const a = factors[n].data() + indices[n](p) * factors[n].stride_0() + first;
#pragma omp simd
        for (int c = 0; c < width; ++c) product[c] *= static_cast<double>(a[c]);
      }
      for (int c = 0; c < width; ++c) total += product[c];
    });
    return total;
  }
};

template <class Scalar, class Index, class MemorySpace>
CooModel<Scalar, Index, MemorySpace> coo_model(CooTensor<Scalar, Index, MemorySpace> const& X,
                                               Factors<Scalar, MemorySpace> const& A,
                                               double const* weights, std::uint64_t rank) {
  CooModel<Scalar, Index, MemorySpace> model{X.values, {}, {}, weights, X.nnz(), rank, X.order()};
  for (int n = 0; n < X.order(); ++n) {
    model.indices[n] = mode_indices(X, n);
    model.factors[n] = A[n];
  }
  return model;
}

}  // namespace sporades::detail
