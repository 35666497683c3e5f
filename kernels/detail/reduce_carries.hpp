// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/row_sums.hpp>

/// Adds carries to the output in one launch. A work item takes a chunk of carry slots of the first
/// level; what its first and last row share with other chunks goes to the two slots of the chunk at
/// the next level. A chunk of the next level waits for some chunks: the work item that finishes the
/// last of these takes it, too. Which item that is depends on the run; the order of additions does
/// not.

namespace sporades::detail {

/// The slots of one level, sorted by row, counted among those that are here. A pair of slots stands
/// for the first and the last row of `reach` slots of the first level.
template <class Index, class MemorySpace>
struct CarrySlots {
  RawVector<Index const, MemorySpace> row_of;  // of the slots of the first level
  Position first_of_all;                       // slots of the first level in front of these
  CarryLevel level;
  Position reach;  // 2 at the first level

  /// Slots in front of those here have the row of the first one, those behind that of the last.
  KOKKOS_FORCEINLINE_FUNCTION Index row(Position slot) const {
    Position const first = (level.first + slot) / 2 * reach;
    Position const past = first_of_all + row_of.extent(0);
    Position place = first;
    if (slot % 2 != 0) place = first + reach - 1;
    if (place < first_of_all) place = first_of_all;
    return row_of((place < past ? place : past - 1) - first_of_all);
  }
};

/// Adds up slots begin to end - 1 of `from`, and hands the sums of rows to `out`, as chunk number
/// `chunk`. shared: the first row began in front of them; continues: the last one goes on behind
/// them. Batch: slots whose loads are under way together.
template <int Batch, class Columns, class Slots, class From, class Out>
KOKKOS_FORCEINLINE_FUNCTION void sum_slots(Columns const& tile, Slots const& slots,
                                           From const& from, Position begin, Position end,
                                           Position chunk, bool shared, bool continues,
                                           Out const& out) {
  using T = typename Columns::T;
  auto row = slots.row(begin);
  auto const first_row = row;
  ChunkState state{chunk, shared, true};
  T sum;
  for (Position p = begin; p < end; p += Batch) {
    std::decay_t<decltype(row)> rows[Batch];
    T terms[Batch];
    for (int b = 0; b < Batch; ++b) {
      Position const slot = p + b < end ? p + b : end - 1;
      rows[b] = slots.row(slot);
      terms[b] = tile.load(from, slot);
    }
    for (int b = 0; b < Batch; ++b) {
      if (p + b >= end) break;
      if (p + b == begin) {
        sum = terms[b];
        continue;
      }
      if (rows[b] != row) {
        out.close(state, tile, row, sum);
        state.first = false;
        row = rows[b];
        sum.fill(0);
      }
      sum.add(terms[b]);
    }
  }
  out.finish(state, tile, first_row, row, sum, continues);
}

/// One work item: a chunk of slots of the first level x a tile of columns, and chunks of further
/// levels whose last part this is. Batch: slots whose loads are under way together.
template <class Scalar, class Index, class MemorySpace, int Width, Access access, int Batch>
struct ReduceCarries {
  using Columns = TileColumns<Scalar, Width, access>;
  // For 16^8 chunks. A functor past 512 bytes is one that Kokkos copies to a GPU's constant memory,
  // and waits for: with twice the levels a mode of uber's took 13 us longer on an H200.
  static constexpr int most_levels = 8;
  static constexpr Position pairs = carry_chunk / 2;  // chunks that one of the next level waits for

  Kokkos::Array<RawMatrix<Scalar, MemorySpace>, most_levels> sums;  // of each level's slots
  RawVector<Index const, MemorySpace> row_of;                       // slots of the first level
  RawVector<unsigned, MemorySpace> arrivals;  // a chunk past the first level x a tile: 0
  RawMatrix<Scalar, MemorySpace> V;
  Position first_slot;  // of all that are here
  std::size_t first_column;
  Position tiles;

