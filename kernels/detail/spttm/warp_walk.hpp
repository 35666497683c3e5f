// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/bits.hpp>
#include <sporades/kernels/detail/spttm/out_of_core_fibers.hpp>
#include <sporades/kernels/detail/work_items.hpp>

/// Sums of whole fibers on GPUs; on hosts: whole_fibers.hpp. 32 neighbouring items of a range
/// policy, the lanes of a warp, take some windows of 32 items of the tensor, one after another.
/// - Each lane loads one item of a window; a word tells which of them begin a fiber.
/// - A group of lanes, as many as a row has tiles, takes Steps neighbouring items, whose rows it
///   loads together.
/// - Sums of fibers that reach over several groups are put together across the lanes.
/// So no load waits for another except a row's for its item's, long fibers and short ones take the
/// same time, and each row is written once, by the warp in whose windows its fiber begins. The
/// order of additions is fixed by the windows alone.

namespace sporades::detail {

/// Rows of a matrix from one of them on.
template <class Scalar>
struct RowsFrom {
  Scalar* first;
  std::uint32_t row_stride;

  KOKKOS_FORCEINLINE_FUNCTION Scalar* data() const { return first; }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t stride(int) const { return row_stride; }
};

template <class Terms, class Scalar, class MemorySpace, int Width, Access access, int Steps>
struct WarpWalk {
  static constexpr int window = 32;
  using Columns = typename Terms::template Columns<Width, access>;
  using T = typename Columns::T;

  Terms terms;
  RawVector<std::uint32_t const, MemorySpace> heads;  // windows + 1
  RawVector<Position const, MemorySpace> marks;       // the fiber of a window's first item
  RawMatrix<Scalar, MemorySpace> V;                   // fibers x columns
  WalkShape shape;                                    // length: windows of a warp
  Position items;
  int row_lanes;         // a power of two from Steps on; up to 32
  int row_shift;         // its logarithm
  std::uint32_t passes;  // of 32 tiles, over all columns
  Position first_item;   // of the policy

  /// A warp's view of its work.
  struct Warp {
    VectorLanes lanes;
    Columns columns;
    int mine, group;  // the lane, and its group
    bool is_there;    // it has a tile
    T open;           // of the fiber that the windows so far have not ended, in every group
    bool begun;       // a fiber has begun in the warp's windows: it writes those that end from now

    KOKKOS_FORCEINLINE_FUNCTION T of(int lane, T const& tile) const {
      T other;
      for (int k = 0; k < T::parts; ++k) other.part[k] = lanes.of(lane, tile.part[k]);
      return other;
    }
  };

  KOKKOS_FORCEINLINE_FUNCTION typename Terms::Entry entry(Warp const& warp, Position first,
                                                          int count) const {
    if (warp.mine < count) return terms.fetch(first + warp.mine);
    return {};
  }

  /// What a group multiplies: Steps rows, all under way at once, and their factors.
  struct Batch {
    T row[Steps];
    Scalar factor[Steps];
  };

  /// What a group multiplies of the items that lane j has, and the lanes each `distance` behind.
  KOKKOS_FORCEINLINE_FUNCTION Batch fetch(Warp const& warp, typename Terms::Entry const& own, int j,
                                          int distance) const {
    typename Terms::Entry entries[Steps];
    Batch batch;
    for (int s = 0; s < Steps; ++s) entries[s] = terms.of(warp.lanes, j + s * distance, own);
    for (int s = 0; s < Steps; ++s) batch.row[s] = terms.row(entries[s], warp.columns);
    for (int s = 0; s < Steps; ++s) batch.factor[s] = terms.factor(entries[s], warp.columns, 0);
    return batch;
  }

  KOKKOS_FORCEINLINE_FUNCTION void store(Warp const& warp, RowsFrom<Scalar> const& rows, int f,
                                         T const& sum) const {
    if (warp.is_there)
      warp.columns.part(0).template store<true>(rows, static_cast<std::uint32_t>(f), sum);
  }

  /// A window of fibers of one item each: groups take turns, so that they write row by row.
  KOKKOS_FORCEINLINE_FUNCTION void copy_window(Warp const& warp, typename Terms::Entry const& own,
                                               RowsFrom<Scalar> const& rows) const {
    int const groups = window >> row_shift;
    for (int q = 0; q < window; q += groups * Steps) {
      auto batch = fetch(warp, own, q + warp.group, groups);
      for (int s = 0; s < Steps; ++s) {
        batch.row[s].multiply(batch.factor[s]);
        store(warp, rows, q + s * groups + warp.group, batch.row[s]);
      }
    }
  }

