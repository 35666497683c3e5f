// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/spttm/baselines/thread_grid.hpp>

/// Strategies `naive`, `fine_grained`, `coalesced` and `rank_blocked`, baselines that `automatic`
/// never takes: rows are summed in memory, by blocks of threads. Ma et al. 2018.

namespace sporades::detail {

/// The threads of a block, in x and in y.
enum class BlockOf {
  fibers,            // a thread a fiber
  fibers_by_thread,  // neighbouring threads take neighbouring fibers, and every y-th column
  columns_by_thread  // neighbouring threads take neighbouring columns of one fiber, each every
                     // x-th, so that rows of U and V are read and written together
};

/// If it is `column_by_column`, the loop over columns goes outside that over the fiber's nonzeros:
/// short pieces of U's rows stay in the cache, and nonzeros are read once for each of them.
template <BlockOf block, bool column_by_column, class Scalar, class Index, class MemorySpace>
struct ThreadBlockSpttm {
  FiberProduct<Scalar, Index, MemorySpace> product;
  ThreadGrid grid;

  KOKKOS_FUNCTION void operator()(Position item) const {
    auto const& [begin, index, values, U, V] = product;
    Position f = item;
    int first = 0, step = 1;
    if constexpr (block != BlockOf::fibers) {
      constexpr bool is_x = block == BlockOf::columns_by_thread;
      auto const thread = grid.thread(item);
      f = thread.block * (is_x ? grid.y : grid.x) + (is_x ? thread.y : thread.x);
      first = is_x ? thread.x : thread.y;
      step = is_x ? grid.x : grid.y;
    }
    if (f >= product.fibers()) return;
    int const R = product.columns();
    if constexpr (column_by_column) {
      for (int r = first; r < R; r += step) {
        V(f, r) = 0;
        for (Position p = begin(f); p < begin(f + 1); ++p) V(f, r) += values(p) * U(index(p), r);
      }
    } else {
      for (int r = first; r < R; r += step) V(f, r) = 0;
      for (Position p = begin(f); p < begin(f + 1); ++p)
        for (int r = first; r < R; r += step) V(f, r) += values(p) * U(index(p), r);
    }
  }
};

template <BlockOf block, bool column_by_column = false, class ExecutionSpace, class Scalar,
          class Index, class MemorySpace>
void spttm_by_blocks(ExecutionSpace const& exec, char const* label,
                     FiberProduct<Scalar, Index, MemorySpace> const& product,
                     ThreadBlock const& shape) {
  int const a_row = block == BlockOf::fibers ? 1 : shape.of_row(product.columns());
  int const fibers = shape.threads / a_row;
  bool const is_x = block == BlockOf::columns_by_thread;
  launch_grid(exec, label, product.fibers(), fibers,
              ThreadBlockSpttm<block, column_by_column, Scalar, Index, MemorySpace>{
                  product, {is_x ? a_row : fibers, is_x ? fibers : a_row}});
}

}  // namespace sporades::detail
