// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/mttkrp/packed_nonzeros.hpp>

namespace sporades::detail {

/// One work item of MTTKRP on packed nonzeros: a chunk of consecutive nonzeros x a tile of columns.
template <class Nonzeros, class Sums, class Scalar, int Width, Access access, int split, int Batch,
          class Terms = ProductTerms>
struct PackedWalk {
  using Columns = TileColumns<Scalar, Width, access>;
  using T = typename Columns::T;

  Nonzeros nonzeros;
  Sums out;
  WalkShape shape;
  Terms terms = {};

  KOKKOS_FUNCTION void operator()(Position item) const {
    auto const tile = shape.template tile<Columns>(item);
    Position const begin = shape.begin(item), end = shape.end(item, nonzeros.size());
    RowCursor<typename Nonzeros::Row> rows(nonzeros.row_names, nonzeros.mark(begin));
    auto const first_row = rows.row;
    ChunkState state{shape.chunk(item), !nonzeros.opens_row(begin), true};
    auto const close = [&](auto row, T const& sum) {
      out.close(state, tile, row, sum);
      state.first = false;
    };
    T const last = sum_packed_rows<split, Batch>(nonzeros, tile, begin, end, rows, close, terms);
    bool const continues = end < nonzeros.size() && !nonzeros.opens_row(end);
    out.finish(state, tile, first_row, rows.row, last, continues);
  }
};

/// Strategies `sorted` (split 0) and `fibers` (split N - 2, or less for short fibers) on packed
/// nonzeros in the order of their rows.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_packed(ExecutionSpace const& exec, char const* label,
                   PackedCoo<Scalar, Index, MemorySpace> const& X,
                   Factors<Scalar, MemorySpace> const& A, Matrix<Scalar, MemorySpace> const& V,
                   int split, CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  for_packed_nonzeros<ExecutionSpace>(X, A, split, [&](auto const& nonzeros, auto depth) {
    using Nonzeros = std::decay_t<decltype(nonzeros)>;
    sum_sorted_rows<tile_widths<Nonzeros::other_modes>>(
        exec, label, X.nnz(), X.rows.extent(0) == V.extent(0), V,
        all_rows_aligned(A, X.row_mode, V), carry,
        [&](auto width, auto access, auto const& sums, WalkShape const& shape) {
          return PackedWalk<Nonzeros, std::decay_t<decltype(sums)>, Scalar, width(), access(),
                            depth(), batch<ExecutionSpace>>{nonzeros, sums, shape};
        });
  });
}

}  // namespace sporades::detail
