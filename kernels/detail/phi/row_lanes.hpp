// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/phi/operands.hpp>
#include <sporades/kernels/detail/sorted_rows.hpp>

/// Phi on GPUs in one pass over the nonzeros: the vector lanes of a team's thread hold
/// one row of each matrix between them, so that the model's value is a sum across the lanes.

namespace sporades::detail {

/// The packs of a row that one lane holds, Packs of them, each `lanes` packs from the one before,
/// so that neighbouring lanes load neighbouring 16 bytes. Packs past the row's end load its first.
template <class Scalar, int Packs>
struct LaneColumns {
  static constexpr int pack = 16 / sizeof(Scalar);
  static constexpr int width = Packs * pack;
  static constexpr bool is_packed = true;
  using T = Tile<Scalar, width>;

  std::uint32_t first;  // column of the lane's first pack
  std::uint32_t begins[Packs];
  bool is_there[Packs];

  KOKKOS_FORCEINLINE_FUNCTION LaneColumns(int lane, int lanes, std::uint32_t columns)
      : first(static_cast<std::uint32_t>(lane * pack)) {
    for (int q = 0; q < Packs; ++q) {
      std::uint32_t const begin = first + static_cast<std::uint32_t>(q * lanes * pack);
      is_there[q] = begin < columns;
      begins[q] = is_there[q] ? begin : 0;
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION std::size_t column(int j) const {
    return begins[j / pack] + j % pack;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool holds(int j) const { return is_there[j / pack]; }

  template <class MatrixType>
  KOKKOS_FORCEINLINE_FUNCTION T load(MatrixType const& A, std::size_t row) const {
    Scalar const* const from = A.data() + row * static_cast<std::uint32_t>(A.stride(0));
    T tile;
    for (int q = 0; q < Packs; ++q) {
      auto const packed = load_tile<Scalar, pack, true>(from + begins[q]);
      for (int j = 0; j < pack; ++j) tile.set(q * pack + j, packed[j]);
    }
    return tile;
  }
  /// The lane's columns of this row of A, with zeros past the row's end.
  template <class MatrixType>
  KOKKOS_FORCEINLINE_FUNCTION T load_or_zero(MatrixType const& A, std::size_t row) const {
    T tile = load(A, row);
    for (int j = 0; j < width; ++j)
      if (!holds(j)) tile.set(j, 0);
    return tile;
  }
  template <class MatrixType>
  KOKKOS_FORCEINLINE_FUNCTION void store(MatrixType const& A, std::size_t row,
                                         T const& tile) const {
    Scalar* const to = A.data() + row * A.stride(0);
    for (int q = 0; q < Packs; ++q) {
      if (!is_there[q]) continue;
      Tile<Scalar, pack> packed;
      for (int j = 0; j < pack; ++j) packed.set(j, tile[q * pack + j]);
      store_tile<Scalar, pack, true>(packed, to + begins[q]);
    }
  }
};

/// A chunk of nonzeros a thread of a team, four at a time: their dot products with B's rows are
/// summed across the lanes together, so that each lane ends with one of the four sums, divides
/// once, and hands the weight to the others.
template <class ExecutionSpace, class Nonzeros, class Sums, class Scalar, int Packs>
struct PhiRowLanes {
  static constexpr int batch = 4;
  static constexpr int block = 128;  // lanes of a team
  // Four teams a multiprocessor: with fewer nothing hides that a batch waits for its words, then
  // for its rows, then for the other lanes; with more, registers spill.
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, TeamBounds<ExecutionSpace, block, 4>>;
  using Columns = LaneColumns<Scalar, Packs>;
  using T = typename Columns::T;

  Nonzeros nonzeros;
  Sums out;
  RawMatrix<Scalar const, typename Nonzeros::Memory> B;  // I_n x R
  Scalar epsilon;
  Position length, chunks;
  int lanes;  // 4 to 32

  /// The sum over the lanes of model[lane % 4].
  KOKKOS_FORCEINLINE_FUNCTION Scalar sum_across(VectorLanes const& vector,
                                                Scalar const (&model)[batch]) const {
    bool const upper = vector.mine() & 2, odd = vector.mine() & 1;
    Scalar const even_kept = upper ? model[2] : model[0], odd_kept = upper ? model[3] : model[1];
    Scalar const even_sent = upper ? model[0] : model[2], odd_sent = upper ? model[1] : model[3];
    Scalar const even = even_kept + vector.across(2, even_sent);
    Scalar const other = odd_kept + vector.across(2, odd_sent);
    Scalar sum = (odd ? other : even) + vector.across(1, odd ? even : other);
    for (int distance = 4; distance < lanes; distance *= 2) sum += vector.across(distance, sum);
    return sum;
  }

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    using Index = typename Nonzeros::Row;
    Position const chunk =
        static_cast<Position>(team.league_rank()) * team.team_size() + team.team_rank();
    if (chunk >= chunks) return;
    VectorLanes const vector = VectorLanes::of_thread(lanes);
    Columns const tile(vector.mine(), lanes, static_cast<std::uint32_t>(B.extent(1)));
    Position const begin = chunk * length;
    Position const end = begin + length < nonzeros.size() ? begin + length : nonzeros.size();
    int const count = static_cast<int>(end - begin);
    auto rows = nonzeros.rows(begin);
    Index const first_row = rows.row;
    ChunkState state{chunk, !nonzeros.opens_row(begin), true};
    T sum, b = tile.load_or_zero(B, rows.row);
    sum.fill(0);
    for (int p = 0; p < count; p += batch) {
      int const mine = p + vector.mine() % batch;
      Scalar const value = mine < count ? nonzeros.values(begin + mine) : Scalar(0);
      typename Nonzeros::Entry entries[batch];  // past the chunk's end its last nonzero stands in
      T term[batch];
      if (p + batch <= count)
        for (int k = 0; k < batch; ++k) entries[k] = nonzeros.fetch(begin + p + k);
      else
        for (int k = 0; k < batch; ++k)
          entries[k] = nonzeros.fetch(begin + (p + k < count ? p + k : count - 1));
      for (int k = 0; k < batch; ++k) term[k] = nonzeros.product(entries[k], tile);
      Scalar model[batch];
      Index closes[batch];
      bool opens[batch];
      for (int k = 0; k < batch; ++k) {
        opens[k] = p + k > 0 && p + k < count && nonzeros.leaves(rows, entries[k]);
        closes[k] = rows.row;
        if (opens[k]) {
          rows.enter(entries[k]);
          b = tile.load_or_zero(B, rows.row);
        }
        model[k] = b.dot(term[k]);
      }
      Scalar const own = sum_across(vector, model);
      Scalar const weight = value / (own < epsilon ? epsilon : own);
      for (int k = 0; k < batch; ++k) {
        if (opens[k]) {
          out.close(state, tile, closes[k], sum);
          state.first = false;
          sum.fill(0);
        }
        sum.add_product(vector.of(k, weight), term[k]);
      }
    }
    bool const continues = end < nonzeros.size() && !nonzeros.opens_row(end);
    out.finish(state, tile, first_row, rows.row, sum, continues);
  }
};

/// The sums of the chunks of `rows` (see walk_rows), where rows of B, the product and the factors
/// are aligned and no longer than 64 packs.
template <class ExecutionSpace, class Nonzeros, class Scalar, class MemorySpace, class Rows>
void walk_row_lanes(ExecutionSpace const& exec, char const* label, Nonzeros const& nonzeros,
                    PhiOperands<Scalar, MemorySpace> const& operands, Rows const& rows) {
  std::size_t const packs = operands.B.extent(1) / (16 / sizeof(Scalar));
  with_constant<1, 2>(packs >= 8 ? 2 : 1, [&](auto packs_each) {
    using Walk = PhiRowLanes<ExecutionSpace, Nonzeros, decltype(rows.sums), Scalar, packs_each()>;
    int lanes = 4;
    while (static_cast<std::size_t>(lanes) * packs_each() < packs) lanes *= 2;
    int const team = Walk::block / lanes;
    // The pool is not used: where it is 0, Kokkos 4.6 allocates it anew in every launch.
    typename Walk::Policy policy(exec, static_cast<int>(chunks_of(rows.chunks, team)), team, lanes);
    policy.set_scratch_size(1, Kokkos::PerTeam(8));
    Kokkos::parallel_for(
        label, policy,
        Walk{nonzeros, rows.sums, operands.B, operands.least(), rows.length, rows.chunks, lanes});
  });
}

}  // namespace sporades::detail