  /// What a window's word says of the Steps items of a group.
  struct Heads {
    int first;                    // item, in the window
    std::uint32_t below;          // the bits of items before it that begin a fiber
    std::uint32_t opens, closes;  // bit s: the item first + s begins a fiber; ends one
  };

  /// Head scan of the items from `first` on. next: the word of the window behind it.
  static KOKKOS_FORCEINLINE_FUNCTION Heads scan_heads(int first, std::uint32_t word,
                                                      std::uint32_t next) {
    std::uint32_t const below = word & ((1u << first) - 1), opens = word >> first;
    std::uint32_t const behind = first + Steps == window ? (next & 1) << (Steps - 1) : 0;
    return {first, below, opens, opens >> 1 | behind};
  }

  /// Local sums: stores the fibers that begin and end in the group. open: the sum of the fiber that
  /// is open behind the group; ended: of the one that began before the group and ends in it, whose
  /// row is returned, or -1 where there is none.
  KOKKOS_FORCEINLINE_FUNCTION int sum_group(Warp const& warp, Batch const& batch,
                                            Heads const& heads, RowsFrom<Scalar> const& rows,
                                            T& open, T& ended) const {
    int row = count_ones(heads.below & ~1u);  // the first row is that of the window's first item
    bool begins = false;
    int ended_row = -1;
    open.fill(0);
    ended.fill(0);
    for (int s = 0; s < Steps; ++s) {
      bool const opens = heads.opens >> s & 1, closes = heads.closes >> s & 1;
      if (opens) {
        row += heads.first + s > 0 ? 1 : 0;
        begins = true;
        open.fill(0);
      }
      open.add_product(batch.factor[s], batch.row[s]);
      if (closes && begins) store(warp, rows, row, open);
      if (closes && !begins) {
        ended = open;
        ended_row = row;
      }
    }
    return ended_row;
  }

  /// Lane scan, segmented: adds to each group's open sum what groups before have of its fiber;
  /// begins: the fiber begins in the group. Returns what the group before hands to this one.
  KOKKOS_FORCEINLINE_FUNCTION T scan_lanes(Warp const& warp, bool begins, T& open) const {
    if (warp.group == 0 && !begins) open.add(warp.open);
    int is_whole = begins;
    for (int distance = row_lanes; distance < window; distance *= 2) {
      int const from = warp.mine >= distance ? warp.mine - distance : warp.mine;
      T const other = warp.of(from, open);
      int const other_is_whole = warp.lanes.of(from, is_whole);
      if (from != warp.mine && !is_whole) {
        open.add(other);
        is_whole = other_is_whole;
      }
    }
    return warp.of(warp.group > 0 ? warp.mine - row_lanes : warp.mine, open);
  }

  /// Stores the fiber that ends in the group, with what the group before has handed to it.
  KOKKOS_FORCEINLINE_FUNCTION void store_ended(Warp const& warp, RowsFrom<Scalar> const& rows,
                                               int row, T& ended, T const& handed) const {
    if (warp.group > 0)
      ended.add(handed);
    else
      ended.add(warp.open);
    store(warp, rows, row, ended);
  }

  /// Any window; next: the word behind it.
  KOKKOS_FORCEINLINE_FUNCTION void sum_window(Warp& warp, typename Terms::Entry const& own,
                                              RowsFrom<Scalar> const& rows, std::uint32_t word,
                                              std::uint32_t next) const {
    for (int q = 0; q < window; q += (window >> row_shift) * Steps) {
      int const first = q + Steps * warp.group;
      auto const batch = fetch(warp, own, first, 1);
      Heads const heads = scan_heads(first, word, next);
      T open, ended;
      int const row = sum_group(warp, batch, heads, rows, open, ended);
      T const handed = scan_lanes(warp, heads.opens << (32 - Steps) != 0, open);
      bool const began_here = warp.begun || heads.below != 0;  // else another warp writes it
      if (row >= 0 && began_here) store_ended(warp, rows, row, ended, handed);
      warp.open = warp.of(window - row_lanes + (warp.mine & (row_lanes - 1)), open);
    }
  }

