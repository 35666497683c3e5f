// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/nonzeros/flycoo.hpp>
#include <sporades/kernels/detail/row_walk.hpp>

/// Strategy `flycoo`: Algorithms 2 to 5 of [Wij24]. Departures from them:
/// - A team's nonzeros are cut into P neighbouring parts, each summed in order in registers, where
///   the paper takes P nonzeros at a time and adds them up atomically in the team's memory.
/// - Rows that parts share are added in order by the team, and rows that pieces share by
///   reduce_carries: the bits are the same on every run.
/// - All threads of a part move records, a segment at a time, instead of one thread a nonzero. On
///   hosts remap moves them in a pass of its own: with two cores and five tensors, products and
///   remaps in one pass took 1.2 times as long, as both want the caches.

namespace sporades::detail {

/// Two slots for each part of a piece, for what it shares with other parts.
template <class Scalar, class Index, class MemorySpace>
struct PartSlots {
  RawVector<Index, MemorySpace> rows;   // slots
  RawMatrix<Scalar, MemorySpace> sums;  // slots x columns

  PartSlots() = default;
  KOKKOS_FORCEINLINE_FUNCTION PartSlots(Index* row_data, Scalar* sum_data, Position slots,
                                        std::size_t columns)
      : rows(row_data, slots), sums(sum_data, slots, columns) {}

  KOKKOS_FORCEINLINE_FUNCTION Index row(Position slot) const { return rows(slot); }
};

/// The sums of the rows of pieces, for tiles of columns; see row_sums.hpp. Batch: nonzeros whose
/// loads are under way together.
template <class Nonzeros, int Width, Access access, int split, int Batch>
struct FlycooSums {
  using Scalar = typename Nonzeros::Scalar;
  using Index = typename Nonzeros::Row;
  using Memory = typename Nonzeros::Memory;
  using Columns = TileColumns<Scalar, Width, access>;
  using T = typename Columns::T;
  using Slots = PartSlots<Scalar, Index, Memory>;

  Nonzeros nonzeros;
  RawVector<Position const, Memory> pieces;   // beginnings, and the end
  RowSums<Scalar, Index, Memory, false> out;  // of pieces, as chunks
  MoveRecords<Memory> move;                   // moves none where `to` is null
  std::size_t first_column, columns;
  Position tiles;
  int parallel;

  // Nonzeros that are summed before they are moved: a few kilobytes, as the threads of a
  // multiprocessor share its first-level cache.
  static constexpr Position segment = 128;

  KOKKOS_FORCEINLINE_FUNCTION Columns tile(Position place) const {
    std::size_t const first = first_column + place * Width;
    return {first, static_cast<int>(columns - first)};
  }
  KOKKOS_FORCEINLINE_FUNCTION Position part_length(Position piece) const {
    return chunks_of(pieces(piece + 1) - pieces(piece), static_cast<Position>(parallel));
  }
  /// Parts that have nonzeros.
  KOKKOS_FORCEINLINE_FUNCTION Position parts(Position piece) const {
    return chunks_of(pieces(piece + 1) - pieces(piece), part_length(piece));
  }

  /// One part x one tile. Sums: RowSums of parts as chunks. chunk: the part's number there.
  template <class Sums>
  KOKKOS_FORCEINLINE_FUNCTION void sum_part(Sums const& sums, Position begin, Position end,
                                            Position chunk, Position place) const {
    auto const columns_of_tile = tile(place);
    auto rows = nonzeros.rows(begin);
    Index const first_row = rows.row;
    ChunkState state{chunk, !nonzeros.opens_row(begin), true};
    T sum;               // of the row that the last segment ended in
    bool holds = false;  // a row that goes on in this segment
    auto const close = [&](Index row, T const& row_sum) {
      if (holds) {
        sum.add(row_sum);
        sums.close(state, columns_of_tile, row, sum);
      } else {
        sums.close(state, columns_of_tile, row, row_sum);
      }
      state.first = holds = false;
    };
    Position const length = move.to == nullptr ? end - begin : segment;
    for (Position p = begin; p < end; p += length) {
      Position const next = p + length < end ? p + length : end;
      if (p > begin && nonzeros.opens_row(p)) {
        holds = false;
        close(rows.row, sum);
        rows = nonzeros.rows(p);
      } else {
        holds = p > begin;
      }
      T const last = sum_segment(columns_of_tile, p, next, rows, close);
      if (holds)
        sum.add(last);
      else
        sum = last;
      if (move.to != nullptr) move(p + place, next, tiles);
    }
    bool const continues = end < nonzeros.size() && !nonzeros.opens_row(end);
    sums.finish(state, columns_of_tile, first_row, rows.row, sum, continues);
  }

