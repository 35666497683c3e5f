// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/kernels/detail/sorted_rows.hpp>
#include <sporades/kernels/detail/spttm/cut_fibers.hpp>
#include <sporades/kernels/detail/spttm/fiber_tiles.hpp>
#include <sporades/kernels/detail/spttm/out_of_core_fibers.hpp>
#include <sporades/kernels/detail/spttm/warp_walk.hpp>
#include <sporades/kernels/detail/spttm/whole_fibers.hpp>

/// Row f of the output is a sum over the items of fiber f. Work is split by items, not by fibers: a
/// work item is a chunk of consecutive items x a tile of columns, whose sum lives in registers.
/// - Where the longest fiber is short, a chunk takes the fibers that begin in it, whole.
/// - Else it takes exactly its items, and the rows that it shares with its neighbours are carried.
/// Chunks, and so the bits, do not depend on the number of threads.

namespace sporades::detail {

/// One work item: a chunk of items x the columns that the terms give it.
template <class Terms, class Range, int Width, Access access, int Batch>
struct FiberWalk {
  Terms terms;
  Range range;
  Position first_item;

  KOKKOS_FUNCTION void operator()(Position i) const {
    Position const item = first_item + i;
    terms.template for_columns<Width, access>(range.shape, item, [&](auto const& columns) {
      range.template walk<Batch>(terms, columns, item);
    });
  }
};

/// True where no fiber is so long that it should be cut.
template <class ExecutionSpace>
bool takes_whole_fibers(Position items, Position longest) {
  return longest <= (is_gpu<ExecutionSpace> ? std::max<Position>(items / 4096, 256)
                                            : std::max<Position>(items / 64, 32));
}

/// Whether sum_fibers_of sums them window by window, and reads their heads and marks.
template <class MemorySpace, class Index>
bool sums_windows(Fibers<Index, MemorySpace> const& fibers) {
  using ExecutionSpace = typename MemorySpace::execution_space;
  return is_gpu<ExecutionSpace> &&
         takes_whole_fibers<ExecutionSpace>(fibers.items(), fibers.longest);
}

/// Items of a chunk, a multiple of the distance of marks; fewer where an item has many columns, so
/// that a CPU finds a chunk in its cache when it comes again for more columns.
template <class ExecutionSpace>
Position fiber_chunk_length(Position items, std::size_t item_bytes) {
  constexpr Position distance = Fibers<std::uint32_t, Kokkos::HostSpace>::mark_distance;
  Position const length = chunk_length<ExecutionSpace>(items);
  if (is_gpu<ExecutionSpace>) return length;
  Position const cached = std::max<Position>(65536 / std::max<std::size_t>(item_bytes, 1), 256);
  return std::min(length, cached / distance * distance);
}

/// Items of a chunk whose carry slots have so many columns: those of fiber_chunk_length, or more
/// where all slots, two a chunk, would hold more than 2^25 numbers. So many columns are work enough
/// for a GPU.
template <class ExecutionSpace>
Position carried_chunk_length(Position items, std::size_t item_bytes, std::size_t columns) {
  Position const most = std::max<Position>((Position{1} << 24) / columns, 1);
  Position const least = chunks_of(chunks_of(items, most), 128) * 128;
  return std::max(fiber_chunk_length<ExecutionSpace>(items, item_bytes), least);
}

/// Items of a chunk of a product with these fibers.
template <class ExecutionSpace, class Index, class MemorySpace>
Position fiber_chunk_length(Fibers<Index, MemorySpace> const& fibers, std::size_t item_bytes,
                            std::size_t columns) {
  Position const items = fibers.items();
  return takes_whole_fibers<ExecutionSpace>(items, fibers.longest)
             ? fiber_chunk_length<ExecutionSpace>(items, item_bytes)
             : carried_chunk_length<ExecutionSpace>(items, item_bytes, columns);
}

/// Chunks first to last - 1 of a Range, which writes to `out`, for all tiles.
template <class Range, bool may_stream, class ExecutionSpace, class Terms, class Out,
          class MemorySpace, class Tiles>
void walk_fibers(ExecutionSpace const& exec, char const* label, Terms const& terms,
                 FiberRanges<MemorySpace> const& fibers, Out const& out, Position length,
                 Tiles const& tiles, Position first_chunk, Position last_chunk) {
  using Scalar = typename Terms::Scalar;
  tiles.template for_each<ExecutionSpace, Scalar, may_stream>(
      [&](auto width, auto access, std::size_t first, Position count) {
        using Walk = FiberWalk<Terms, Range, width(), access(), batch<ExecutionSpace>>;
        launch_items(exec, label, (last_chunk - first_chunk) * count,
                     Walk{terms, Range{fibers, out, WalkShape{length, first, tiles.columns, count}},
                          first_chunk * count});
      });
}

/// Row f of V from the items of fiber f, of those that `range` has; carries are left where chunks
/// share a fiber. On GPUs whole fibers are summed by terms of one part. Terms:
///   parts                        of the columns of a work item
///   fetch(p)                     an Entry: what is stored of item p
///   row(entry, columns)          a tile of the row that the item adds
///   factor(entry, columns, c)    what that is multiplied by, for part c of the columns
///   for_columns<width, access>(shape, item, use)   calls use(columns) for those of a work item
template <class ExecutionSpace, class Terms, class Scalar, class Index, class MemorySpace,
          class Tiles>
void sum_fibers_of(ExecutionSpace const& exec, char const* label, Terms const& terms,
                   Fibers<Index, MemorySpace> const& fibers, Matrix<Scalar, MemorySpace> const& V,
                   std::size_t item_bytes, CarryBuffers<Scalar, Position, MemorySpace> const& carry,
                   Tiles const& tiles, ItemRange range) {
  FiberRanges<MemorySpace> const ranges(fibers);
  Position const length = fiber_chunk_length<ExecutionSpace>(fibers, item_bytes, V.extent(1));
  Position const first = range.begin / length, last = chunks_of(range.end, length);
  if (takes_whole_fibers<ExecutionSpace>(fibers.items(), fibers.longest)) {
    if constexpr (!is_gpu<ExecutionSpace>)
      walk_fibers<WholeFibers<Scalar, MemorySpace>, true>(exec, label, terms, ranges, V, length,
                                                          tiles, first, last);
    else if constexpr (Terms::parts == 1)
      sum_fibers_by_warps(exec, label, terms, fibers, V, tiles, range);
    return;
  }
  auto const sums = row_sums(V, carry, chunks_of(fibers.items(), length));
  using Range = CutFibers<std::decay_t<decltype(sums)>, MemorySpace>;
  walk_fibers<Range, false>(exec, label, terms, ranges, sums, length, tiles, first, last);
}

/// Slots for the fibers that chunks share, where there are such, so that sum_fibers allocates none.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void reserve_carry(ExecutionSpace const& exec, Fibers<Index, MemorySpace> const& fibers,
                   std::size_t columns, std::size_t item_bytes,
                   CarryBuffers<Scalar, Position, MemorySpace>& carry) {
  Position const items = fibers.items();
  if (takes_whole_fibers<ExecutionSpace>(items, fibers.longest)) return;
  Position const length = fiber_chunk_length<ExecutionSpace>(fibers, item_bytes, columns);
  carry.reserve(exec, chunks_of(items, length), columns);
}

