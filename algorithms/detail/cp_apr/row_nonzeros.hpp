// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/coo_tensor.hpp>
#include <sporades/kernels/detail/row_sums.hpp>

namespace sporades::detail {

/// The nonzeros of a sorted CooTensor as row subproblems of mode n see them: a value, and for each
/// of the N - 1 other modes a row of its factor.
template <class ScalarType, class Index, class MemorySpace>
struct RowNonzeros {
  using Scalar = ScalarType;

  RawVector<Scalar const, MemorySpace> values;                                 // nnz
  Kokkos::Array<RawVector<Index const, MemorySpace>, max_order - 1> indices;   // nnz each
  Kokkos::Array<RawMatrix<Scalar const, MemorySpace>, max_order - 1> factors;  // I_m x R each
  int others;                                                                  // N - 1

  KOKKOS_FORCEINLINE_FUNCTION double value(Position p) const {
    return static_cast<double>(values(p));
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar const* factor_row(Position p, int k) const {
    return factors[k].data() + static_cast<std::size_t>(indices[k](p)) * factors[k].stride_0();
  }
};

template <class Scalar, class Index, class MemorySpace>
auto row_nonzeros(CooTensor<Scalar, Index, MemorySpace> const& X, int mode,
                  Factors<Scalar, MemorySpace> const& A) {
  RowNonzeros<Scalar, Index, MemorySpace> nonzeros;
  nonzeros.values = X.values;
  nonzeros.others = 0;
  for (int m = 0; m < X.order(); ++m) {
    if (m == mode) continue;
    nonzeros.indices[nonzeros.others] = Kokkos::subview(X.coordinates, m, Kokkos::ALL);
    nonzeros.factors[nonzeros.others++] = A[m];
  }
  return nonzeros;
}

}  // namespace sporades::detail
