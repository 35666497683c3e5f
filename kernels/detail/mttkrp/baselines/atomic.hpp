// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/mttkrp/coo_nonzeros.hpp>

namespace sporades::detail {

/// Strategy `atomic`: nonzeros in any order; runs of equal rows are summed in registers and added
/// atomically. Not deterministic.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_atomic(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                   Factors<Scalar, MemorySpace> const& A, int n,
                   Matrix<Scalar, MemorySpace> const& V) {
  Kokkos::deep_copy(exec, V, Scalar(0));
  if (X.nnz() == 0) return;
  auto const nonzeros = coo_nonzeros<any_number>(X, A, n, Identity{});
  Position const length = chunk_length<ExecutionSpace>(X.nnz());
  Position const chunks = chunks_of(X.nnz(), length);
  for_column_tiles<ExecutionSpace, Scalar, TileWidths::coarse>(
      V.extent(1), all_rows_aligned(A, n, V),
      [&](auto width, auto access, std::size_t first, Position tiles) {
        using Rows = AtomicRows<Scalar, Index, MemorySpace>;
        SegmentWalk<std::decay_t<decltype(nonzeros)>, Rows, Scalar, width(), access(),
                    batch<ExecutionSpace>> const walk{
            nonzeros, {V}, WalkShape{length, first, V.extent(1), tiles}};
        launch_items(exec, "sporades::mttkrp::atomic", chunks * tiles, walk);
      });
}

}  // namespace sporades::detail
