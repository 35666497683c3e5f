// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/mttkrp/packed_nonzeros.hpp>

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

/// Registers of a walk over this many other modes on GPUs: in float, with one or two of them, 64
/// are enough, and four blocks of 256 threads a multiprocessor hide more of the loads' latency than
/// three do.
template <class ExecutionSpace, class Scalar, int Others>
using PackedBounds = std::conditional_t<sizeof(Scalar) == 4 && (Others == 1 || Others == 2),
                                        TeamBounds<ExecutionSpace, 256, 4>, Kokkos::LaunchBounds<>>;

/// Strategies `sorted` (split 0) and `fibers` (split N - 2, or less for short fibers) on packed
/// nonzeros in the order of their rows.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_packed(ExecutionSpace const& exec, char const* label,
                   PackedTensor<Scalar, Index, MemorySpace> const& X,
                   Factors<Scalar, MemorySpace> const& A, Matrix<Scalar, MemorySpace> const& V,
                   int split, CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  bool const aligned = all_rows_aligned(A, X.row_mode, V);
  for_packed_nonzeros<ExecutionSpace>(X, A, split, [&](auto const& nonzeros, auto depth) {
    using Nonzeros = std::decay_t<decltype(nonzeros)>;
    constexpr int others = Nonzeros::other_modes;
    sum_sorted_rows(
        exec, X.nnz(), X.rows.extent(0) == V.extent(0), V, carry,
        [&](auto const& run) {
          for_column_tiles<ExecutionSpace, Scalar, tile_widths<others>>(V.extent(1), aligned, run);
        },
        [&](auto width, auto access, auto const& sums, WalkShape const& shape, Position chunks) {
          using Walk = PackedWalk<Nonzeros, std::decay_t<decltype(sums)>, Scalar, width(), access(),
                                  depth(), batch<ExecutionSpace>>;
          launch_items<PackedBounds<ExecutionSpace, Scalar, others>>(
              exec, label, chunks * shape.tiles, Walk{nonzeros, sums, shape});
        });
  });
}

}  // namespace sporades::detail
