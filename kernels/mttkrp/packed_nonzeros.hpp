// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/packed_coo.hpp>
#include <sporades/kernels/mttkrp/coo_nonzeros.hpp>

namespace sporades::detail {

/// The nonzeros of a PackedCoo as MTTKRP on its row mode sees them: see coo_nonzeros.hpp.
template <class Scalar, class Index, class MemorySpace, class WordType, int Others>
struct PackedNonzeros {
  using Word = WordType;
  static constexpr int capacity = Others == any_number ? max_order - 1 : Others;
  struct Entry {
    Word word;
    Scalar value;
  };

  /// The rows one after another, each loaded while the one before it is summed.
  struct FlaggedRows {
    Index const* next;
    Index const* last;
    Index row, following;

    KOKKOS_FORCEINLINE_FUNCTION bool leaves(Entry const& entry) const {
      return entry.word & row_flag<Word>;
    }
    KOKKOS_FORCEINLINE_FUNCTION void enter(Entry const&) {
      row = following;
      if (next < last) ++next;
      following = *next;
    }
  };

  RawVector<Word const, MemorySpace> words;     // nnz
  RawVector<Scalar const, MemorySpace> values;  // nnz
  RawVector<Index const, MemorySpace> row_names;
  RawVector<Position const, MemorySpace> marks;
  Kokkos::Array<RawMatrix<Scalar const, MemorySpace>, capacity> factors;  // of the other modes
  Kokkos::Array<int, capacity> shift;
  Kokkos::Array<Word, capacity> mask;
  int others;  // N - 1

  KOKKOS_FORCEINLINE_FUNCTION Position size() const { return values.extent(0); }
  KOKKOS_FORCEINLINE_FUNCTION int modes() const { return Others == any_number ? others : Others; }
  KOKKOS_FORCEINLINE_FUNCTION Entry fetch(Position p) const { return {words(p), values(p)}; }
  KOKKOS_FORCEINLINE_FUNCTION bool opens_row(Position p) const { return words(p) & row_flag<Word>; }
  /// p is where a chunk begins: a multiple of the distance of marks.
  KOKKOS_FORCEINLINE_FUNCTION FlaggedRows rows(Position p) const {
    constexpr Position distance = PackedCoo<Scalar, Index, MemorySpace>::mark_distance;
    Index const* const last = row_names.data() + row_names.extent(0) - 1;
    Index const* const row = row_names.data() + marks(p / distance);
    Index const* const next = row < last ? row + 1 : last;
    return {next, last, *row, *next};
  }
  KOKKOS_FORCEINLINE_FUNCTION std::size_t index(Word word, int m) const {
    return static_cast<std::size_t>(word >> shift[m] & mask[m]);
  }

  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto term(Entry const& entry, Columns const& columns) const {
    typename Columns::T product;
    if (modes() == 0) {
      product.fill(entry.value);
      return product;
    }
    product = columns.load(factors[0], index(entry.word, 0));
    product.multiply(entry.value);
    multiply(product, entry.word, columns, 1, modes());
    return product;
  }

  /// product *= the factor rows of modes first to last - 1.
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(typename Columns::T& product, Word word,
                                            Columns const& columns, int first, int last) const {
    for (int m = first; m < last; ++m) product.multiply(columns.load(factors[m], index(word, m)));
  }
};

/// What MTTKRP on the row mode reads of X and A, through words of that type.
template <int Others, class Word, class Scalar, class Index, class MemorySpace>
auto packed_nonzeros(PackedCoo<Scalar, Index, MemorySpace> const& X,
                     Kokkos::View<Word*, MemorySpace> const& words,
                     Factors<Scalar, MemorySpace> const& A) {
  PackedNonzeros<Scalar, Index, MemorySpace, Word, Others> nonzeros;
  nonzeros.words = words;
  nonzeros.values = X.values;
  nonzeros.row_names = X.rows;
  nonzeros.marks = X.marks;
  nonzeros.others = X.order() - 1;
  for (int k = 0; k < nonzeros.others; ++k) {
    nonzeros.factors[k] = A[X.modes[k]];
    nonzeros.shift[k] = X.shifts[k];
    nonzeros.mask[k] = static_cast<Word>(low_bits(index_bits(X.dims[X.modes[k]])));
  }
  return nonzeros;
}

/// Calls run(nonzeros, widths constant) with the type of nonzeros that fits X.
template <class Scalar, class Index, class MemorySpace, class Run>
void for_packed_nonzeros(PackedCoo<Scalar, Index, MemorySpace> const& X,
                         Factors<Scalar, MemorySpace> const& A, Run const& run) {
  for_other_modes<Index>(X.order() - 1, [&](auto others) {
    std::integral_constant<TileWidths, tile_widths<others()>> const widths{};
    if (X.wide.extent(0) == 0)
      run(packed_nonzeros<others()>(X, X.narrow, A), widths);
    else
      run(packed_nonzeros<others()>(X, X.wide, A), widths);
  });
}

}  // namespace sporades::detail