  /// The rows that end among nonzeros begin to end - 1; returns the last one's sum.
  template <class Rows, class Close>
  KOKKOS_FORCEINLINE_FUNCTION T sum_segment(Columns const& columns_of_tile, Position begin,
                                            Position end, Rows& rows, Close const& close) const {
    if constexpr (!Nonzeros::has_words)
      return sum_terms<Batch>(nonzeros, columns_of_tile, begin, end, rows, close);
    else if constexpr (is_on_host<Nonzeros>)
      return sum_runs<split, Batch>(nonzeros.from_column(columns_of_tile.first),
                                    Columns{0, columns_of_tile.columns}, begin, end, rows, close);
    else
      return sum_runs<split, Batch>(nonzeros, columns_of_tile, begin, end, rows, close);
  }

  /// Part number `part` of a piece x a tile, into the team's slots.
  KOKKOS_FORCEINLINE_FUNCTION void sum_part(Slots const& slots, Position piece, Position part,
                                            Position place) const {
    Position const length = part_length(piece), begin = pieces(piece) + part * length;
    if (begin >= pieces(piece + 1)) return;
    Position const end = begin + length < pieces(piece + 1) ? begin + length : pieces(piece + 1);
    sum_part(RowSums<Scalar, Index, Memory, false>{out.V, slots.rows, slots.sums, false}, begin,
             end, part, place);
    if (first_column == 0 || place != 0) return;  // else RowSums has stored the rows
    slots.rows(2 * part) = nonzeros.row(begin);
    slots.rows(2 * part + 1) = nonzeros.row(end - 1);
  }

  /// Adds what the parts share to V, and leaves what pieces share to `out`.
  KOKKOS_FORCEINLINE_FUNCTION void join_parts(Slots const& slots, Position piece,
                                              Position place) const {
    Position const begin = pieces(piece), end = pieces(piece + 1), count = 2 * parts(piece);
    bool const shared = !nonzeros.opens_row(begin);
    bool const continues = end < nonzeros.size() && !nonzeros.opens_row(end);
    RowSums<Scalar, Index, Memory, true> const joined{out.V, {}, out.sums, false};
    auto const columns_of_tile = tile(place);
    sum_slots<1>(columns_of_tile, slots, slots.sums, 0, count, piece, shared, continues, joined);
    if (out.sums.extent(0) == 0 || columns_of_tile.first != 0) return;
    out.rows(2 * piece) = slots.rows(0);
    out.rows(2 * piece + 1) = slots.rows(count - 1);
  }
};

/// On hosts an item is a piece, whose tiles and parts follow one another.
template <class Sums>
struct FlycooItem {
  Sums sums;
  typename Sums::Slots slots;  // of all pieces; none where a piece is one part

  KOKKOS_FUNCTION void operator()(Position k) const {
    auto const local = sums;  // which stores cannot change
    Position const parts = static_cast<Position>(local.parallel), count = 2 * parts;
    for (Position place = 0; place < local.tiles; ++place) {
      if (parts == 1) {
        local.sum_part(local.out, local.pieces(k), local.pieces(k + 1), k, place);
        continue;
      }
      std::size_t const columns = slots.sums.extent(1);
      typename Sums::Slots const own(slots.rows.data() + k * count,
                                     slots.sums.data() + k * count * columns, count, columns);
      for (Position part = 0; part < parts; ++part) local.sum_part(own, k, part, place);
      local.join_parts(own, k, place);
    }
  }
};

/// On GPUs a team is a piece: a thread for each part x tile.
template <class ExecutionSpace, class Sums>
struct FlycooTeam {
  using Scalar = typename Sums::Scalar;
  using Index = typename Sums::Index;
  static constexpr int threads = 512;
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, TeamBounds<ExecutionSpace, threads, 2>>;

  Sums sums;

