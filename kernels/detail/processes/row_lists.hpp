// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/tile.hpp>
#include <sporades/core/matrix.hpp>

namespace sporades::detail {

/// Lists of rows of a matrix, each of which becomes one row: their sum.
template <class MemorySpace>
struct RowLists {
  Kokkos::View<Position*, MemorySpace> begins;     // of each list in `rows`, and the end
  Kokkos::View<Position*, MemorySpace> rows;       // list after list
  Kokkos::View<std::uint8_t*, MemorySpace> joins;  // of `rows`: see SumLists; 0 for the first

  std::uint64_t bytes() const {
    return (begins.extent(0) + rows.extent(0)) * sizeof(Position) + joins.extent(0);
  }
};

/// The height, in a binary tree over slices, of the node where two of them meet.
KOKKOS_INLINE_FUNCTION std::uint8_t join_height(std::uint32_t slice, std::uint32_t other) {
  std::uint8_t height = 0;
  for (std::uint32_t bits = slice ^ other; bits != 0; bits >>= 1) ++height;
  return height;
}

/// begins(i) = the first place, in the order of rows, of a part of row i or a later one; joins(k) =
/// the height where the k-th part in that order meets the one before.
template <class MemorySpace>
struct ListParts {
  Kokkos::View<std::uint64_t*, MemorySpace> rows;    // of parts
  Kokkos::View<std::uint32_t*, MemorySpace> slices;  // of parts
  RowLists<MemorySpace> lists;

  KOKKOS_FUNCTION void operator()(Position k) const {
    auto const& order = lists.rows;
    Position const parts = rows.extent(0);
    std::uint64_t const first = k == 0 ? 0 : rows(order(k - 1)) + 1;
    std::uint64_t const last = k == parts ? lists.begins.extent(0) - 1 : rows(order(k));
    for (std::uint64_t row = first; row <= last; ++row) lists.begins(row) = k;
    if (k == parts) return;
    bool const is_first = k == 0 || rows(order(k - 1)) != rows(order(k));
    lists.joins(k) = is_first ? 0 : join_height(slices(order(k - 1)), slices(order(k)));
  }
};

template <class MemorySpace>
struct CountLists {
  Kokkos::View<Position*, MemorySpace> begins;

  KOKKOS_FUNCTION void operator()(Position i, std::uint64_t& used) const {
    if (begins(i) < begins(i + 1)) ++used;
  }
};

/// to(i, r) = the sum of from(rows(k), r) over list i. A binary tree over slices, `heights` high,
/// gives the order: two neighbours are added to each other before their sum is added higher up.
/// from: with padding. An item is a row on hosts, four entries of one on GPUs.
template <class ExecutionSpace, class Scalar, class MemorySpace, int heights>
struct SumLists {
  static constexpr int width = 4;
  using T = Tile<Scalar, width>;

  Matrix<Scalar, MemorySpace> from, to;
  RowLists<MemorySpace> lists;

  KOKKOS_INLINE_FUNCTION Position tiles() const { return (to.extent(1) + width - 1) / width; }
  Position items() const { return is_gpu<ExecutionSpace> ? to.extent(0) * tiles() : to.extent(0); }

  KOKKOS_FUNCTION void operator()(Position item) const {
    if constexpr (is_gpu<ExecutionSpace>)
      sum(item / tiles(), item % tiles() * width);
    else
      for (Position tile = 0; tile < tiles(); ++tile) sum(item, tile * width);
  }

  /// Columns r to r + width - 1 of list i. A sum waits for one that is as high as its own join: in
  /// waiting[h] where that is h + 1, and the first one in the last place.
  KOKKOS_INLINE_FUNCTION void sum(Position i, Position r) const {
    T waiting[heights + 1];
    unrolled<heights + 1>([&](int h) { waiting[h].fill(Scalar(0)); });
    unsigned places = 0;  // those in use
    Position const begin = lists.begins(i), end = lists.begins(i + 1);
    for (Position k = begin; k < end; ++k) {
      int const place = k == begin ? heights : lists.joins(k) - 1;
      T const part = load_tile<Scalar, width, true>(&from(lists.rows(k), r));
      if (places & ((1u << place) - 1)) add_up(waiting, places, place);
      unrolled<heights + 1>([&](int h) {
        if (h == place) waiting[h] = part;
      });
      places |= 1u << place;
    }
    add_up(waiting, places, heights);
    for (int c = 0; c < width; ++c)
      if (r + c < to.extent(1)) to(i, r + c) = waiting[heights][c];
  }

  /// Adds the sums below a place to one another and to the next one.
  static KOKKOS_FORCEINLINE_FUNCTION void add_up(T (&waiting)[heights + 1], unsigned& places,
                                                 int place) {
    T sum;
    sum.fill(Scalar(0));
    bool is_any = false;
    unrolled<heights + 1>([&](int h) {
      if (!(places >> h & 1) || (h >= place && !is_any)) return;
      if (is_any) waiting[h].add(sum);
      is_any = h < place;
      if (is_any) sum = waiting[h];
    });
    places &= ~((1u << place) - 1);
  }
};

}  // namespace sporades::detail
