// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/spttm/baselines/thread_grid.hpp>

namespace sporades::detail {

/// A thread a fiber, its row summed in memory.
template <class Scalar, class Index, class MemorySpace>
struct NaiveSpttm {
  FiberProduct<Scalar, Index, MemorySpace> product;
  ThreadGrid grid;

  KOKKOS_FUNCTION void operator()(Position f) const {
    auto const& [begin, index, values, U, V] = product;
    if (f >= product.fibers()) return;
    int const R = product.columns();
    for (int r = 0; r < R; ++r) V(f, r) = 0;
    for (Position p = begin(f); p < begin(f + 1); ++p)
      for (int r = 0; r < R; ++r) V(f, r) += values(p) * U(index(p), r);
  }
};

/// Strategy `naive`, a baseline that `automatic` never takes: Ma et al. 2018, Algorithm 2; on one
/// thread, Algorithm 1.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void spttm_naive(ExecutionSpace const& exec,
                 FiberProduct<Scalar, Index, MemorySpace> const& product,
                 ThreadBlock const& block = {}) {
  launch_grid(exec, "sporades::spttm::naive", product.fibers(), block.threads,
              NaiveSpttm<Scalar, Index, MemorySpace>{product, {block.threads, 1}});
}

}  // namespace sporades::detail
