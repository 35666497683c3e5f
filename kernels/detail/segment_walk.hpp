// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/reduce_carries.hpp>

namespace sporades::detail {

/// How a walk divides nonzeros and columns into work items: tiles of a chunk are neighbours.
struct WalkShape {
  Position length;  // of a chunk
  std::size_t first_column;
  std::size_t columns;
  Position tiles;

  KOKKOS_FORCEINLINE_FUNCTION Position chunk(Position item) const { return item / tiles; }
  KOKKOS_FORCEINLINE_FUNCTION Position begin(Position item) const { return chunk(item) * length; }
  KOKKOS_FORCEINLINE_FUNCTION Position end(Position item, Position nnz) const {
    return begin(item) + length < nnz ? begin(item) + length : nnz;
  }
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION Columns tile(Position item) const {
    return tile_at<Columns>(item % tiles);
  }
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION Columns tile_at(Position place) const {
    std::size_t const first = first_column + place * Columns::width;
    return {first, static_cast<int>(columns - first)};
  }
};

/// One work item: a chunk of consecutive nonzeros x a tile of columns. Adds the terms of nonzeros
/// of the same output row in a register tile and hands the sum over when the row changes.
/// Nonzeros: size(), fetch(p), term(entry, columns), opens_row(p), and rows(p): a cursor that
/// stands on the row of nonzero p, with leaves(entry), enter(entry) and row.
/// Sums: see row_sums.hpp.
template <class Nonzeros, class Sums, class Scalar, int Width, Access access, int Batch>
struct SegmentWalk {
  Nonzeros nonzeros;
  Sums out;
  WalkShape shape;

  KOKKOS_FUNCTION void operator()(Position item) const {
    using Columns = TileColumns<Scalar, Width, access>;
    auto const tile = shape.template tile<Columns>(item);
    Position const begin = shape.begin(item), end = shape.end(item, nonzeros.size());

    auto rows = nonzeros.rows(begin);
    auto const first_row = rows.row;
    ChunkState state{shape.chunk(item), !nonzeros.opens_row(begin), true};
    auto sum = nonzeros.term(nonzeros.fetch(begin), tile);
    auto add = [&](auto const& entry, typename Columns::T const& term) {
      if (rows.leaves(entry)) {
        out.close(state, tile, rows.row, sum);
        state.first = false;
        rows.enter(entry);
        sum.fill(Scalar(0));
      }
      sum.add(term);
    };
    Position p = begin + 1;
    for (; p + Batch <= end; p += Batch) {  // a batch's loads are all under way before any is used
      typename Nonzeros::Entry entry[Batch];
      for (int b = 0; b < Batch; ++b) entry[b] = nonzeros.fetch(p + b);
      typename Columns::T term[Batch];
      for (int b = 0; b < Batch; ++b) term[b] = nonzeros.term(entry[b], tile);
      for (int b = 0; b < Batch; ++b) add(entry[b], term[b]);
    }
    for (; p < end; ++p) {
      auto const entry = nonzeros.fetch(p);
      add(entry, nonzeros.term(entry, tile));
    }
    bool const continues = end < nonzeros.size() && !nonzeros.opens_row(end);
    out.finish(state, tile, first_row, rows.row, sum, continues);
  }
};

/// The row of nonzeros that name theirs.
template <class Index>
struct NamedRows {
  Index row;

  template <class Entry>
  KOKKOS_FORCEINLINE_FUNCTION bool leaves(Entry const& entry) const {
    return entry.row != row;
  }
  template <class Entry>
  KOKKOS_FORCEINLINE_FUNCTION void enter(Entry const& entry) {
    row = entry.row;
  }
};

/// Nonzeros whose loads are under way together: GPUs hide latency that way, CPUs do it themselves.
template <class ExecutionSpace>
inline constexpr int batch = is_gpu<ExecutionSpace> ? 4 : 1;

/// Bounds: of the registers that a GPU's thread takes.
template <class Bounds = Kokkos::LaunchBounds<>, class ExecutionSpace, class Functor>
void launch_items(ExecutionSpace const& exec, char const* label, Position items,
                  Functor const& functor) {
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>, Bounds>;
  Kokkos::parallel_for(label, Policy(exec, 0, items), functor);
}

/// Where chunks write to: carry slots, unless one chunk holds everything or atomics are allowed.
template <class Scalar, class Index, class MemorySpace>
RowSums<Scalar, Index, MemorySpace, false> row_sums(
    Matrix<Scalar, MemorySpace> const& V, CarryBuffers<Scalar, Index, MemorySpace> const& carry,
    Position chunks) {
  if (chunks <= 1 || carry.atomic) return {V, {}, {}, carry.atomic};
  auto const& to = carry.level(0);
  return {V, RawVector<Index, MemorySpace>(to.rows.data(), 2 * chunks), to.sums, false};
}

/// V's rows from nonzeros sorted by row. V is cleared first where some of its rows have no
/// nonzeros, or are added to atomically. for_tiles(run) calls run(width, access, first column,
/// number of tiles) so that all columns are covered; launch(width, access, sums, shape, chunks)
/// enqueues the walk over them.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class ForTiles,
          class Launch>
void sum_sorted_rows(ExecutionSpace const& exec, Position nnz, bool every_row,
                     Matrix<Scalar, MemorySpace> const& V,
                     CarryBuffers<Scalar, Index, MemorySpace>& carry, ForTiles const& for_tiles,
                     Launch const& launch) {
  bool const atomic = carry.atomic;
  if (nnz == 0 || !every_row || atomic) Kokkos::deep_copy(exec, V, Scalar(0));
  if (nnz == 0) return;
  Position const length = chunk_length<ExecutionSpace>(nnz);
  Position const chunks = chunks_of(nnz, length);
  if (!atomic) carry.reserve(exec, chunks, V.extent(1));
  for_tiles([&](auto width, auto access, std::size_t first, Position tiles) {
    launch(width, access, row_sums(V, carry, chunks), WalkShape{length, first, V.extent(1), tiles},
           chunks);
    if (!atomic) reduce_carries<width(), access()>(exec, V, carry, chunks, first, tiles);
  });
}

/// The same in tiles of columns of these widths; make_walk(width, access, sums, shape) gives the
/// walk for tiles of that width.
template <TileWidths widths, class ExecutionSpace, class Scalar, class Index, class MemorySpace,
          class MakeWalk>
void sum_sorted_rows(ExecutionSpace const& exec, char const* label, Position nnz, bool every_row,
                     Matrix<Scalar, MemorySpace> const& V, bool aligned,
                     CarryBuffers<Scalar, Index, MemorySpace>& carry, MakeWalk const& make_walk) {
  sum_sorted_rows(
      exec, nnz, every_row, V, carry,
      [&](auto const& run) {
        for_column_tiles<ExecutionSpace, Scalar, widths>(V.extent(1), aligned, run);
      },
      [&](auto width, auto access, auto const& sums, WalkShape const& shape, Position chunks) {
        launch_items(exec, label, chunks * shape.tiles, make_walk(width, access, sums, shape));
      });
}

}  // namespace sporades::detail
