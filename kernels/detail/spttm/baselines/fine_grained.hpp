// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/spttm/baselines/thread_grid.hpp>

namespace sporades::detail {

/// A block of (fibers) x (threads of a row): neighbouring threads take neighbouring fibers, and a
/// thread takes every y-th column of its fiber, nonzero by nonzero.
template <class Scalar, class Index, class MemorySpace>
struct FineGrainedSpttm {
  FiberProduct<Scalar, Index, MemorySpace> product;
  ThreadGrid grid;

  KOKKOS_FUNCTION void operator()(Position item) const {
    auto const& [begin, index, values, U, V] = product;
    auto const thread = grid.thread(item);
    Position const f = thread.block * grid.x + thread.x;
    if (f >= product.fibers()) return;
    int const R = product.columns();
    for (int r = thread.y; r < R; r += grid.y) V(f, r) = 0;
    for (Position p = begin(f); p < begin(f + 1); ++p)
      for (int r = thread.y; r < R; r += grid.y) V(f, r) += values(p) * U(index(p), r);
  }
};

/// Strategy `fine_grained`, a baseline that `automatic` never takes: Ma et al. 2018, Algorithm 3.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void spttm_fine_grained(ExecutionSpace const& exec,
                        FiberProduct<Scalar, Index, MemorySpace> const& product,
                        ThreadBlock const& block = {}) {
  int const a_row = block.of_row(product.columns()), fibers = block.threads / a_row;
  launch_grid(exec, "sporades::spttm::fine_grained", product.fibers(), fibers,
              FineGrainedSpttm<Scalar, Index, MemorySpace>{product, {fibers, a_row}});
}

}  // namespace sporades::detail