  /// Adds the items behind the warp's windows, from window w on, that the open fiber still has.
  KOKKOS_FORCEINLINE_FUNCTION void add_rest(Warp& warp, std::uint32_t w, std::uint32_t word) const {
    T sum;
    sum.fill(0);
    for (bool ends = false; !ends; ++w) {
      int const count = word != 0 ? count_ones((word & ~(word - 1)) - 1) : window;
      auto const own = entry(warp, Position{window} * w, count);
      std::uint32_t const next = word != 0 ? 1 : heads(w + 1);
      int const groups = window >> row_shift;
      for (int q = 0; q < count; q += groups * Steps) {
        auto const batch = fetch(warp, own, q + warp.group, groups);
        for (int s = 0; s < Steps; ++s)
          if (q + s * groups + warp.group < count) sum.add_product(batch.factor[s], batch.row[s]);
      }
      word = next;
      ends = next & 1;
    }
    for (int distance = row_lanes; distance < window; distance *= 2)
      sum.add(warp.of(warp.mine ^ distance, sum));
    warp.open.add(sum);
  }

  KOKKOS_FUNCTION void operator()(Position i) const {
    Position const item = first_item + i;
    int const mine = static_cast<int>(item % window);
    Position const warp_number = item / window;
    Position const chunk = passes == 1 ? warp_number : warp_number / passes;
    Position const place =
        (warp_number - chunk * passes) * window + static_cast<Position>(mine & (row_lanes - 1));
    bool const is_there = place < shape.tiles;
    Warp warp{VectorLanes::of_items(window),
              terms.template columns<Width, access>(shape, is_there ? place : 0),
              mine,
              mine >> row_shift,
              is_there,
              {},
              false};
    warp.open.fill(0);
    auto const windows = static_cast<std::uint32_t>(marks.extent(0));
    auto w = static_cast<std::uint32_t>(chunk * shape.length);
    std::uint32_t const last = w + static_cast<std::uint32_t>(shape.length);
    std::uint32_t const stop = last < windows ? last : windows;
    std::uint32_t next = 0;
    auto const stride = static_cast<std::uint32_t>(V.stride(0));
    RowsFrom<Scalar> rows{V.data(), stride};
    for (; w < stop; ++w) {
      std::uint32_t const word = heads(w);
      next = heads(w + 1);
      if (word == 0 && !warp.begun) continue;  // within a fiber of a warp before
      Position const first = Position{window} * w;
      auto const own =
          entry(warp, first, items - first < window ? static_cast<int>(items - first) : window);
      rows.first = V.data() + marks(w) * stride;
      if (word == ~0u && (next & 1))
        copy_window(warp, own, rows);
      else
        sum_window(warp, own, rows, word, next);
      warp.begun = warp.begun || word != 0;
      rows.first += count_ones(word & ~1u) * stride;  // of the fiber that is open
    }
    if (!warp.begun || (next & 1) || w == windows) return;
    add_rest(warp, w, next);
    if (warp.group == 0) store(warp, rows, 0, warp.open);
  }
};

/// Row f of V from the items of fiber f, where no fiber is so long that all wait for it, of those
/// that begin in the range. tiles: see FiberTiles.
template <class ExecutionSpace, class Terms, class Scalar, class Index, class MemorySpace,
          class Tiles>
void sum_fibers_by_warps(ExecutionSpace const& exec, char const* label, Terms const& terms,
                         Fibers<Index, MemorySpace> const& fibers,
                         Matrix<Scalar, MemorySpace> const& V, Tiles const& tiles,
                         ItemRange range) {
  constexpr Position windows_of_warp = 4;  // more: too few warps; less: too many open ends
  tiles.template for_each<ExecutionSpace, Scalar, false>([&](auto width, auto access,
                                                             std::size_t first, Position count) {
    int shift = 0;
    while (shift < 5 && Position{1} << shift < count) ++shift;
    with_constant<1, 2, 4>(1 << (shift < 2 ? shift : 2), [&](auto steps) {
      using Walk = WarpWalk<Terms, Scalar, MemorySpace, width(), access(), steps()>;
      Position const passes = chunks_of(count, Walk::window);
      constexpr Position items_of_warp = windows_of_warp * Walk::window;
      Position const first_warp = range.begin / items_of_warp * passes;
      Position const last_warp = chunks_of(range.end, items_of_warp) * passes;
      launch_items(
          exec, label, (last_warp - first_warp) * Walk::window,
          Walk{terms, fibers.heads, fibers.marks, V,
               WalkShape{windows_of_warp, first, V.extent(1), count}, fibers.items(), 1 << shift,
               shift, static_cast<std::uint32_t>(passes), first_warp * Walk::window});
    });
  });
}

}  // namespace sporades::detail
