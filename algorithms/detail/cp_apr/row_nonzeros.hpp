// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/out_of_core_memory.hpp>
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
    return factors[k].data() + static_cast<std::size_t>(indices[k](p)) * factors[k].stride(0);
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

/// Calls use(window, part) for the arrays of nonzeros begin to end - 1, and returns the nonzeros as
/// kernels see them when these are in `room`: at their places, and no others.
template <class Scalar, class Index, class MemorySpace, class Use>
auto in_window(RowNonzeros<Scalar, Index, MemorySpace> nonzeros, Position begin, Position end,
               char* room, Use const& use) {
  MemoryLayout layout(room);
  auto const place = [&](auto& view) {
    using ViewType = std::decay_t<decltype(view)>;
    using Entry = typename ViewType::non_const_value_type;
    using Part = Kokkos::View<Entry*, MemorySpace>;
    auto* const at = layout.room<Entry>(end - begin);
    use(Part(at, end - begin), Part(const_cast<Entry*>(view.data()) + begin, end - begin));
    view = ViewType(at - begin, view.extent(0));
  };
  place(nonzeros.values);
  for (int k = 0; k < nonzeros.others; ++k) place(nonzeros.indices[k]);
  return nonzeros;
}

/// Resident memory that in_window takes for so many nonzeros, at most.
template <class Scalar, class Index, class MemorySpace>
std::uint64_t window_bytes(RowNonzeros<Scalar, Index, MemorySpace> const& nonzeros,
                           Position count) {
  auto const others = static_cast<std::uint64_t>(nonzeros.others);
  return count * (sizeof(Scalar) + others * sizeof(Index)) + 256 * (others + 1);
}

}  // namespace sporades::detail
