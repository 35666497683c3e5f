// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/blocked_coo.hpp>
#include <sporades/kernels/mttkrp/packed_nonzeros.hpp>

namespace sporades::detail {

/// One work item of MTTKRP on packed nonzeros: a chunk of consecutive nonzeros, or a slice where
/// there are slices, x a tile of columns. Slices are not in the order of rows: the sum of each run
/// of one row is added to the row, which stays in a cache.
template <class Nonzeros, class Sums, class Scalar, int Width, Access access, int split, int Batch>
struct PackedWalk {
  using Columns = TileColumns<Scalar, Width, access>;
  using T = typename Columns::T;
  using Memory = typename Nonzeros::Memory;

  Nonzeros nonzeros;
  Sums out;
  WalkShape shape;
  RawVector<RowSlice const, Memory> slices;  // or none
  RawMatrix<Scalar, Memory> parts;           // the slices' own rows

  KOKKOS_FUNCTION void operator()(Position item) const {
    auto const tile = shape.template tile<Columns>(item);
    bool const sliced = slices.extent(0) > 0;
    RowSlice slice{};
    if (sliced)
      slice = slices(shape.chunk(item));
    else
      slice.begin = shape.begin(item), slice.end = shape.end(item, nonzeros.size());
    bool const own = sliced && slice.part != RowSlice::none;
    auto const& target = own ? parts : out.V;
    Position const offset = own ? slice.part - slice.row : 0;  // may wrap around, and back
    if (own)
      for (Position i = 0; i < slice.row_count; ++i) clear(tile, slice.part + i);

    RowCursor<typename Nonzeros::Row> rows(nonzeros.row_names,
                                           sliced ? slice.run : nonzeros.mark(slice.begin));
    auto const first_row = rows.row;
    ChunkState state{shape.chunk(item), !nonzeros.opens_row(slice.begin), true};
    auto const close = [&](auto row, T const& sum) {
      if (sliced) {
        T total = tile.load(target, offset + row);
        total.add(sum);
        tile.store(target, offset + row, total);
      } else {
        out.close(state, tile, row, sum);
        state.first = false;
      }
    };
    T const last =
        sum_packed_rows<split, Batch>(nonzeros, tile, slice.begin, slice.end, rows, close);
    if (sliced) return close(rows.row, last);
    bool const continues = slice.end < nonzeros.size() && !nonzeros.opens_row(slice.end);
    out.finish(state, tile, first_row, rows.row, last, continues);
  }

  KOKKOS_FORCEINLINE_FUNCTION void clear(Columns const& tile, Position row) const {
    T zero;
    zero.fill(Scalar(0));
    tile.store(parts, row, zero);
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
                            depth(), batch<ExecutionSpace>>{nonzeros, sums, shape, {}, {}};
        });
  });
}

}  // namespace sporades::detail
