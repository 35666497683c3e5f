// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/spttm/baselines/thread_grid.hpp>

namespace sporades::detail {

/// Threads as in CoalescedSpttm, but the loop over blocks of columns goes outside that over the
/// fiber's nonzeros: short pieces of U's rows stay in the cache, and nonzeros are read once a
/// block.
template <class Scalar, class Index, class MemorySpace>
struct RankBlockedSpttm {
  FiberProduct<Scalar, Index, MemorySpace> product;
  ThreadGrid grid;

  KOKKOS_FUNCTION void operator()(Position item) const {
    auto const& [begin, index, values, U, V] = product;
    auto const thread = grid.thread(item);
    Position const f = thread.block * grid.y + thread.y;
    if (f >= product.fibers()) return;
    int const R = product.columns();
    for (int r = thread.x; r < R; r += grid.x) {
      V(f, r) = 0;
      for (Position p = begin(f); p < begin(f + 1); ++p) V(f, r) += values(p) * U(index(p), r);
    }
  }
};

/// Strategy `rank_blocked`, a baseline that `automatic` never takes: Ma et al. 2018, §4.2.4:
/// Algorithm 3 with its loops exchanged.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void spttm_rank_blocked(ExecutionSpace const& exec,
                        FiberProduct<Scalar, Index, MemorySpace> const& product,
                        ThreadBlock const& block = {}) {
  int const a_row = block.of_row(product.columns()), fibers = block.threads / a_row;
  launch_grid(exec, "sporades::spttm::rank_blocked", product.fibers(), fibers,
              RankBlockedSpttm<Scalar, Index, MemorySpace>{product, {a_row, fibers}});
}

}  // namespace sporades::detail
