// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/packed_coo.hpp>
#include <sporades/kernels/row_sums.hpp>

namespace sporades::detail {

/// The nonzeros of a sorted CooTensor as row subproblems of mode n see them: a value, and for each
/// of the N - 1 other modes a row of its factor.
template <class ScalarType, class Index, class MemorySpace>
struct CooRowNonzeros {
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

/// The same of a PackedCoo.
template <class ScalarType, class Index, class MemorySpace>
struct PackedRowNonzeros {
  using Scalar = ScalarType;

  RawVector<Scalar const, MemorySpace> values;                                 // nnz
  std::uint32_t const* narrow;                                                 // nnz, or null
  std::uint64_t const* wide;                                                   // nnz, or null
  Kokkos::Array<RawMatrix<Scalar const, MemorySpace>, max_order - 1> factors;  // I_m x R each
  Kokkos::Array<int, max_order - 1> shift;
  Kokkos::Array<std::uint64_t, max_order - 1> mask;
  int others;  // N - 1

  KOKKOS_FORCEINLINE_FUNCTION double value(Position p) const {
    return static_cast<double>(values(p));
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar const* factor_row(Position p, int k) const {
    std::uint64_t const word = wide ? wide[p] : narrow[p];
    return factors[k].data() +
           static_cast<std::size_t>(word >> shift[k] & mask[k]) * factors[k].stride_0();
  }
};

template <class Scalar, class Index, class MemorySpace>
auto row_nonzeros(CooTensor<Scalar, Index, MemorySpace> const& X, int mode,
                  Factors<Scalar, MemorySpace> const& A) {
  CooRowNonzeros<Scalar, Index, MemorySpace> nonzeros;
  nonzeros.values = X.values;
  nonzeros.others = 0;
  for (int m = 0; m < X.order(); ++m) {
    if (m == mode) continue;
    nonzeros.indices[nonzeros.others] = Kokkos::subview(X.coordinates, m, Kokkos::ALL);
    nonzeros.factors[nonzeros.others++] = A[m];
  }
  return nonzeros;
}

template <class Scalar, class Index, class MemorySpace>
auto row_nonzeros(PackedCoo<Scalar, Index, MemorySpace> const& X, int,
                  Factors<Scalar, MemorySpace> const& A) {
  PackedRowNonzeros<Scalar, Index, MemorySpace> nonzeros;
  nonzeros.values = X.values;
  nonzeros.narrow = X.narrow.extent(0) > 0 ? X.narrow.data() : nullptr;
  nonzeros.wide = X.wide.extent(0) > 0 ? X.wide.data() : nullptr;
  nonzeros.others = X.order() - 1;
  for (int k = 0; k < nonzeros.others; ++k) {
    nonzeros.factors[k] = A[X.modes[k]];
    nonzeros.shift[k] = X.shifts[k];
    nonzeros.mask[k] = low_bits(index_bits(X.dims[X.modes[k]]));
  }
  return nonzeros;
}

}  // namespace sporades::detail
