// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/alto_tensor.hpp>
#include <sporades/kernels/detail/nonzeros/factor_rows.hpp>
#include <sporades/kernels/detail/nonzeros/row_cursors.hpp>

namespace sporades::detail {

/// The nonzeros of an AltoTensor, in whose linear order rows come in any order; see
/// factor_rows.hpp.
template <class ScalarType, class Index, class MemorySpace, int Others, bool two_words>
struct AltoNonzeros : FactorRows<AltoNonzeros<ScalarType, Index, MemorySpace, Others, two_words>,
                                 ScalarType, MemorySpace, Others> {
  using Scalar = ScalarType;
  using Row = Index;
  static constexpr int capacity = Others == any_number ? max_order : Others;
  struct Entry {
    std::uint64_t low, high;
    Scalar value;
    Index row;
  };
  struct Bits {
    BitMask low, high;
    int low_count;
    KOKKOS_FORCEINLINE_FUNCTION std::size_t of(Entry const& entry) const {
      std::size_t index = extract_bits(entry.low, low);
      if constexpr (two_words) index |= extract_bits(entry.high, high) << low_count;
      return index;
    }
  };

  RawVector<std::uint64_t const, MemorySpace> low, high;  // nnz
  RawVector<Scalar const, MemorySpace> values;            // nnz
  Kokkos::Array<Bits, capacity> bits;                     // of the other modes
  Bits row_bits;

  KOKKOS_FORCEINLINE_FUNCTION Position size() const { return values.extent(0); }
  KOKKOS_FORCEINLINE_FUNCTION NamedRows<Index> rows(Position p) const { return {fetch(p).row}; }
  KOKKOS_FORCEINLINE_FUNCTION bool leaves(NamedRows<Index> const& rows, Entry const& entry) const {
    return entry.row != rows.row;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool opens_row(Position) const { return true; }

  KOKKOS_FORCEINLINE_FUNCTION Entry fetch(Position p) const {
    Entry entry{low(p), 0, values(p), 0};
    if constexpr (two_words) entry.high = high(p);
    entry.row = static_cast<Index>(row_bits.of(entry));
    return entry;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::size_t index(Entry const& entry, int m) const {
    return bits[m].of(entry);
  }
  /// x_p times the product, in this order: it is what the bits of strategy `alto` stand for.
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto term(Entry const& entry, Columns const& columns,
                                        int first = 0) const {
    auto term = this->product(entry, columns, first);
    term.multiply(entry.value);
    return term;
  }
};

/// What kernels read of X and A where the rows are those of mode n.
template <int Others, bool two_words, class Scalar, class Index, class MemorySpace>
auto alto_nonzeros(AltoTensor<Scalar, Index, MemorySpace> const& X,
                   Factors<Scalar, MemorySpace> const& A, int n) {
  AltoNonzeros<Scalar, Index, MemorySpace, Others, two_words> nonzeros;
  auto const bits = [&](int m) -> decltype(nonzeros.row_bits) {
    return {X.layout.low[m], X.layout.high[m], X.layout.low_count[m]};
  };
  nonzeros.low = X.low;
  nonzeros.high = X.high;
  nonzeros.values = X.values;
  nonzeros.row_bits = bits(n);
  nonzeros.others = 0;
  for (int m = 0; m < X.order(); ++m) {
    if (m == n) continue;
    nonzeros.factors[nonzeros.others] = A[m];
    nonzeros.bits[nonzeros.others] = bits(m);
    ++nonzeros.others;
  }
  return nonzeros;
}

/// Calls run(nonzeros) with a type that fits X.
template <class Scalar, class Index, class MemorySpace, class Run>
void with_alto_nonzeros(AltoTensor<Scalar, Index, MemorySpace> const& X,
                        Factors<Scalar, MemorySpace> const& A, int n, Run const& run) {
  if (X.layout.has_two_words()) return run(alto_nonzeros<any_number, true>(X, A, n));
  with_unrolled_modes<Index>(X.order() - 1,
                             [&](auto others) { run(alto_nonzeros<others(), false>(X, A, n)); });
}

/// True if the rows of every factor but A[n] are `stride` entries apart.
template <class Scalar, class MemorySpace>
bool all_strides_are(std::size_t stride, Factors<Scalar, MemorySpace> const& A, int n) {
  bool equal = true;
  for (int m = 0; m < static_cast<int>(A.size()); ++m)
    equal = equal && (m == n || A[m].stride(0) == stride);
  return equal;
}

}  // namespace sporades::detail