  KOKKOS_FUNCTION void operator()(Position item) const {
    Position const place = item % tiles;
    std::size_t const first = first_column + place * Width;
    Columns const tile{first, static_cast<int>(V.extent(1) - first)};
    Position chunk = item / tiles;
    CarrySlots<Index, MemorySpace> slots{
        row_of, first_slot, {first_slot, Position{row_of.extent(0)}}, 2};
    unsigned* waiting = arrivals.data();
    for (int level = 0;; ++level) {
      Position const chunks = slots.level.chunks(), unused = slots.level.unused();
      reduce(tile, level, slots, chunk, chunk + unused, chunks == 1);
      if (chunks == 1) return;
      Position const parent = (chunk + unused) / pairs, end = (parent + 1) * pairs - unused;
      Position const begin = parent == 0 ? 0 : parent * pairs - unused;
      if (!is_last_of((end < chunks ? end : chunks) - begin, waiting + parent * tiles + place))
        return;
      chunk = parent;
      slots.level = slots.level.next();
      slots.reach *= pairs;
      waiting += slots.level.chunks() * tiles;
    }
  }

  /// Whether all others that wait at the counter have arrived; their sums are then visible.
  static KOKKOS_FORCEINLINE_FUNCTION bool is_last_of(Position expected, unsigned* counter) {
    Kokkos::memory_fence();
    if (Kokkos::atomic_fetch_add(counter, 1u) + 1 != expected) return false;
    *counter = 0;  // for the next launch
    Kokkos::memory_fence();
    return true;
  }

  /// Adds the rows that lie in the chunk to V, and leaves the others in its two slots, number
  /// `pair` of the next level.
  KOKKOS_FORCEINLINE_FUNCTION void reduce(Columns const& tile, int level,
                                          CarrySlots<Index, MemorySpace> const& slots,
                                          Position chunk, Position pair, bool is_only) const {
    Position const begin = chunk * carry_chunk, count = slots.level.count;
    Position const end = begin + carry_chunk < count ? begin + carry_chunk : count;
    RowSums<Scalar, Index, MemorySpace, true> out{V, {}, {}, false};
    if (!is_only) out.sums = sums[level + 1];
    bool const shared = begin > 0 && slots.row(begin - 1) == slots.row(begin);
    bool const continues = end < count && slots.row(end) == slots.row(end - 1);
    sum_slots<Batch>(tile, slots, sums[level], begin, end, pair, shared, continues, out);
  }
};

/// Adds the carries of `chunks` chunks to V. `first` of all chunks are in front of them, as
/// reserved; the slots of `skipped` of those in front are in front in the buffers. If there are
/// chunks in front or behind, the first or the last slot here is of a row that none of the chunks
/// has. Enqueued on exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void reduce_carries(ExecutionSpace const& exec, Matrix<Scalar, MemorySpace> const& V,
                    CarryBuffers<Scalar, Index, MemorySpace> const& carry, Position chunks,
                    Position first = 0, Position skipped = 0) {
  if (chunks <= 1) return;
  // 64 registers of a GPU's thread hold a batch.
  constexpr int batch = is_gpu<ExecutionSpace> ? 16 : 1;
  auto const& slots = carry.level(0);
  RawVector<Index const, MemorySpace> const row_of(slots.rows.data() + 2 * skipped, 2 * chunks);
  for_column_tiles<ExecutionSpace, Scalar, TileWidths::coarse>(
      V.extent(1), rows_are_aligned(V),
      [&](auto width, auto access, std::size_t column, Position tiles) {
        using Kernel = ReduceCarries<Scalar, Index, MemorySpace, width(), access(), batch>;
        Kernel kernel{{}, row_of, carry.arrivals(), V, 2 * first, column, tiles};
        expects(carry.levels() <= Kernel::most_levels, "carries of ", chunks,
                " chunks are too many");
        for (std::size_t l = 0; l < carry.levels(); ++l) kernel.sums[l] = carry.level(l).sums;
        std::size_t const stride = slots.sums.extent(1);
        kernel.sums[0] = RawMatrix<Scalar, MemorySpace>(slots.sums.data() + 2 * skipped * stride,
                                                        2 * chunks, stride);
        launch(exec, "sporades::carry::reduce", chunks_of(2 * chunks, carry_chunk) * tiles,
               carry_chunk * width(), kernel);
      });
}

}  // namespace sporades::detail

#include <sporades/eti/reduce_carries.hpp>
