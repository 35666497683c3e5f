// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/spttm/window_walk.hpp>

/// Row f of the output is a sum over the items of fiber f. Work is split by items, not by fibers: a
/// work item is a chunk of consecutive items x a tile of columns, whose sum lies in registers.
/// Where the longest fiber is short, a chunk takes the fibers that begin in it, whole (a GPU's
/// warp: window_walk.hpp): nothing is shared, each row is written once. Else it takes exactly its
/// items, and the rows that it shares with its neighbours are carried (row_sums.hpp). Chunks, and
/// so the bits, do not depend on the number of threads.

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

/// A chunk takes the fibers that begin in it.
template <class Scalar, class MemorySpace>
struct WholeFibers {
  FiberRanges<MemorySpace> fibers;
  RawMatrix<Scalar, MemorySpace> V;  // fibers x columns
  WalkShape shape;

  template <int Batch, class Terms, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION void walk(Terms const& terms, Columns const& columns,
                                        Position item) const {
    Position const last = fibers.from(shape.begin(item) + shape.length);
    Position f = fibers.from(shape.begin(item));
    for (Position p = f < last ? fibers.begin(f) : 0; f < last; ++f) {
      Position const stop = fibers.begin(f + 1);
      typename Columns::T sums[Columns::parts];
      for (auto& sum : sums) sum.fill(Scalar(0));
      add_terms<Batch>(terms, columns, p, stop, sums);
      for (int c = 0; c < Columns::parts; ++c) columns.part(c).store(V, f, sums[c]);
      p = stop;
    }
    if constexpr (Columns::access == Access::streamed) finish_streaming();
  }
};

/// A chunk takes its items, and parts of fibers at both ends.
template <class Sums, class MemorySpace>
struct CutFibers {
  FiberRanges<MemorySpace> fibers;
  Sums out;
  WalkShape shape;

  template <int Batch, class Terms, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION void walk(Terms const& terms, Columns const& columns,
                                        Position item) const {
    Position p = shape.begin(item);
    Position const end = shape.end(item, fibers.items);
    Position const first = fibers.at(p);
    ChunkState state{shape.chunk(item), fibers.begin(first) < p, true};
    for (Position f = first;; ++f) {
      Position const fiber_end = fibers.begin(f + 1);
      Position const stop = fiber_end < end ? fiber_end : end;
      typename Columns::T sums[Columns::parts];
      for (auto& sum : sums) sum.fill(0);
      add_terms<Batch>(terms, columns, p, stop, sums);
      p = stop;
      bool const is_last = p == end;
      for (int c = 0; c < Columns::parts; ++c) {
        if (is_last)
          out.finish(state, columns.part(c), first, f, sums[c], fiber_end > end);
        else
          out.close(state, columns.part(c), f, sums[c]);
      }
      if (is_last) return;
      state.first = false;
    }
  }
};

/// One work item: a chunk of items x the columns that the terms give it.
template <class Terms, class Range, int Width, Access access, int Batch>
struct FiberWalk {
  Terms terms;
  Range range;

