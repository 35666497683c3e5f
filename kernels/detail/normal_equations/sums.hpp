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

/// Groups that hosts sum at once: what the first-level cache holds.
inline constexpr Position host_panel = 128;

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

/// The sum of a group: four pieces.
template <class T>
struct NormalBlock {
  T a, b, c, d;

  KOKKOS_FORCEINLINE_FUNCTION void clear() {
    a.fill(0);
    b.fill(0);
    c.fill(0);
    d.fill(0);
  }
  /// += left right^T
  KOKKOS_FORCEINLINE_FUNCTION void add_outer(T const& left, T const& right) {
    a.add_product(left[0], right);
    b.add_product(left[1], right);
    c.add_product(left[2], right);
    d.add_product(left[3], right);
  }
  /// += x times blocks J to J + 3 of a row, as far as it has them.
  template <class Scalar, class Row>
  KOKKOS_FORCEINLINE_FUNCTION void add_blocks(Scalar x, Row const& row, int J, int blocks) {
    a.add_product(x, row.block(J));
    if (J + 1 < blocks) b.add_product(x, row.block(J + 1));
    if (J + 2 < blocks) c.add_product(x, row.block(J + 2));
    if (J + 3 < blocks) d.add_product(x, row.block(J + 3));
  }
};

/// One work item: a chunk of nonzeros x a panel of groups of S. Nonzeros of a row are taken `batch`
/// at a time, as far as there are so many.
template <class Nonzeros, class Sums>
struct NormalWalk {
  using Scalar = typename Nonzeros::Scalar;
  static constexpr bool on_host = is_on_host<Nonzeros>;
  static constexpr Position panel = on_host ? host_panel : 1;  // groups
  static constexpr int batch = on_host ? 4 : 1;
  static constexpr Position ahead = 16;  // whose factor rows are asked for: on hosts
  static constexpr int width = NormalPieces::width;
  using Columns = TileColumns<Scalar, width, on_host ? Access::whole : Access::packed>;
  using T = typename Columns::T;
  using Row =
      std::conditional_t<on_host, KeptRow<Nonzeros, Columns>, GatheredRow<Nonzeros, Columns>>;
  using Block = NormalBlock<T>;
  using Sum = std::conditional_t<on_host, Kokkos::Array<Block, panel>, Block>;

  Nonzeros nonzeros;
  Sums out;
  Position length;  // of a chunk
  NormalPieces pieces;

  KOKKOS_FUNCTION Position panels() const { return chunks_of(pieces.groups(), panel); }

  KOKKOS_FUNCTION void operator()(Position item) const { walk(item, out); }

  /// The rows of the item, to other sums.
  template <class Out>
  KOKKOS_FORCEINLINE_FUNCTION void walk(Position item, Out const& out) const {
    Position const chunk = item / panels(), first = item % panels() * panel;
    Position const left = pieces.groups() - first, groups = left < panel ? left : panel;
    NormalGroup const group(pieces, first);
    Position const begin = chunk * length;
    Position const end = begin + length < nonzeros.size() ? begin + length : nonzeros.size();
    auto rows = nonzeros.rows(begin);
    auto const first_row = rows.row;
    ChunkState state{chunk, !nonzeros.opens_row(begin), true};
    Sum sum;
    clear(sum, groups);
    for (Position p = begin; p < end;) {
      if (p > begin && nonzeros.opens_row(p)) {
        for_pieces(sum, first, groups, [&](auto const& tile, T const& piece) {
          out.close(state, tile, rows.row, piece);
        });
        state.first = false;
        rows.enter(nonzeros.fetch(p));
        clear(sum, groups);
      }
      if constexpr (on_host) prefetch(p + ahead, end);
      int count = 1;
      while (count < batch && p + count < end && !nonzeros.opens_row(p + count)) ++count;
      if (count == batch)
        add<batch>(sum, p, group, groups);
      else
        for (int b = 0; b < count; ++b) add<1>(sum, p + b, group, groups);
      p += count;
    }
    bool const continues = end < nonzeros.size() && !nonzeros.opens_row(end);
    for_pieces(sum, first, groups, [&](auto const& tile, T const& piece) {
      out.finish(state, tile, first_row, rows.row, piece, continues);
    });
  }

 private:
  template <int count>
  struct Rows {
    Row row[count];

    template <int... b>
    KOKKOS_FORCEINLINE_FUNCTION Rows(Nonzeros const& nonzeros, Position p, int blocks,
                                     std::integer_sequence<int, b...>)
        : row{Row(nonzeros, p + b, blocks)...} {}
  };

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

  static KOKKOS_FORCEINLINE_FUNCTION void clear(Sum& sum, Position groups) {
    if constexpr (on_host)
      for (Position g = 0; g < groups; ++g) sum[g].clear();
    else
      sum.clear();
  }

  /// call(columns, piece) for each piece of an item. Copies of pieces: a GPU's compiler holds in
  /// memory what a store picks entries from, which took 1.7 times as long.
  template <class Call>
  KOKKOS_FORCEINLINE_FUNCTION void for_pieces(Sum const& sum, Position first, Position groups,
                                              Call const& call) const {
    if constexpr (on_host)
      for (Position g = 0; g < groups; ++g) for_block(sum[g], first + g, call);
    else
      for_block(sum, first, call);
  }
  template <class Call>
  KOKKOS_FORCEINLINE_FUNCTION void for_block(Block const& sum, Position group,
                                             Call const& call) const {
    std::size_t const column = 4 * width * group;
    std::size_t const end = 4 * width * pieces.triangle() + std::size_t{width} * pieces.blocks;
    call(Columns{column, width}, T(sum.a));
    if (column + width < end) call(Columns{column + width, width}, T(sum.b));
    if (column + 2 * width < end) call(Columns{column + 2 * width, width}, T(sum.c));
    if (column + 3 * width < end) call(Columns{column + 3 * width, width}, T(sum.d));
  }

  /// sum += the outer products of nonzeros p to p + count - 1, in groups from `group` on.
  template <int count>
  KOKKOS_FORCEINLINE_FUNCTION void add(Sum& sum, Position p, NormalGroup group,
                                       Position groups) const {
    Rows<count> const k(nonzeros, p, pieces.blocks, std::make_integer_sequence<int, count>{});
    if constexpr (on_host)
      for (Position g = 0; g < groups; ++g, group.next(pieces)) add_block(sum[g], k, group);
    else
      add_block(sum, k, group);
  }
  template <int count>
  KOKKOS_FORCEINLINE_FUNCTION void add_block(Block& sum, Rows<count> const& k,
                                             NormalGroup const& group) const {
    if (group.I < pieces.blocks)
      for (int b = 0; b < count; ++b)
        sum.add_outer(k.row[b].block(group.I), k.row[b].block(group.J));
    else
      for (int b = 0; b < count; ++b)
        sum.add_blocks(k.row[b].value(), k.row[b], group.J, pieces.blocks);
  }
};

}  // namespace sporades::detail
