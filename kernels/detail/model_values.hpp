// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <numeric>
#include <sporades/formats/kruskal_tensor.hpp>
#include <sporades/kernels/detail/nonzeros/coo.hpp>

namespace sporades::detail {

/// A Kruskal model of a COO tensor's nonzeros: at(p) = m_p = sum_r weights(r) prod_n A_n(i_n, r),
/// in double.
template <class ScalarType, class Index, class MemorySpace>
struct CooModel {
  using Scalar = ScalarType;

  CooNonzeros<Scalar, Index, MemorySpace, any_number> nonzeros;  // all modes are other modes
  double const* weights;                                         // R
  std::uint64_t rank;

  KOKKOS_FORCEINLINE_FUNCTION Position size() const { return nonzeros.size(); }
  KOKKOS_FORCEINLINE_FUNCTION double value(Position p) const {
    return static_cast<double>(nonzeros.values(p));
  }

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
    for (int n = 0; n < nonzeros.others; ++n)
      product.multiply(in_double(load_tile<Scalar, width>(nonzeros.factor_row(p, n) + first)));
    return product;
  }
};

template <class Scalar, class Index, class MemorySpace>
CooModel<Scalar, Index, MemorySpace> coo_model(CooTensor<Scalar, Index, MemorySpace> const& X,
                                               Factors<Scalar, MemorySpace> const& A,
                                               double const* weights, std::uint64_t rank) {
  std::vector<int> modes(X.order());
  std::iota(modes.begin(), modes.end(), 0);
  return {coo_nonzeros<any_number>(X, A, modes), weights, rank};
}

}  // namespace sporades::detail
