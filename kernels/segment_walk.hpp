// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/row_sums.hpp>

namespace sporades::detail {

/// One work item: a chunk of consecutive nonzeros x a tile of columns. Adds the terms of nonzeros
/// of the same output row in a register tile and hands the sum over when the row changes.
/// Nonzeros: size(), row(p), fetch(p) and term(entry, columns); Sums: see row_sums.hpp.
template <class Nonzeros, class Sums, class Scalar, int Width, Access access, int Batch>
struct SegmentWalk {
  Nonzeros nonzeros;
  Sums out;
  Position length;  // of a chunk
  std::size_t first_column;
  std::size_t columns;
  Position tiles;

  KOKKOS_FUNCTION void operator()(Position item) const {
    using Columns = TileColumns<Scalar, Width, access>;
    std::size_t const first = first_column + item % tiles * Width;
    Columns const tile{first, static_cast<int>(columns - first)};
    Position const begin = item / tiles * length;
    Position const end = begin + length < nonzeros.size() ? begin + length : nonzeros.size();

    auto row = nonzeros.row(begin);
    auto const first_row = row;
    ChunkState state{item / tiles, begin > 0 && nonzeros.row(begin - 1) == row, true};
    typename Columns::T sum;
    sum.fill(Scalar(0));
    auto add = [&](auto const& entry, typename Columns::T const& term) {
      if (entry.row != row) {
        out.close(state, tile, row, sum);
        state.first = false;
        row = entry.row;
        sum.fill(Scalar(0));
      }
      sum.add(term);
    };
    Position p = begin;
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
    bool const continues = end < nonzeros.size() && nonzeros.row(end) == row;
    out.finish(state, tile, first_row, row, sum, continues);
  }
};

/// Nonzeros whose loads are under way together: GPUs hide latency that way, CPUs do it themselves.
template <class ExecutionSpace>
inline constexpr int batch = is_gpu<ExecutionSpace> ? 4 : 1;

/// The slots of one carry level, as nonzeros of the next.
template <class Scalar, class Index, class MemorySpace>
struct CarrySlots {
  struct Entry {
    Index row;
    Position slot;
  };
  RawVector<Index, MemorySpace> rows;
  RawMatrix<Scalar, MemorySpace> sums;
  Position count;

  KOKKOS_FORCEINLINE_FUNCTION Position size() const { return count; }
  KOKKOS_FORCEINLINE_FUNCTION Index row(Position p) const { return rows(p); }
  KOKKOS_FORCEINLINE_FUNCTION Entry fetch(Position p) const { return {rows(p), p}; }
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto term(Entry const& entry, Columns const& columns) const {
    return columns.load(sums, entry.slot);
  }
};

template <class ExecutionSpace, class Functor>
void launch_items(ExecutionSpace const& exec, char const* label, Position items,
                  Functor const& functor) {
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>;
  Kokkos::parallel_for(label, Policy(exec, 0, items), functor);
}

/// The carry slots a level writes to: none where one chunk holds everything.
template <bool accumulate, class Scalar, class Index, class MemorySpace>
auto row_sums(Matrix<Scalar, MemorySpace> const& V,
              CarryBuffers<Scalar, Index, MemorySpace> const& carry, std::size_t level,
              Position chunks) {
  using Sums = RowSums<Scalar, Index, MemorySpace, accumulate>;
  if (chunks <= 1) return Sums{V, {}, {}};
  auto const& to = carry.level(level);
  return Sums{V, RawVector<Index, MemorySpace>(to.rows.data(), 2 * chunks), to.sums};
}

/// Adds the carries of `chunks` chunks to V, level by level, for the tiles of one launch.
template <int Width, Access access, class ExecutionSpace, class Scalar, class Index,
          class MemorySpace>
void reduce_carries(ExecutionSpace const& exec, Matrix<Scalar, MemorySpace> const& V,
                    CarryBuffers<Scalar, Index, MemorySpace> const& carry, Position chunks,
                    std::size_t first_column, Position tiles) {
  using Slots = CarrySlots<Scalar, Index, MemorySpace>;
  using Sums = RowSums<Scalar, Index, MemorySpace, true>;
  for (std::size_t level = 0; chunks > 1; ++level) {
    auto const& from = carry.level(level);
    Slots const slots{from.rows, from.sums, 2 * chunks};
    chunks = chunks_of(slots.count, carry_chunk);
    SegmentWalk<Slots, Sums, Scalar, Width, access, batch<ExecutionSpace>> const walk{
        slots, row_sums<true>(V, carry, level + 1, chunks), carry_chunk, first_column, V.extent(1),
        tiles};
    launch_items(exec, "sporades::carry::reduce", chunks * tiles, walk);
  }
}

/// Rows that no nonzero names are zero: V is cleared, then walked over in tiles of columns.
template <TileWidths widths, class ExecutionSpace, class Nonzeros, class Scalar, class Index,
          class MemorySpace>
void sum_sorted_rows(ExecutionSpace const& exec, char const* label, Nonzeros const& nonzeros,
                     Matrix<Scalar, MemorySpace> const& V, bool aligned,
                     CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  Kokkos::deep_copy(exec, V, Scalar(0));
  if (nonzeros.size() == 0) return;
  Position const length = chunk_length<ExecutionSpace>(nonzeros.size());
  Position const chunks = chunks_of(nonzeros.size(), length);
  carry.reserve(exec, chunks, V.extent(1));
  for_column_tiles<ExecutionSpace, Scalar, widths>(
      V.extent(1), aligned, [&](auto width, auto access, std::size_t first, Position tiles) {
        using Sums = RowSums<Scalar, Index, MemorySpace, false>;
        SegmentWalk<Nonzeros, Sums, Scalar, width(), access(), batch<ExecutionSpace>> const walk{
            nonzeros, row_sums<false>(V, carry, 0, chunks), length, first, V.extent(1), tiles};
        launch_items(exec, label, chunks * tiles, walk);
        reduce_carries<width(), access()>(exec, V, carry, chunks, first, tiles);
      });
}

}  // namespace sporades::detail
