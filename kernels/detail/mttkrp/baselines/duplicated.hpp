// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/nonzeros/coo.hpp>
#include <sporades/kernels/detail/row_walk.hpp>

namespace sporades::detail {

/// Sums of rows into a ScatterView: on CPUs one copy of the output a thread, added up afterwards.
template <class Scatter, class Index>
struct ScatterRows {
  Scatter V;

  template <class Columns, class T>
  KOKKOS_FORCEINLINE_FUNCTION void close(ChunkState const&, Columns const& columns, Index row,
                                         T const& sum) const {
    auto const access = V.access();
    for (int j = 0; j < Columns::width; ++j)
      if (columns.holds(j)) access(row, columns.first + j) += sum[j];
  }
  template <class Columns, class T>
  KOKKOS_FORCEINLINE_FUNCTION void finish(ChunkState const& state, Columns const& columns, Index,
                                          Index row, T const& sum, bool) const {
    close(state, columns, row, sum);
  }
};

/// Strategy `duplicated`, a baseline that `automatic` never takes: nonzeros in any order, summed by
/// Kokkos' ScatterView as it chooses for the space (OpenMP: a copy of V a thread; GPUs: atomics).
/// Not deterministic across thread counts. Allocates the copies in every call.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_duplicated(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                       Factors<Scalar, MemorySpace> const& A, int n,
                       Matrix<Scalar, MemorySpace> const& V) {
  using Scatter = Kokkos::Experimental::ScatterView<Scalar**, Kokkos::LayoutRight,
                                                    Kokkos::Device<ExecutionSpace, MemorySpace>>;
  fill_view(exec, V, Scalar(0));
  if (X.nnz() == 0) return;
  using Target =
      Kokkos::View<Scalar**, Kokkos::LayoutRight, Kokkos::Device<ExecutionSpace, MemorySpace>>;
  bool const contiguous = V.stride(0) == V.extent(1);  // ScatterView knows no other rows
  Target const target =
      contiguous ? Target(V)
                 : zeroed<Target>(exec, "sporades::mttkrp::duplicated", V.extent(0), V.extent(1));
  Scatter const scatter(exec, target);
  Position const length = chunk_length<ExecutionSpace>(X.nnz());
  walk_rows<TileWidths::coarse>(
      exec, "sporades::mttkrp::duplicated", coo_nonzeros<any_number>(X, A, n),
      ChunkSums{length, chunks_of(X.nnz(), length), ScatterRows<Scatter, Index>{scatter}},
      V.extent(1), all_rows_aligned(A, n, V));
  scatter.contribute_into(exec, target);
  if (!contiguous) copy_view(exec, V, target);
}

}  // namespace sporades::detail
