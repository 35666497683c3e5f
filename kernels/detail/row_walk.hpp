// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/nonzeros/sum_runs.hpp>
#include <sporades/kernels/detail/sorted_rows.hpp>

namespace sporades::detail {

/// Adds up the terms of nonzeros begin to end - 1, and hands over the sum of each row except the
/// last by close(row, sum); the last one's is returned. Batch: nonzeros whose loads are all under
/// way before any is used.
template <int Batch, class Nonzeros, class Columns, class Rows, class Close, class Terms>
KOKKOS_FORCEINLINE_FUNCTION auto sum_terms(Nonzeros const& nonzeros, Columns const& tile,
                                           Position begin, Position end, Rows& rows,
                                           Close const& close, Terms const& terms) {
  using T = typename Columns::T;
  auto sum = terms(nonzeros, tile, nonzeros.fetch(begin));
  auto add = [&](auto const& entry, T const& term) {
    if (nonzeros.leaves(rows, entry)) {
      close(rows.row, sum);
      rows.enter(entry);
      sum.fill(0);
    }
    sum.add(term);
  };
  Position p = begin + 1;
  for (; p + Batch <= end; p += Batch) {
    typename Nonzeros::Entry entry[Batch];
    for (int b = 0; b < Batch; ++b) entry[b] = nonzeros.fetch(p + b);
    T term[Batch];
    for (int b = 0; b < Batch; ++b) term[b] = terms(nonzeros, tile, entry[b]);
    for (int b = 0; b < Batch; ++b) add(entry[b], term[b]);
  }
  for (; p < end; ++p) {
    auto const entry = nonzeros.fetch(p);
    add(entry, terms(nonzeros, tile, entry));
  }
  return sum;
}

/// One work item: a chunk of consecutive nonzeros x a tile of columns. Adds up terms in a tile of
/// registers and hands the sum over when the output row changes. Nonzeros with words, which tell
/// runs, are summed by sum_runs in runs that agree in the first `split` modes, with Terms; others
/// by sum_terms. Terms are a base so that they take no room where they are empty.
/// Nonzeros: see factor_rows.hpp. Sums: see row_sums.hpp. Shape: see work_items.hpp.
template <class Nonzeros, class Sums, int Width, Access access, int split, int Batch,
          class Terms = ProductTerms, class Shape = WalkShape, int Group = Batch>
struct RowWalk : Terms {
  using Columns = TileColumns<typename Nonzeros::Scalar, Width, access>;
  using T = typename Columns::T;
  using Scalar = typename Nonzeros::Scalar;
  static constexpr int others = Nonzeros::other_modes;

  Nonzeros nonzeros;
  Sums out;
  Shape shape;

  KOKKOS_FUNCTION void operator()(Position item) const {
    auto const tile = shape.template tile<Columns>(item);
    Position const begin = shape.begin(item), end = shape.end(item, nonzeros.size());
    auto rows = nonzeros.rows(begin);
    auto const first_row = rows.row;
    ChunkState state{shape.chunk(item), !nonzeros.opens_row(begin), true};
    auto const close = [&](auto row, T const& sum) {
      out.close(state, tile, row, sum);
      state.first = false;
    };
    T const last = sum(tile, begin, end, rows, close);
    bool const continues = end < nonzeros.size() && !nonzeros.opens_row(end);
    out.finish(state, tile, first_row, rows.row, last, continues);
  }

  template <class Rows, class Close>
  KOKKOS_FORCEINLINE_FUNCTION T sum(Columns const& tile, Position begin, Position end, Rows& rows,
                                    Close const& close) const {
    auto const& terms = static_cast<Terms const&>(*this);
    if constexpr (!Nonzeros::has_words)
      return sum_terms<Batch>(nonzeros, tile, begin, end, rows, close, terms);
    else if constexpr (is_on_host<Nonzeros>)
      return sum_runs<split, Batch, Group>(nonzeros.from_column(tile.first),
                                           Columns{0, tile.columns}, begin, end, rows, close,
                                           terms);
    else
      return sum_runs<split, Batch, Group>(nonzeros, nonzeros.term_columns(tile), begin, end, rows,
                                           close, terms);
  }
};

/// Chunks of nonzeros, and what their walks add to: what SortedRows is for other sums.
template <class SumsType>
struct ChunkSums {
  Position length, chunks;  // nonzeros of a chunk
  SumsType sums;
};
template <class SumsType>
ChunkSums(Position, Position, SumsType) -> ChunkSums<SumsType>;

/// Walks the chunks of `rows`, SortedRows or ChunkSums, for tiles of `columns` columns. Bounds: of
/// the registers that a GPU's thread takes.
template <TileWidths widths, int split = 0, class Bounds = Kokkos::LaunchBounds<>,
          class ExecutionSpace, class Nonzeros, class Rows>
void walk_rows(ExecutionSpace const& exec, char const* label, Nonzeros const& nonzeros,
               Rows const& rows, std::size_t columns, bool aligned) {
  using Sums = decltype(rows.sums);
  for_column_tiles<ExecutionSpace, typename Nonzeros::Scalar, widths>(
      columns, aligned, [&](auto width, auto access, std::size_t first, Position tiles) {
        using Walk = RowWalk<Nonzeros, Sums, width(), access(), split, batch<ExecutionSpace>>;
        launch_items<Bounds>(
            exec, label, rows.chunks * tiles,
            Walk{{}, nonzeros, rows.sums, WalkShape{rows.length, first, columns, tiles}});
      });
}

/// V's rows from nonzeros sorted by row, in the same bits on every run and number of threads.
/// every_row: each of V's has nonzeros.
template <TileWidths widths, int split = 0, class Bounds = Kokkos::LaunchBounds<>,
          class ExecutionSpace, class Nonzeros, class Scalar, class Index, class MemorySpace>
void sum_sorted_rows(ExecutionSpace const& exec, char const* label, Nonzeros const& nonzeros,
                     bool every_row, Matrix<Scalar, MemorySpace> const& V, bool aligned,
                     CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  auto const rows = begin_rows(exec, nonzeros.size(), chunk_length<ExecutionSpace>(nonzeros.size()),
                               every_row, V, carry);
  if (rows.chunks == 0) return;
  walk_rows<widths, split, Bounds>(exec, label, nonzeros, rows, V.extent(1), aligned);
  finish_rows(exec, rows, V, carry);
}

/// V's rows from nonzeros in any order, added up atomically.
template <class ExecutionSpace, class Nonzeros, class Scalar, class MemorySpace>
void sum_rows_atomically(ExecutionSpace const& exec, char const* label, Nonzeros const& nonzeros,
                         Matrix<Scalar, MemorySpace> const& V, bool aligned) {
  fill_view(exec, V, Scalar(0));
  if (nonzeros.size() == 0) return;
  using Rows = AtomicRows<Scalar, typename Nonzeros::Row, MemorySpace>;
  Position const length = chunk_length<ExecutionSpace>(nonzeros.size());
  walk_rows<TileWidths::coarse>(exec, label, nonzeros,
                                ChunkSums{length, chunks_of(nonzeros.size(), length), Rows{V}},
                                V.extent(1), aligned);
}

}  // namespace sporades::detail