/// Adds what chunks share, after sum_fibers_of all items.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void finish_fibers(ExecutionSpace const& exec, Fibers<Index, MemorySpace> const& fibers,
                   Matrix<Scalar, MemorySpace> const& V, std::size_t item_bytes,
                   CarryBuffers<Scalar, Position, MemorySpace> const& carry) {
  Position const items = fibers.items();
  if (takes_whole_fibers<ExecutionSpace>(items, fibers.longest)) return;
  Position const length = fiber_chunk_length<ExecutionSpace>(fibers, item_bytes, V.extent(1));
  reduce_carries(exec, V, carry, chunks_of(items, length));
}

/// All rows of V: walk(exec, operands, range) is to sum_fibers_of a range of items. `operands` are
/// all of them, or where these are out of core a window, as for_fiber_windows says; that fences
/// exec.
template <class ExecutionSpace, class Operands, class Carry, class Walk>
void sum_fibers(ExecutionSpace const& exec, Operands const& all, std::size_t item_bytes,
                Carry& carry, Walk const& walk) {
  auto const& fibers = all.fibers;
  Position const items = fibers.items();
  if (items == 0) return;
  reserve_carry(exec, fibers, all.V.extent(1), item_bytes, carry);
  if (all.is_out_of_core)
    for_fiber_windows(
        exec, all, fiber_chunk_length<ExecutionSpace>(fibers, item_bytes, all.V.extent(1)),
        takes_whole_fibers<ExecutionSpace>(items, fibers.longest), carry.windows, walk);
  else
    walk(exec, all, ItemRange{0, items});
  finish_fibers(exec, fibers, all.V, item_bytes, carry);
}

}  // namespace sporades::detail
