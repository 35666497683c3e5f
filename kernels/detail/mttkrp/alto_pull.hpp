// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/detail/alto_pull.hpp>
#include <sporades/kernels/detail/mttkrp/operands.hpp>
#include <sporades/kernels/detail/nonzeros/alto.hpp>
#include <sporades/kernels/detail/row_walk.hpp>

namespace sporades::detail {

/// The nonzeros of an AltoTensor, those of each part of an AltoPull in the order of their rows.
template <class Linear>
struct AltoByRows : Linear {
  using Entry = typename Linear::Entry;
  using Pull = AltoPull<typename Linear::Row, typename Linear::Memory>;

  RawVector<std::uint16_t const, typename Linear::Memory> places;  // nnz

  KOKKOS_FORCEINLINE_FUNCTION Entry fetch(Position p) const {
    return Linear::fetch(p / Pull::part_length * Pull::part_length + places(p));
  }
  KOKKOS_FORCEINLINE_FUNCTION NamedRows<typename Linear::Row> rows(Position p) const {
    return {fetch(p).row};
  }
};

/// One work item: a piece of the nonzeros x a tile of columns. Writes the piece's partial sums.
template <class Nonzeros, int Width, Access access, int Batch>
struct PieceWalk {
  using Scalar = typename Nonzeros::Scalar;
  using Memory = typename Nonzeros::Memory;
  using Columns = TileColumns<Scalar, Width, access>;

  Nonzeros nonzeros;
  RawVector<Position const, Memory> first_sums;
  RawMatrix<Scalar, Memory> sums;
  WalkShape shape;

  KOKKOS_FUNCTION void operator()(Position item) const {
    auto const tile = shape.template tile<Columns>(item);
    Position const begin = shape.begin(item);
    Position s = first_sums(shape.chunk(item));
    auto rows = nonzeros.rows(begin);
    auto const last = sum_terms<Batch>(
        nonzeros, tile, begin, shape.end(item, nonzeros.size()), rows,
        [&](typename Nonzeros::Row, typename Columns::T const& sum) { tile.store(sums, s++, sum); },
        ProductTerms{});
    tile.store(sums, s, last);
  }
};

/// The partial sums of an AltoPull as nonzeros that are sorted by row: see factor_rows.hpp.
template <class ScalarType, class Index, class MemorySpace>
struct PartialSums {
  using Scalar = ScalarType;
  using Row = Index;
  using Memory = MemorySpace;
  static constexpr bool has_words = false;
  static constexpr int other_modes = any_number;
  struct Entry {
    Position sum;
    Index row;
  };

  RawVector<Position const, MemorySpace> order;
  RawVector<Index const, MemorySpace> row_of;  // in that order
  RawMatrix<Scalar const, MemorySpace> sums;

  KOKKOS_FORCEINLINE_FUNCTION Position size() const { return order.extent(0); }
  KOKKOS_FORCEINLINE_FUNCTION NamedRows<Index> rows(Position p) const { return {row_of(p)}; }
  KOKKOS_FORCEINLINE_FUNCTION bool leaves(NamedRows<Index> const& rows, Entry const& entry) const {
    return entry.row != rows.row;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool opens_row(Position p) const {
    return p == 0 || row_of(p) != row_of(p - 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION Entry fetch(Position p) const { return {order(p), row_of(p)}; }
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto term(Entry const& entry, Columns const& columns) const {
    return columns.load(sums, entry.sum);
  }
};

/// Room that sum_pulled takes: a row for each partial sum, and carry slots.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Matrix<Scalar, MemorySpace> reserve_sums(ExecutionSpace const& exec, Position sums,
                                         std::size_t columns,
                                         CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  carry.reserve(exec, chunks_of(sums, chunk_length<ExecutionSpace>(sums)), columns);
  return carry.buffer_rows(exec, sums, columns);
}

/// Strategy `alto` on GPUs: rows from an AltoPull, in the same bits on every run.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_alto_pull(ExecutionSpace const& exec, AltoTensor<Scalar, Index, MemorySpace> const& X,
                      AltoPull<Index, MemorySpace> const& pull,
                      MttkrpOperands<Scalar, MemorySpace> const& operands,
                      CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  auto const& [A, n, V] = operands;
  if (X.nnz() == 0) return fill_view(exec, V, Scalar(0));
  std::size_t const R = V.extent(1);
  auto const sums = reserve_sums(exec, pull.sums(), R, carry);
  bool const aligned = all_rows_aligned(A, n, V) && rows_are_aligned(sums);
  constexpr Position length = AltoPull<Index, MemorySpace>::piece_length;
  auto const walk = [&](auto const& linear) {
    AltoByRows<std::decay_t<decltype(linear)>> const nonzeros{linear, pull.places};
    for_column_tiles<ExecutionSpace, Scalar, TileWidths::coarse>(
        R, aligned, [&](auto width, auto access, std::size_t first, Position tiles) {
          using Walk =
              PieceWalk<std::decay_t<decltype(nonzeros)>, width(), access(), batch<ExecutionSpace>>;
          launch_items(exec, "sporades::mttkrp::alto", chunks_of(X.nnz(), length) * tiles,
                       Walk{nonzeros, pull.first_sums, sums, WalkShape{length, first, R, tiles}});
        });
  };
  with_alto_nonzeros(X, A, n, walk);
  sum_sorted_rows<TileWidths::coarse>(
      exec, "sporades::mttkrp::pull_rows",
      PartialSums<Scalar, Index, MemorySpace>{pull.order, pull.rows, sums}, false, V, aligned,
      carry);
}

}  // namespace sporades::detail
