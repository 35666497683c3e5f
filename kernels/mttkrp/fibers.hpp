// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/mttkrp/packed_nonzeros.hpp>

namespace sporades::detail {

/// One work item of MTTKRP: a chunk of consecutive nonzeros x a tile of columns, where runs of
/// words that differ in the lowest field only are fibers: x_p times the row of the last mode's
/// factor is summed over the fiber, and the sum multiplied once by the rows of all other factors.
/// Work is split by nonzeros; a fiber that the chunk cuts is summed in parts, which is the same.
template <class Nonzeros, class Sums, class Scalar, int Width, Access access, int Batch>
struct FiberWalk {
  Nonzeros nonzeros;
  Sums out;
  WalkShape shape;

  KOKKOS_FUNCTION void operator()(Position item) const {
    using Columns = TileColumns<Scalar, Width, access>;
    using T = typename Columns::T;
    using Word = typename Nonzeros::Word;
    auto const tile = shape.template tile<Columns>(item);
    Position const begin = shape.begin(item), end = shape.end(item, nonzeros.size());
    int const leaf = nonzeros.modes() - 1;
    Word const path_mask = ~nonzeros.mask[leaf];  // with the flag: a new row is a new path

    auto rows = nonzeros.rows(begin);
    auto const first_row = rows.row;
    ChunkState state{shape.chunk(item), !nonzeros.opens_row(begin), true};
    Word path = nonzeros.words(begin) & path_mask & ~row_flag<Word>;
    T sum, fiber;
    sum.fill(Scalar(0));
    fiber.fill(Scalar(0));
    auto row = [&](auto const& entry) {
      return tile.load(nonzeros.factors[leaf], nonzeros.index(entry.word, leaf));
    };
    auto fold = [&] {
      nonzeros.multiply(fiber, path, tile, 0, leaf);
      sum.add(fiber);
    };
    auto next_fiber = [&](auto const& entry) {
      fold();
      fiber.fill(Scalar(0));
      path = entry.word & path_mask & ~row_flag<Word>;
      if (rows.leaves(entry)) {
        out.close(state, tile, rows.row, sum);
        state.first = false;
        rows.enter(entry);
        sum.fill(Scalar(0));
      }
    };
    auto entry = nonzeros.fetch(begin);
    fiber.add_product(entry.value, row(entry));
    Position p = begin + 1;
    if constexpr (Batch > 1) {
      for (; p + Batch <= end;
           p += Batch) {  // a batch's loads are all under way before any is used
        typename Nonzeros::Entry entries[Batch];
        for (int b = 0; b < Batch; ++b) entries[b] = nonzeros.fetch(p + b);
        T leaf_row[Batch];
        for (int b = 0; b < Batch; ++b) leaf_row[b] = row(entries[b]);
        for (int b = 0; b < Batch; ++b) {
          if ((entries[b].word & path_mask) != path) next_fiber(entries[b]);
          fiber.add_product(entries[b].value, leaf_row[b]);
        }
      }
    }
    while (p < end) {
      entry = nonzeros.fetch(p);
      if ((entry.word & path_mask) != path) next_fiber(entry);
      do {  // the fiber, in a loop of its own
        Position const ahead = p + prefetch_distance < end ? p + prefetch_distance : p;
        prefetch(tile, nonzeros.factors[leaf], nonzeros.index(nonzeros.words(ahead), leaf));
        fiber.add_product(entry.value, row(entry));
        if (++p == end) break;
        entry = nonzeros.fetch(p);
      } while ((entry.word & path_mask) == path);
    }
    fold();
    bool const continues = end < nonzeros.size() && !nonzeros.opens_row(end);
    out.finish(state, tile, first_row, rows.row, sum, continues);
  }
};

/// Strategy `fibers`, for two modes or more.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_fibers(ExecutionSpace const& exec, PackedCoo<Scalar, Index, MemorySpace> const& X,
                   Factors<Scalar, MemorySpace> const& A, Matrix<Scalar, MemorySpace> const& V,
                   CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  for_packed_nonzeros(X, A, [&](auto const& nonzeros, auto widths) {
    sum_sorted_rows<widths()>(
        exec, "sporades::mttkrp::fibers", X.nnz(), X.rows.extent(0) == V.extent(0), V,
        all_rows_aligned(A, X.row_mode, V), carry,
        [&](auto width, auto access, auto const& sums, WalkShape const& shape) {
          return FiberWalk<std::decay_t<decltype(nonzeros)>, std::decay_t<decltype(sums)>, Scalar,
                           width(), access(), batch<ExecutionSpace>>{nonzeros, sums, shape};
        });
  });
}

}  // namespace sporades::detail
