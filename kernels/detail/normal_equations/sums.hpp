// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/nonzeros/coo.hpp>
#include <sporades/kernels/detail/nonzeros/packed.hpp>
#include <sporades/kernels/detail/row_walk.hpp>
#include <sporades/kernels/normal_equations.hpp>

/// The sums of normal_equations.hpp: a walk over nonzeros in the order of their rows, as that of
/// MTTKRP, which adds up outer products.

namespace sporades::detail {

/// What a row of S is made of, in pieces of four columns: the rows of the blocks of H's lower
/// triangle, then v.
struct NormalPieces {
  static constexpr int width = 4;

  int blocks;  // of four in a factor's row

  KOKKOS_FUNCTION Position triangle() const {  // blocks of H
    return static_cast<Position>(blocks) * static_cast<Position>(blocks + 1) / 2;
  }
  /// Groups of four pieces: a block of H, or four blocks of v.
  KOKKOS_FUNCTION Position groups() const { return triangle() + (blocks + width - 1) / width; }
  /// Where H(i, j), j <= i, is in a row of S.
  KOKKOS_FUNCTION std::size_t column(int i, int j) const {
    auto const I = static_cast<std::size_t>(i / width), J = static_cast<std::size_t>(j / width);
    return 16 * (I * (I + 1) / 2 + J) + static_cast<std::size_t>(width * (i % width) + j % width);
  }
  /// Where v(i) is.
  KOKKOS_FUNCTION std::size_t column(int i) const {
    return 16 * triangle() + static_cast<std::size_t>(i);
  }
};

/// The groups of S from one on, in their order.
struct NormalGroup {
  int I = 0, J = 0;  // of H; or I = blocks, and blocks J to J + 3 of v

  KOKKOS_FUNCTION NormalGroup(NormalPieces const& pieces, Position group) {
    if (group >= pieces.triangle()) {
      I = pieces.blocks;
      J = NormalPieces::width * static_cast<int>(group - pieces.triangle());
      return;
    }
    Position before = 0;
    while (before + static_cast<Position>(I) + 1 <= group) before += static_cast<Position>(++I);
    J = static_cast<int>(group - before);
  }
  KOKKOS_FORCEINLINE_FUNCTION void next(NormalPieces const& pieces) {
    if (I == pieces.blocks) {
      J += NormalPieces::width;
    } else if (++J > I) {
      ++I;
      J = 0;
    }
  }
};

/// Rows k_p in blocks of four, read as they are needed: on GPUs, whose threads each need two.
template <class Nonzeros, class Columns>
struct GatheredRow {
  using Scalar = typename Nonzeros::Scalar;

  Nonzeros const& nonzeros;
  typename Nonzeros::Entry entry;

  KOKKOS_FORCEINLINE_FUNCTION GatheredRow(Nonzeros const& all, Position p, int)
      : nonzeros(all), entry(all.fetch(p)) {}
  KOKKOS_FORCEINLINE_FUNCTION auto block(int J) const {
    return nonzeros.product(entry, Columns{static_cast<std::size_t>(4 * J), 4});
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value() const { return entry.value; }
};

/// Rows k_p in blocks of four, of which the caller needs all: on hosts.
template <class Nonzeros, class Columns>
struct KeptRow {
  using Scalar = typename Nonzeros::Scalar;

  typename Columns::T k[most_normal_rank / 4];
  Scalar x;

  KOKKOS_FORCEINLINE_FUNCTION KeptRow(Nonzeros const& nonzeros, Position p, int blocks) {
    auto const entry = nonzeros.fetch(p);
    x = entry.value;
    for (int J = 0; J < blocks; ++J)
      k[J] = nonzeros.product(entry, Columns{static_cast<std::size_t>(4 * J), 4});
  }
  KOKKOS_FORCEINLINE_FUNCTION auto const& block(int J) const { return k[J]; }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value() const { return x; }
};

/// One work item: a chunk of nonzeros x a panel of groups of S. Nonzeros of a row are taken `batch`
/// at a time, as far as there are so many.
template <class Nonzeros, class Sums>
struct NormalWalk {
  using Scalar = typename Nonzeros::Scalar;
  static constexpr bool on_host = is_on_host<Nonzeros>;
  static constexpr Position panel = on_host ? 128 : 1;  // groups: on hosts the first-level cache
  static constexpr int batch = on_host ? 4 : 2;
  static constexpr Position ahead = 16;  // whose factor rows are asked for: on hosts
  static constexpr int width = NormalPieces::width;
  using Columns = TileColumns<Scalar, width, on_host ? Access::whole : Access::packed>;
  using T = typename Columns::T;
  using Row =
      std::conditional_t<on_host, KeptRow<Nonzeros, Columns>, GatheredRow<Nonzeros, Columns>>;
  struct Sum {
    T piece[width * panel];
  };

