// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/types.hpp>

/// Cursors that follow the rows of consecutive nonzeros: `row` is that of the nonzero at hand, and
/// the first nonzero of the next row is to be entered.

namespace sporades::detail {

/// The cursor of nonzeros that name their rows.
template <class Index>
struct NamedRows {
  Index row;

  template <class Entry>
  KOKKOS_FORCEINLINE_FUNCTION void enter(Entry const& entry) {
    row = entry.row;
  }
};

/// The cursor of rows that are counted: `row` is the place of a row among those that are not empty.
template <class Index>
struct CountedRows {
  Index row;

  template <class Entry>
  KOKKOS_FORCEINLINE_FUNCTION void enter(Entry const&) {
    ++row;
  }
};

/// The cursor of nonzeros whose rows are listed in order; a row's name is loaded while the row
/// before it is summed.
template <class Index>
struct ListedRows {
  Index const* next;
  Index const* last;
  Index row, following;

  template <class Names>
  KOKKOS_FORCEINLINE_FUNCTION ListedRows(Names const& names, Position place)
      : next(names.data() + place),
        last(names.data() + names.extent(0) - 1),
        row(*next),
        following(*next) {
    load();
  }
  template <class Entry>
  KOKKOS_FORCEINLINE_FUNCTION void enter(Entry const&) {
    row = following;
    load();
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void load() {
    if (next < last) ++next;
    following = *next;
  }
};

}  // namespace sporades::detail
