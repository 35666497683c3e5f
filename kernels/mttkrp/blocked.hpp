// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/blocked_coo.hpp>
#include <sporades/kernels/mttkrp/packed.hpp>

namespace sporades::detail {

/// V(row) <- the sum of its slices' parts, in order; an item is a row of a block of several slices.
template <class Scalar, class MemorySpace>
struct SumParts {
  RawVector<SharedRows const, MemorySpace> shared;
  RawMatrix<Scalar, MemorySpace> V;
  RawMatrix<Scalar, MemorySpace> parts;

  KOKKOS_FUNCTION void operator()(Position item) const {
    std::size_t begin = 0, end = shared.extent(0);  // the last block with first <= item
    while (begin + 1 < end) {
      std::size_t const middle = (begin + end) / 2;
      (shared(middle).first <= item ? begin : end) = middle;
    }
    auto const& block = shared(begin);
    Position const i = item - block.first;
    Scalar* const sum = &V(block.row + i, 0);  // zeros
    for (Position s = 0; s < block.slices; ++s) {
      Scalar const* const part = &parts(block.part + s * block.row_count + i, 0);
#pragma omp simd
      for (std::size_t r = 0; r < V.extent(1); ++r) sum[r] += part[r];
    }
  }
};

/// Strategy `blocked`.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_blocked(ExecutionSpace const& exec, BlockedCoo<Scalar, Index, MemorySpace> const& X,
                    Factors<Scalar, MemorySpace> const& A, Matrix<Scalar, MemorySpace> const& V,
                    int split, CarryBuffers<Scalar, Index, MemorySpace>& buffers) {
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>,
                                     Kokkos::Schedule<Kokkos::Dynamic>>;
  Kokkos::deep_copy(exec, V, Scalar(0));
  if (X.slices.extent(0) == 0) return;
  auto const& parts = buffers.parts(exec, X.part_rows, V.extent(1));
  for_packed_nonzeros<ExecutionSpace>(X.nonzeros, A, split, [&](auto const& nonzeros, auto depth) {
    using Nonzeros = std::decay_t<decltype(nonzeros)>;
    for_column_tiles<ExecutionSpace, Scalar, tile_widths<Nonzeros::other_modes>>(
        V.extent(1), all_rows_aligned(A, X.nonzeros.row_mode, V),
        [&](auto width, auto access, std::size_t first, Position tiles) {
          using Sums = RowSums<Scalar, Index, MemorySpace, false>;
          PackedWalk<Nonzeros, Sums, Scalar, width(), access(), depth(),
                     batch<ExecutionSpace>> const walk{nonzeros,
                                                       {V, {}, {}, false},
                                                       WalkShape{1, first, V.extent(1), tiles},
                                                       X.slices,
                                                       parts};
          Kokkos::parallel_for("sporades::mttkrp::blocked",
                               Policy(exec, 0, X.slices.extent(0) * tiles).set_chunk_size(1), walk);
        });
  });
  if (X.shared_rows > 0)
    Kokkos::parallel_for("sporades::mttkrp::sum_parts", Policy(exec, 0, X.shared_rows),
                         SumParts<Scalar, MemorySpace>{X.shared, V, parts});
}

}  // namespace sporades::detail