  KOKKOS_INLINE_FUNCTION static std::size_t scratch_bytes(int parts, std::size_t columns) {
    std::size_t const slots = 2 * static_cast<std::size_t>(parts);
    return slots * (columns * sizeof(Scalar) + sizeof(Index)) + 32;
  }
  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    Position const k = static_cast<Position>(team.league_rank());
    Position const count = 2 * static_cast<Position>(sums.parallel);
    std::size_t const columns = sums.columns;
    auto* const memory = static_cast<char*>(
        team.team_scratch(0).get_shmem_aligned(scratch_bytes(sums.parallel, columns) - 16, 16));
    auto* const slot_sums = reinterpret_cast<Scalar*>(memory);
    typename Sums::Slots const slots(reinterpret_cast<Index*>(slot_sums + count * columns),
                                     slot_sums, count, columns);
    Position const items = static_cast<Position>(sums.parallel) * sums.tiles;
    for (Position i = team.team_rank(); i < items; i += team.team_size())
      sums.sum_part(slots, k, i / sums.tiles, i % sums.tiles);
    team.team_barrier();
    for (Position place = team.team_rank(); place < sums.tiles; place += team.team_size())
      sums.join_parts(slots, k, place);
  }
};

/// Sums the pieces of X's mode, and moves records where `move` says where to.
template <class ExecutionSpace, class Sums, class Scalar, class Index, class MemorySpace>
void sum_pieces(ExecutionSpace const& exec, Sums const& sums, Position pieces,
                CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  char const* const label = "sporades::mttkrp::flycoo";
  if constexpr (is_gpu<ExecutionSpace>) {
    using Team = FlycooTeam<ExecutionSpace, Sums>;
    auto const items = static_cast<Position>(sums.parallel) * sums.tiles;
    int const team = static_cast<int>(std::min<Position>(items, Team::threads));
    typename Team::Policy policy(exec, static_cast<int>(pieces), team, 1);
    policy.set_scratch_size(
        0, Kokkos::PerTeam(static_cast<int>(Team::scratch_bytes(sums.parallel, sums.columns))));
    Kokkos::parallel_for(label, policy, Team{sums});
  } else {
    typename Sums::Slots slots;
    Kokkos::View<Index*, MemorySpace> rows;
    if (sums.parallel > 1) {
      Position const count = 2 * static_cast<Position>(sums.parallel) * pieces;
      rows = uninitialized<decltype(rows)>(exec, "sporades::mttkrp::part_rows", count);
      auto const part_sums = carry.buffer_rows(exec, count, sums.columns);
      slots = {rows.data(), part_sums.data(), count, part_sums.extent(1)};
    }
    launch_unequal_items(exec, label, pieces, FlycooItem<Sums>{sums, slots});
  }
}

/// MTTKRP on X.mode. split: the modes before it that are multiplied once a run of nonzeros that
/// agree in them. moves: the same pass moves the nonzeros to the order of the next mode.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_flycoo(ExecutionSpace const& exec, FlycooTensor<Scalar, Index, MemorySpace> const& X,
                   Factors<Scalar, MemorySpace> const& A, Matrix<Scalar, MemorySpace> const& V,
                   int split, bool moves, CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  auto const& mode = X.modes[X.mode];
  if (X.nnz() == 0 || mode.rows < X.dims[X.mode]) Kokkos::deep_copy(exec, V, Scalar(0));
  if (X.nnz() == 0) return;
  Position const pieces = mode.pieces.extent(0) - 1, chunks = mode.shares_rows ? pieces : 0;
  carry.reserve(exec, chunks, V.extent(1));
  with_flycoo_nonzeros(X, A, split, [&](auto const& nonzeros, auto depth) {
    using Nonzeros = std::decay_t<decltype(nonzeros)>;
    for_column_tiles<ExecutionSpace, Scalar, tile_widths<Nonzeros::other_modes>>(
        V.extent(1), all_rows_aligned(A, X.mode, V),
        [&](auto width, auto access, std::size_t first, Position tiles) {
          using Sums = FlycooSums<Nonzeros, width(), access(), depth(), batch<ExecutionSpace>>;
          Sums sums{nonzeros, mode.pieces, row_sums(V, carry, chunks), {}, first, V.extent(1),
                    tiles,    X.parallel};
          if (moves && first == 0) sums.move = move_to_next(X);
          sum_pieces(exec, sums, pieces, carry);
        });
  });
  reduce_carries(exec, V, carry, chunks);
}

}  // namespace sporades::detail

#include <sporades/eti/flycoo.hpp>
