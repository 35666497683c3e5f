// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/coo_tensor.hpp>
#include <sporades/kernels/detail/nonzeros/factor_rows.hpp>
#include <sporades/kernels/detail/nonzeros/row_cursors.hpp>

namespace sporades::detail {

/// Orders of CooNonzeros: the p-th nonzero is the one at order(p).
struct Identity {
  KOKKOS_FORCEINLINE_FUNCTION Position operator()(Position p) const { return p; }
};

template <class MemorySpace>
struct Permuted {
  RawVector<Position const, MemorySpace> permutation;
  KOKKOS_FORCEINLINE_FUNCTION Position operator()(Position p) const { return permutation(p); }
};

/// The nonzeros of a COO tensor; see factor_rows.hpp. The order is a base so that it takes no room
/// where it is empty: a functor past 512 bytes is one that a GPU waits for.
template <class ScalarType, class Index, class MemorySpace, int Others, class Order = Identity>
struct CooNonzeros : FactorRows<CooNonzeros<ScalarType, Index, MemorySpace, Others, Order>,
                                ScalarType, MemorySpace, Others>,
                     Order {
  using Base = FactorRows<CooNonzeros, ScalarType, MemorySpace, Others>;
  using Scalar = ScalarType;
  using Row = Index;
  static constexpr int capacity = Others == any_number ? max_order : Others;
  struct Entry {
    Index row;
    Scalar value;
    Index other[Others > 0 ? Others : 1];  // where kernels unroll over them
    Position place;
  };

  Kokkos::Array<RawVector<Index const, MemorySpace>, capacity> indices;  // of the other modes
  RawVector<Index const, MemorySpace> row_of;                            // nnz; none without a row
  RawVector<Scalar const, MemorySpace> values;                           // nnz

  KOKKOS_FORCEINLINE_FUNCTION Position size() const { return values.extent(0); }
  KOKKOS_FORCEINLINE_FUNCTION Position place(Position p) const { return Order::operator()(p); }
  KOKKOS_FORCEINLINE_FUNCTION NamedRows<Index> rows(Position p) const { return {row_of(place(p))}; }
  KOKKOS_FORCEINLINE_FUNCTION bool leaves(NamedRows<Index> const& rows, Entry const& entry) const {
    return entry.row != rows.row;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool opens_row(Position p) const {
    return p == 0 || row_of(place(p)) != row_of(place(p - 1));
  }
  KOKKOS_FORCEINLINE_FUNCTION Entry fetch(Position p) const {
    Entry entry;
    entry.place = place(p);
    entry.row = row_of(entry.place);
    entry.value = values(entry.place);
    if constexpr (Others != any_number)
      for (int m = 0; m < Others; ++m) entry.other[m] = indices[m](entry.place);
    return entry;
  }
  KOKKOS_FORCEINLINE_FUNCTION Index index(Entry const& entry, int m) const {
    if constexpr (Others == any_number)
      return indices[m](entry.place);
    else
      return entry.other[m];
  }
  /// Where the modes are counted at run time, products that begin with a number take six registers
  /// of a GPU's thread fewer than those that begin with a row.
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto product(Entry const& entry, Columns const& columns) const {
    if constexpr (Others == any_number)
      return multiplied(Scalar(1), entry, columns);
    else
      return Base::product(entry, columns);
  }
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto term(Entry const& entry, Columns const& columns) const {
    if constexpr (Others == any_number)
      return multiplied(entry.value, entry, columns);
    else
      return Base::term(entry, columns);
  }
  /// The row of factor m that the nonzero at place p names, without the rest of its entry.
  KOKKOS_FORCEINLINE_FUNCTION Scalar const* factor_row(Position p, int m) const {
    auto const& A = this->factors[m];
    return A.data() + static_cast<std::size_t>(indices[m](p)) * A.stride(0);
  }

 private:
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto multiplied(Scalar first, Entry const& entry,
                                              Columns const& columns) const {
    typename Columns::T product;
    product.fill(first);
    this->multiply(product, entry, columns, 0, this->others);
    return product;
  }
};

/// The coordinates of mode m.
template <class Scalar, class Index, class MemorySpace>
RawVector<Index const, MemorySpace> mode_indices(CooTensor<Scalar, Index, MemorySpace> const& X,
                                                 int m) {
  return RawVector<Index const, MemorySpace>(X.indices(m), X.nnz());
}

/// What kernels read of X and A for these other modes, in this order, where there are no rows.
template <int Others, class Scalar, class Index, class MemorySpace, class Order = Identity>
auto coo_nonzeros(CooTensor<Scalar, Index, MemorySpace> const& X,
                  Factors<Scalar, MemorySpace> const& A, std::vector<int> const& modes,
                  Order order = {}) {
  CooNonzeros<Scalar, Index, MemorySpace, Others, Order> nonzeros;
  nonzeros.values = X.values;
  static_cast<Order&>(nonzeros) = order;
  nonzeros.others = static_cast<int>(modes.size());
  for (int k = 0; k < nonzeros.others; ++k) {
    nonzeros.indices[k] = mode_indices(X, modes[k]);
    nonzeros.factors[k] = A[modes[k]];
  }
  return nonzeros;
}

/// What kernels read of X and A for rows of mode n and all other modes.
template <int Others, class Scalar, class Index, class MemorySpace, class Order = Identity>
auto coo_nonzeros(CooTensor<Scalar, Index, MemorySpace> const& X,
                  Factors<Scalar, MemorySpace> const& A, int n, Order order = {}) {
  std::vector<int> modes;
  for (int m = 0; m < X.order(); ++m)
    if (m != n) modes.push_back(m);
  auto nonzeros = coo_nonzeros<Others>(X, A, modes, order);
  nonzeros.row_of = mode_indices(X, n);
  return nonzeros;
}

}  // namespace sporades::detail