  KOKKOS_FUNCTION void operator()(Position item) const {
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

/// True where rows of V are written past the caches: whole lines, too many to be read from there
/// afterwards. `piece`: columns that are written together.
template <class ExecutionSpace, class Scalar, class MemorySpace>
bool streams_rows(Matrix<Scalar, MemorySpace> const& V, std::size_t piece) {
  constexpr std::size_t line = line_bytes / sizeof(Scalar), least_bytes = 32u << 20;
  return !is_gpu<ExecutionSpace> && V.extent(0) * V.extent(1) * sizeof(Scalar) >= least_bytes &&
         reinterpret_cast<std::uintptr_t>(V.data()) % line_bytes == 0 && V.stride(0) % line == 0 &&
         piece % line == 0;
}

/// run, with `streamed` for `whole` where that is possible and asked for.
template <class Scalar, bool may_stream, int width, Access access, class Run>
void run_streamed(bool streams, std::size_t first, Position tiles, Run const& run) {
  using Width = std::integral_constant<int, width>;
  if constexpr (may_stream && access == Access::whole && width * sizeof(Scalar) % line_bytes == 0)
    if (streams)
      return run(Width{}, std::integral_constant<Access, Access::streamed>{}, first, tiles);
  run(Width{}, std::integral_constant<Access, access>{}, first, tiles);
}

/// for_column_tiles in fine widths, `whole` replaced by `streamed` where that is asked for.
template <class ExecutionSpace, class Scalar, bool may_stream, class Run>
void for_streamed_tiles(std::size_t columns, bool aligned, bool streams, Run const& run) {
  for_column_tiles<ExecutionSpace, Scalar, TileWidths::fine>(
      columns, aligned, [&](auto width, auto access, std::size_t first, Position tiles) {
        run_streamed<Scalar, may_stream, width(), access()>(streams, first, tiles, run);
      });
}

/// Row f of V from the items of fiber f. terms: see add_terms, with for_columns<width,
/// access>(shape, item, use), which calls use(columns) for the columns of a work item.
/// for_tiles(may_stream, run) calls run(width, access, first column, number of tiles) so that all
/// columns are covered.
template <class ExecutionSpace, class Terms, class Scalar, class Index, class MemorySpace,
          class ForTiles>
void sum_fibers(ExecutionSpace const& exec, char const* label, Terms const& terms,
                Fibers<Index, MemorySpace> const& fibers, Matrix<Scalar, MemorySpace> const& V,
                std::size_t item_bytes, CarryBuffers<Scalar, Position, MemorySpace>& carry,
                ForTiles const& for_tiles) {
  Position const items = fibers.items();
  if (items == 0) return;
  bool const takes_whole = takes_whole_fibers<ExecutionSpace>(items, fibers.longest);
  if constexpr (is_gpu<ExecutionSpace>)
    if (takes_whole) return sum_windows(exec, label, terms, fibers, V, for_tiles);
  FiberRanges<MemorySpace> const ranges(fibers);
  constexpr int loads = batch<ExecutionSpace>;
  Position const length = fiber_chunk_length<ExecutionSpace>(items, item_bytes);
  Position const chunks = chunks_of(items, length);
  if constexpr (!is_gpu<ExecutionSpace>)
    if (takes_whole)
      return for_tiles(std::true_type{},
                       [&](auto width, auto access, std::size_t first, Position tiles) {
                         using Range = WholeFibers<Scalar, MemorySpace>;
                         FiberWalk<Terms, Range, width(), access(), loads> const walk{
                             terms, Range{ranges, V, WalkShape{length, first, V.extent(1), tiles}}};
                         launch_items(exec, label, chunks * tiles, walk);
                       });
  carry.reserve(exec, chunks, V.extent(1));
  auto const sums = row_sums(V, carry, chunks);
  for_tiles(std::false_type{}, [&](auto width, auto access, std::size_t first, Position tiles) {
    using Range = CutFibers<std::decay_t<decltype(sums)>, MemorySpace>;
    FiberWalk<Terms, Range, width(), access(), loads> const walk{
        terms, Range{ranges, sums, WalkShape{length, first, V.extent(1), tiles}}};
    launch_items(exec, label, chunks * tiles, walk);
  });
  for_column_tiles<ExecutionSpace, Scalar, TileWidths::coarse>(
      V.extent(1), rows_are_aligned(V),
      [&](auto width, auto access, std::size_t first, Position tiles) {
        reduce_carries<width(), access()>(exec, V, carry, chunks, first, tiles);
      });
}

/// Slots for the fibers that chunks share, where there are such, so that sum_fibers allocates none.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void reserve_carry(ExecutionSpace const& exec, Fibers<Index, MemorySpace> const& fibers,
                   std::size_t columns, std::size_t item_bytes,
                   CarryBuffers<Scalar, Position, MemorySpace>& carry) {
  Position const items = fibers.items();
  if (takes_whole_fibers<ExecutionSpace>(items, fibers.longest)) return;
  carry.reserve(exec, chunks_of(items, fiber_chunk_length<ExecutionSpace>(items, item_bytes)),
                columns);
}

}  // namespace sporades::detail
