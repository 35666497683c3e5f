// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/mttkrp/operands.hpp>
#include <sporades/kernels/detail/nonzeros/packed.hpp>
#include <sporades/kernels/detail/row_chunks.hpp>
#include <sporades/kernels/detail/row_walk.hpp>

namespace sporades::detail {

/// Registers of a walk over this many other modes on GPUs: in float, with one or two of them, 64
/// are enough, and four blocks of 256 threads a multiprocessor hide more of the loads' latency than
/// three do.
template <class ExecutionSpace, class Scalar, int Others>
using PackedBounds = std::conditional_t<sizeof(Scalar) == 4 && (Others == 1 || Others == 2),
                                        TeamBounds<ExecutionSpace, 256, 4>, Kokkos::LaunchBounds<>>;

/// Strategies `sorted` (split 0) and `fibers` (split N - 2, or less for short fibers) on packed
/// nonzeros in the order of their rows.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void walk_packed(ExecutionSpace const& exec, char const* label,
                 PackedTensor<Scalar, Index, MemorySpace> const& X,
                 SortedRows<Scalar, Index, MemorySpace> const& rows,
                 MttkrpOperands<Scalar, MemorySpace> const& operands, int split) {
  auto const& [A, n, V] = operands;
  bool const aligned = all_rows_aligned(A, n, V);
  std::size_t const R = V.extent(1);
  with_packed_nonzeros<ExecutionSpace>(X, A, split, [&](auto const& nonzeros, auto depth) {
    constexpr int others = std::decay_t<decltype(nonzeros)>::other_modes;
    walk_rows<tile_widths<others>, depth(), PackedBounds<ExecutionSpace, Scalar, others>>(
        exec, label, nonzeros, rows, R, aligned);
  });
}

}  // namespace sporades::detail
