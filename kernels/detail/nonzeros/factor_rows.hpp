// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/streaming.hpp>
#include <sporades/kernels/detail/work_items.hpp>

/// Every storage of nonzeros has a type ...Nonzeros that kernels read it by, as seen from one mode,
/// that of the output rows. All of them have
///   size(), values(p)      the number of nonzeros; x_p
///   fetch(p)               an Entry: what is stored of nonzero p, in registers
///   index(entry, m)        its index in the m-th of the other modes
///   product, term          the product of the other modes' factor rows, and x_p times that
///   rows(p), opens_row(p)  a cursor at the row of nonzero p (row_cursors.hpp); whether it begins
///   one leaves(rows, entry)    whether a nonzero is past the cursor's row

namespace sporades::detail {

/// Number of modes that a kernel unrolls over; others are counted at run time.
inline constexpr int any_number = -1;

template <class Nonzeros>
inline constexpr bool is_on_host = std::is_same_v<typename Nonzeros::Memory, Kokkos::HostSpace>;

/// The factors of the other modes, `Others` of them or any number, and products of their rows; the
/// base of a Nonzeros, which gives index(at, m) for its entries, and for what else it calls by.
/// Gathered: what the factors are stored as.
template <class Nonzeros, class ScalarType, class MemorySpace, int Others,
          class Gathered = ScalarType>
struct FactorRows {
  using Scalar = ScalarType;
  using Memory = MemorySpace;
  static constexpr int other_modes = Others;
  static constexpr int capacity = Others == any_number ? max_order : Others;
  static constexpr bool has_words = false;  // whose bits say which nonzeros are a run
  /// Hosts ask for the rows of so many nonzeros later, if not 0. On two cores of a Xeon that takes
  /// 0.75 to 0.9 of the time where double rows are gathered in float, 0.9 to 1.2 of it where they
  /// are gathered in 16 bits, and 1.05 to 1.2 of it where they are not rounded.
  static constexpr Position rows_ahead = std::is_same_v<MemorySpace, Kokkos::HostSpace> &&
                                                 std::is_same_v<Gathered, float> &&
                                                 std::is_same_v<ScalarType, double>
                                             ? 16
                                             : 0;

  using Factor = RawMatrix<Gathered const, MemorySpace>;

  Kokkos::Array<Factor, capacity> factors;  // of the other modes
  int others;                               // N - 1
  int split = 0;  // modes multiplied once a run: read where kernels do not unroll over them

  KOKKOS_FORCEINLINE_FUNCTION int modes() const { return Others == any_number ? others : Others; }

  /// The columns that the terms of a tile of the output are made of: here those of the tile.
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION Columns const& term_columns(Columns const& tile) const {
    return tile;
  }

  /// These nonzeros with factors that begin at this column. Walks of hosts take such a copy:
  /// compilers keep it in registers, as no store to the output can change it.
  KOKKOS_FORCEINLINE_FUNCTION Nonzeros from_column(std::size_t first) const {
    Nonzeros moved = self();
    for (int m = 0; m < modes(); ++m)
      moved.factors[m] =
          Factor(factors[m].data() + first, factors[m].extent(0), factors[m].stride(0));
    return moved;
  }

  /// Asks for the factor rows of modes `first` and up, as far as a tile goes.
  template <class Columns, class At>
  KOKKOS_FORCEINLINE_FUNCTION void prefetch_rows(At const& at, Columns const& columns,
                                                 int first) const {
    constexpr int line = 64 / sizeof(Gathered);
    for (int m = first; m < modes(); ++m) {
      Gathered const* const row = &factors[m](self().index(at, m), columns.first);
      for (int j = 0; j < Columns::width; j += line) prefetch(row + j);
    }
  }

  /// product *= the factor rows of modes first to last - 1.
  template <class Columns, class At>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(typename Columns::T& product, At const& at,
                                            Columns const& columns, int first, int last) const {
    for (int m = first; m < last; ++m)
      product.multiply(columns.load(factors[m], self().index(at, m)));
  }
  /// The product of the factor rows of modes first and up.
  template <class At, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto product(At const& at, Columns const& columns,
                                           int first = 0) const {
    typename Columns::T product;
    if (modes() == 0) {
      product.fill(Scalar(1));
      return product;
    }
    product = columns.load(factors[first], self().index(at, first));
    multiply(product, at, columns, first + 1, modes());
    return product;
  }
  /// x_p times that.
  template <class Entry, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto term(Entry const& entry, Columns const& columns,
                                        int first = 0) const {
    typename Columns::T product;
    if (modes() == 0) {
      product.fill(entry.value);
      return product;
    }
    product = columns.load(factors[first], self().index(entry, first));
    product.multiply(entry.value);
    multiply(product, entry, columns, first + 1, modes());
    return product;
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION Nonzeros const& self() const {
    return static_cast<Nonzeros const&>(*this);
  }
};

/// True where kernels unroll over that many other modes: orders 2 to 5 with 32-bit indices.
template <class Index>
constexpr bool is_unrolled(int others) {
  return sizeof(Index) == 4 && 1 <= others && others <= 4;
}

/// Calls run(constant) with the number of other modes where kernels unroll over it, else with
/// any_number.
template <class Index, int fewest = 1, class Run>
void with_unrolled_modes(int others, Run const& run) {
  if constexpr (sizeof(Index) == 4) {
    if constexpr (fewest == 1)
      if (with_constant<1>(others, run)) return;
    if (with_constant<2, 3, 4>(others, run)) return;
  }
  run(std::integral_constant<int, any_number>{});
}

/// Every width where kernels unroll over the modes, a few where they do not.
template <int others>
inline constexpr TileWidths tile_widths =
    others == any_number ? TileWidths::coarse : TileWidths::fine;

/// True if every matrix that the kernel reads or writes allows tiles of so many columns, whole
/// units of 16 bytes of V: by default 16 bytes.
template <int columns = 0, class FactorType, class Scalar, class MemorySpace>
bool all_rows_aligned(std::vector<FactorType> const& A, int n,
                      Matrix<Scalar, MemorySpace> const& V) {
  constexpr std::size_t width = columns > 0 ? columns : 16 / sizeof(Scalar);
  constexpr std::size_t tile = width * sizeof(typename FactorType::value_type);
  bool aligned = rows_are_aligned(V);
  for (int m = 0; m < static_cast<int>(A.size()); ++m)
    aligned = aligned && (m == n || rows_are_aligned(A[m], tile));
  return aligned;
}

}  // namespace sporades::detail
