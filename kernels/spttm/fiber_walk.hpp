// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/hierarchical_tensor.hpp>
#include <sporades/kernels/segment_walk.hpp>

/// Row f of the output is a sum over the items of fiber f. Work is split by items, not by fibers: a
/// work item is a chunk of consecutive items x a tile of columns, whose sum lies in registers.
/// Where the longest fiber is short, a chunk takes the fibers that begin in it, whole: nothing is
/// shared, each row is written once. Else it takes exactly its items, and the rows that it shares
/// with its neighbours are carried (row_sums.hpp). Chunks, and so the bits, do not depend on the
/// number of threads.

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

/// sum += the terms of items p to stop; a batch's loads are all under way before any is used.
template <int Batch, class Terms, class Columns, class T>
KOKKOS_FORCEINLINE_FUNCTION void add_terms(Terms const& terms, Columns const& columns, Position p,
                                           Position stop, T& sum) {
  if constexpr (Batch > 1) {
    for (; p + Batch <= stop; p += Batch) {
      typename Terms::Entry entry[Batch];
      for (int b = 0; b < Batch; ++b) entry[b] = terms.fetch(p + b, columns);
      T row[Batch];
      for (int b = 0; b < Batch; ++b) row[b] = terms.row(entry[b], columns);
      for (int b = 0; b < Batch; ++b) sum.add_product(entry[b].value, row[b]);
    }
  }
  for (; p < stop; ++p) {
    auto const entry = terms.fetch(p, columns);
    sum.add_product(entry.value, terms.row(entry, columns));
  }
}

/// A chunk takes the fibers that begin in it.
template <class Terms, class Scalar, class MemorySpace, int Width, Access access, int Batch>
struct WholeFiberWalk {
  Terms terms;
  FiberRanges<MemorySpace> fibers;
  RawMatrix<Scalar, MemorySpace> V;  // fibers x columns
  WalkShape shape;

  KOKKOS_FUNCTION void operator()(Position item) const {
    auto const columns = terms.template columns<Width, access>(shape, item);
    Position const last = fibers.from(shape.begin(item) + shape.length);
    Position f = fibers.from(shape.begin(item));
    for (Position p = f < last ? fibers.begin(f) : 0; f < last; ++f) {
      Position const stop = fibers.begin(f + 1);
      Tile<Scalar, Width> sum;
      sum.fill(Scalar(0));
      add_terms<Batch>(terms, columns, p, stop, sum);
      columns.store(V, f, sum);
      p = stop;
    }
  }
};

/// A chunk takes its items, and parts of fibers at both ends.
template <class Terms, class Sums, class Scalar, class MemorySpace, int Width, Access access,
          int Batch>
struct CutFiberWalk {
  Terms terms;
  FiberRanges<MemorySpace> fibers;
  Sums out;
  WalkShape shape;

  KOKKOS_FUNCTION void operator()(Position item) const {
    auto const columns = terms.template columns<Width, access>(shape, item);
    Position p = shape.begin(item);
    Position const end = shape.end(item, fibers.items);
    Position const first = fibers.at(p);
    Position f = first;
    ChunkState state{shape.chunk(item), fibers.begin(f) < p, true};
    while (true) {
      Position const fiber_end = fibers.begin(f + 1);
      Position const stop = fiber_end < end ? fiber_end : end;
      Tile<Scalar, Width> sum;
      sum.fill(Scalar(0));
      add_terms<Batch>(terms, columns, p, stop, sum);
      p = stop;
      if (p == end) {
        out.finish(state, columns, first, f, sum, fiber_end > end);
        return;
      }
      out.close(state, columns, f, sum);
      state.first = false;
      ++f;
    }
  }
};

/// Items of a chunk of whole fibers.
template <class ExecutionSpace>
Position whole_chunk_length(Position items) {
  return is_gpu<ExecutionSpace> ? 32 : chunk_length<ExecutionSpace>(items);
}

/// True where no fiber is so long that it should be cut.
template <class ExecutionSpace>
bool takes_whole_fibers(Position items, Position longest) {
  return longest <= (is_gpu<ExecutionSpace> ? 256 : std::max<Position>(items / 64, 32));
}

/// Row f of V from the items of fiber f; terms: see add_terms, with columns<width, access>(shape,
/// item) for the columns of a work item. for_tiles(run) calls run(width, access, first column,
/// number of tiles) so that all columns are covered.
template <class ExecutionSpace, class Terms, class Scalar, class Index, class MemorySpace,
          class ForTiles>
void sum_fibers(ExecutionSpace const& exec, char const* label, Terms const& terms,
                Fibers<Index, MemorySpace> const& fibers, Matrix<Scalar, MemorySpace> const& V,
                CarryBuffers<Scalar, Position, MemorySpace>& carry, ForTiles const& for_tiles) {
  if (fibers.items() == 0) return;
  FiberRanges<MemorySpace> const ranges(fibers);
  constexpr int loads = batch<ExecutionSpace>;
  if (takes_whole_fibers<ExecutionSpace>(fibers.items(), fibers.longest)) {
    Position const length = whole_chunk_length<ExecutionSpace>(fibers.items());
    for_tiles([&](auto width, auto access, std::size_t first, Position tiles) {
      WholeFiberWalk<Terms, Scalar, MemorySpace, width(), access(), loads> const walk{
          terms, ranges, V, WalkShape{length, first, V.extent(1), tiles}};
      launch_items(exec, label, chunks_of(fibers.items(), length) * tiles, walk);
    });
    return;
  }
  Position const length = chunk_length<ExecutionSpace>(fibers.items());
  Position const chunks = chunks_of(fibers.items(), length);
  carry.reserve(exec, chunks, V.extent(1));
  auto const sums = row_sums<false>(V, carry, 0, chunks);
  for_tiles([&](auto width, auto access, std::size_t first, Position tiles) {
    CutFiberWalk<Terms, std::decay_t<decltype(sums)>, Scalar, MemorySpace, width(), access(),
                 loads> const walk{terms, ranges, sums,
                                   WalkShape{length, first, V.extent(1), tiles}};
    launch_items(exec, label, chunks * tiles, walk);
  });
  for_column_tiles<ExecutionSpace, Scalar, TileWidths::coarse>(
      V.extent(1), rows_are_aligned(V),
      [&](auto width, auto access, std::size_t first, Position tiles) {
        reduce_carries<width(), access()>(exec, V, carry, chunks, first, tiles);
      });
}

}  // namespace sporades::detail
