// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/coo_tensor.hpp>
#include <sporades/kernels/detail/segment_walk.hpp>

namespace sporades::detail {

/// Number of modes that a kernel unrolls over; others are counted at run time.
inline constexpr int any_number = -1;

/// The nonzeros of a COO tensor as MTTKRP sees them on mode n: an output row, and for a tile of
/// columns the term x_p * prod_{m != n} A_m(i_m, :). `Others` is N - 1 or any_number.
/// Order is Identity, or a permutation that says which nonzero comes p-th.
template <class Scalar, class Index, class MemorySpace, int Others, class Order>
struct CooNonzeros {
  using Memory = MemorySpace;
  using Row = Index;
  static constexpr int capacity = Others == any_number ? max_order - 1 : Others;
  struct Entry {
    Index row;
    Scalar value;
    Index index[Others == any_number ? 1 : Others];
    Position place;
  };

  RawVector<Index const, MemorySpace> row_of;  // nnz: coordinates of mode n
  RawVector<Scalar const, MemorySpace> values;
  Kokkos::Array<RawVector<Index const, MemorySpace>, capacity> indices;  // of the other modes
  Kokkos::Array<RawMatrix<Scalar const, MemorySpace>, capacity> factors;
  Order order;
  int others;  // N - 1

  KOKKOS_FORCEINLINE_FUNCTION Position size() const { return values.extent(0); }
  KOKKOS_FORCEINLINE_FUNCTION NamedRows<Index> rows(Position p) const { return {row_of(order(p))}; }
  KOKKOS_FORCEINLINE_FUNCTION bool opens_row(Position p) const {
    return p == 0 || row_of(order(p)) != row_of(order(p - 1));
  }

  KOKKOS_FORCEINLINE_FUNCTION Entry fetch(Position p) const {
    Entry entry;
    entry.place = order(p);
    entry.row = row_of(entry.place);
    entry.value = values(entry.place);
    if constexpr (Others != any_number)
      for (int m = 0; m < Others; ++m) entry.index[m] = indices[m](entry.place);
    return entry;
  }

  /// The product of the other modes' factor rows.
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto product(Entry const& entry, Columns const& columns) const {
    typename Columns::T product;
    if constexpr (Others == any_number) {
      product.fill(1);
      for (int m = 0; m < others; ++m)
        product.multiply(columns.load(factors[m], indices[m](entry.place)));
    } else {
      product = columns.load(factors[0], entry.index[0]);
      for (int m = 1; m < Others; ++m) product.multiply(columns.load(factors[m], entry.index[m]));
    }
    return product;
  }
  /// x_p times that.
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto term(Entry const& entry, Columns const& columns) const {
    typename Columns::T product;
    if constexpr (Others == any_number) {
      product.fill(entry.value);
      for (int m = 0; m < others; ++m)
        product.multiply(columns.load(factors[m], indices[m](entry.place)));
    } else {
      product = columns.load(factors[0], entry.index[0]);
      product.multiply(entry.value);
      for (int m = 1; m < Others; ++m) product.multiply(columns.load(factors[m], entry.index[m]));
    }
    return product;
  }
};

struct Identity {
  KOKKOS_FORCEINLINE_FUNCTION Position operator()(Position p) const { return p; }
};

template <class MemorySpace>
struct Permuted {
  RawVector<Position const, MemorySpace> permutation;
  KOKKOS_FORCEINLINE_FUNCTION Position operator()(Position p) const { return permutation(p); }
};

/// The coordinates of mode m.
template <class Scalar, class Index, class MemorySpace>
RawVector<Index const, MemorySpace> mode_indices(CooTensor<Scalar, Index, MemorySpace> const& X,
                                                 int m) {
  return RawVector<Index const, MemorySpace>(X.indices(m), X.nnz());
}

/// What MTTKRP on mode n reads of X and A.
template <int Others, class Scalar, class Index, class MemorySpace, class Order>
auto coo_nonzeros(CooTensor<Scalar, Index, MemorySpace> const& X,
                  Factors<Scalar, MemorySpace> const& A, int n, Order order) {
  CooNonzeros<Scalar, Index, MemorySpace, Others, Order> nonzeros;
  nonzeros.row_of = mode_indices(X, n);
  nonzeros.values = X.values;
  nonzeros.order = order;
  nonzeros.others = 0;
  for (int m = 0; m < X.order(); ++m) {
    if (m == n) continue;
    nonzeros.indices[nonzeros.others] = mode_indices(X, m);
    nonzeros.factors[nonzeros.others] = A[m];
    ++nonzeros.others;
  }
  return nonzeros;
}

/// True where kernels unroll over that many other modes: orders 2 to 5 with 32-bit indices.
template <class Index>
constexpr bool is_unrolled(int others) {
  return sizeof(Index) == 4 && 1 <= others && others <= 4;
}

/// Calls run(constant) with the number of other modes where kernels unroll over it, else with
/// any_number.
template <class Index, class Run>
void for_other_modes(int others, Run const& run) {
  if constexpr (sizeof(Index) == 4) {
    if (others == 1) return run(std::integral_constant<int, 1>{});
    if (others == 2) return run(std::integral_constant<int, 2>{});
    if (others == 3) return run(std::integral_constant<int, 3>{});
    if (others == 4) return run(std::integral_constant<int, 4>{});
  }
  run(std::integral_constant<int, any_number>{});
}

/// Every width where kernels unroll over the modes, a few where they do not.
template <int others>
inline constexpr TileWidths tile_widths =
    others == any_number ? TileWidths::coarse : TileWidths::fine;

/// True if every matrix that the kernel reads or writes allows 16-byte tiles.
template <class Scalar, class MemorySpace>
bool all_rows_aligned(Factors<Scalar, MemorySpace> const& A, int n,
                      Matrix<Scalar, MemorySpace> const& V) {
  bool aligned = rows_are_aligned(V);
  for (int m = 0; m < static_cast<int>(A.size()); ++m)
    aligned = aligned && (m == n || rows_are_aligned(A[m]));
  return aligned;
}

}  // namespace sporades::detail
