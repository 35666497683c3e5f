// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/hierarchical_tensor.hpp>
#include <sporades/kernels/detail/row_sums.hpp>

namespace sporades::detail {

/// What the walks read of Fibers.
template <class MemorySpace>
struct FiberRanges {
  RawVector<Position const, MemorySpace> begin;  // fibers + 1
  RawVector<Position const, MemorySpace> marks;  // the fiber of every distance-th item
  Position distance;
  Position items;

  template <class Index>
  explicit FiberRanges(Fibers<Index, MemorySpace> const& fibers)
      : begin(fibers.begin),
        marks(fibers.marks),
        distance(fibers.mark_distance),
        items(fibers.items()) {}

  KOKKOS_FORCEINLINE_FUNCTION Position fibers() const { return begin.extent(0) - 1; }

  /// The fiber of item p, a multiple of the distance.
  KOKKOS_FORCEINLINE_FUNCTION Position at(Position p) const { return marks(p / distance); }

  /// The first fiber that begins at p, a multiple of the distance, or later.
  KOKKOS_FORCEINLINE_FUNCTION Position from(Position p) const {
    if (p >= items) return fibers();
    Position const f = at(p);
    return begin(f) < p ? f + 1 : f;
  }
};

/// sums += the terms of items p to stop, a tile a part of the columns; a batch's loads are all
/// under way before any is used.
template <int Batch, class Terms, class Columns, class T>
KOKKOS_FORCEINLINE_FUNCTION void add_terms(Terms const& terms, Columns const& columns, Position p,
                                           Position stop, T (&sums)[Columns::parts]) {
  if constexpr (Batch > 1) {
    for (; p + Batch <= stop; p += Batch) {
      typename Terms::Entry entry[Batch];
      for (int b = 0; b < Batch; ++b) entry[b] = terms.fetch(p + b);
      T row[Batch];
      for (int b = 0; b < Batch; ++b) row[b] = terms.row(entry[b], columns);
      for (int b = 0; b < Batch; ++b)
        for (int c = 0; c < Columns::parts; ++c)
          sums[c].add_product(terms.factor(entry[b], columns, c), row[b]);
    }
  }
  for (; p < stop; ++p) {
    auto const entry = terms.fetch(p);
    auto const row = terms.row(entry, columns);
    for (int c = 0; c < Columns::parts; ++c)
      sums[c].add_product(terms.factor(entry, columns, c), row);
  }
}

}  // namespace sporades::detail
