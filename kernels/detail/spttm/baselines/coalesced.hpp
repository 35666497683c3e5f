// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/spttm/baselines/thread_grid.hpp>

namespace sporades::detail {

/// A block of (threads of a row) x (fibers): neighbouring threads take neighbouring columns of one
/// fiber, so that rows of U and V are read and written together.
template <class Scalar, class Index, class MemorySpace>
struct CoalescedSpttm {
  FiberProduct<Scalar, Index, MemorySpace> product;
  ThreadGrid grid;

  KOKKOS_FUNCTION void operator()(Position item) const {
    auto const& [begin, index, values, U, V] = product;
    auto const thread = grid.thread(item);
    Position const f = thread.block * grid.y + thread.y;
    if (f >= product.fibers()) return;
    int const R = product.columns();
    for (int r = thread.x; r < R; r += grid.x) V(f, r) = 0;
    for (Position p = begin(f); p < begin(f + 1); ++p)
      for (int r = thread.x; r < R; r += grid.x) V(f, r) += values(p) * U(index(p), r);
  }
};

/// Strategy `coalesced`, a baseline that `automatic` never takes: Ma et al. 2018, §4.2.3: Algorithm
/// 3 with its two dimensions exchanged.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void spttm_coalesced(ExecutionSpace const& exec,
                     FiberProduct<Scalar, Index, MemorySpace> const& product,
                     ThreadBlock const& block = {}) {
  int const a_row = block.of_row(product.columns()), fibers = block.threads / a_row;
  launch_grid(exec, "sporades::spttm::coalesced", product.fibers(), fibers,
              CoalescedSpttm<Scalar, Index, MemorySpace>{product, {a_row, fibers}});
}

}  // namespace sporades::detail
