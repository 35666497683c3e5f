// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/kruskal_tensor.hpp>
#include <sporades/kernels/detail/lanes.hpp>
#include <sporades/kernels/detail/mttkrp/coo_nonzeros.hpp>

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
  KOKKOS_FORCEINLINE_FUNCTION double at(Position p) const {
    constexpr int width = is_gpu<ExecutionSpace> ? 4 : 8;
    Tile<double, width> sums, ones;
    sums.fill(0);
    ones.fill(1);
    std::uint64_t first = 0;
    for (; first + width <= rank; first += width) sums.add(product<width>(p, first));
    double total = sums.dot(ones);
    for (; first < rank; ++first) total += product<1>(p, first)[0];
    return total;
  }

 private:
  /// weights(r) prod_n A_n(i_n, r) of the columns from `first` on.
  template <int width>
  KOKKOS_FORCEINLINE_FUNCTION Tile<double, width> product(Position p, std::uint64_t first) const {
    auto product = load_tile<double, width>(weights + first);
    for (int n = 0; n < order; ++n) {
      Scalar const* const a = factors[n].data() + indices[n](p) * factors[n].stride_0() + first;
      product.multiply(in_double(load_tile<Scalar, width>(a)));
    }
    return product;
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