  Nonzeros nonzeros;
  Sums out;
  Position length;  // of a chunk
  NormalPieces pieces;

  KOKKOS_FUNCTION Position panels() const { return chunks_of(pieces.groups(), panel); }

  KOKKOS_FUNCTION void operator()(Position item) const {
    Position const chunk = item / panels(), first = item % panels() * panel;
    Position const last = first + panel < pieces.groups() ? first + panel : pieces.groups();
    Position const begin = chunk * length;
    Position const end = begin + length < nonzeros.size() ? begin + length : nonzeros.size();
    auto rows = nonzeros.rows(begin);
    auto const first_row = rows.row;
    ChunkState state{chunk, !nonzeros.opens_row(begin), true};
    Sum sum;
    clear(sum, last - first);
    for (Position p = begin; p < end;) {
      if (p > begin && nonzeros.opens_row(p)) {
        for_pieces(sum, first, last, [&](auto const& tile, T const& piece) {
          out.close(state, tile, rows.row, piece);
        });
        state.first = false;
        rows.enter(nonzeros.fetch(p));
        clear(sum, last - first);
      }
      if constexpr (on_host) prefetch(p + ahead, end);
      int count = 1;
      while (count < batch && p + count < end && !nonzeros.opens_row(p + count)) ++count;
      if (count == batch)
        add<batch>(sum, p, first, last);
      else
        for (int b = 0; b < count; ++b) add<1>(sum, p + b, first, last);
      p += count;
    }
    bool const continues = end < nonzeros.size() && !nonzeros.opens_row(end);
    for_pieces(sum, first, last, [&](auto const& tile, T const& piece) {
      out.finish(state, tile, first_row, rows.row, piece, continues);
    });
  }

 private:
  /// Asks for the factor rows of the batch of nonzeros from p on.
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(Position p, Position end) const {
    constexpr int line = 64 / sizeof(Scalar);
    if (p + batch > end) return;
    for (int b = 0; b < batch; ++b) {
      auto const entry = nonzeros.fetch(p + b);
      for (int m = 0; m < nonzeros.modes(); ++m) {
        Scalar const* const row = &nonzeros.factors[m](nonzeros.index(entry, m), 0);
        for (int j = 0; j < width * pieces.blocks; j += line) sporades::detail::prefetch(row + j);
      }
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void clear(Sum& sum, Position groups) const {
    for (Position k = 0; k < width * (on_host ? groups : panel); ++k) sum.piece[k].fill(0);
  }

  template <class Call>
  KOKKOS_FORCEINLINE_FUNCTION void for_pieces(Sum const& sum, Position first, Position last,
                                              Call const& call) const {
    Position const end = width * pieces.triangle() + static_cast<Position>(pieces.blocks);
    for (Position group = first; group < (on_host ? last : first + 1); ++group)
      for (int i = 0; i < width; ++i) {
        Position const piece = width * group + static_cast<Position>(i);
        if (piece < end)
          call(Columns{static_cast<std::size_t>(width * piece), width},
               sum.piece[width * (group - first) + static_cast<Position>(i)]);
      }
  }

  /// sum += the outer products of nonzeros p to p + count - 1.
  template <int count>
  KOKKOS_FORCEINLINE_FUNCTION void add(Sum& sum, Position p, Position first, Position last) const {
    Rows<count> const k(nonzeros, p, pieces.blocks, std::make_integer_sequence<int, count>{});
    NormalGroup group(pieces, first);
    for (Position g = 0; g < (on_host ? last - first : 1); ++g, group.next(pieces)) {
      T* const piece = &sum.piece[width * g];
      if (group.I < pieces.blocks) {
        for (int b = 0; b < count; ++b) {
          T const left = k.row[b].block(group.I), right = k.row[b].block(group.J);
          for (int i = 0; i < width; ++i) piece[i].add_product(left[i], right);
        }
      } else {
        for (int i = 0; i < width && group.J + i < pieces.blocks; ++i)
          for (int b = 0; b < count; ++b)
            piece[i].add_product(k.row[b].value(), T(k.row[b].block(group.J + i)));
      }
    }
  }

  template <int count>
  struct Rows {
    Row row[count];

    template <int... b>
    KOKKOS_FORCEINLINE_FUNCTION Rows(Nonzeros const& nonzeros, Position p, int blocks,
                                     std::integer_sequence<int, b...>)
        : row{Row(nonzeros, p + b, blocks)...} {}
  };
};

}  // namespace sporades::detail
