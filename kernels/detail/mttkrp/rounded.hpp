// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/mttkrp/packed.hpp>
#include <sporades/kernels/detail/rounded_factors.hpp>

namespace sporades::detail {

/// Columns that a GPU's thread loads of a row of To: 16 bytes, or as many as make 32 bytes of sums.
template <class Scalar, class To>
inline constexpr int rounded_columns = sizeof(Scalar) > 2 * sizeof(To) ? 32 / sizeof(Scalar)
                                                                       : 16 / sizeof(To);

/// Strategies `sorted` and `fibers` on packed nonzeros in the order of their rows, with the factors
/// that `rounded` has.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void walk_rounded(ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& X,
                  SortedRows<Scalar, Index, MemorySpace> const& rows,
                  RoundedFactors<MemorySpace> const& rounded, GatherPrecision precision,
                  Matrix<Scalar, MemorySpace> const& V, int split) {
  with_rounded_type<Scalar>(precision, [&](auto number) {
    using To = decltype(number);
    auto const A = rounded.template rounded<To>(X.dims.size());
    bool const aligned = all_rows_aligned<rounded_columns<Scalar, To>>(A, X.row_mode, V);
    with_packed_nonzeros<ExecutionSpace>(X, A, split, [&](auto const& nonzeros, auto depth) {
      using Nonzeros = std::decay_t<decltype(nonzeros)>;
      for_column_tiles<ExecutionSpace, Scalar, TileWidths::medium, 32, rounded_columns<Scalar, To>>(
          V.extent(1), aligned, [&](auto width, auto access, std::size_t first, Position tiles) {
            // On GPUs half a batch at a time, as tiles are twice as large.
            constexpr int batch_size = batch<ExecutionSpace>;
            constexpr int group = is_gpu<ExecutionSpace> ? (batch_size + 1) / 2 : batch_size;
            using Walk = RowWalk<Nonzeros, std::decay_t<decltype(rows.sums)>, width(), access(),
                                 depth(), batch_size, ProductTerms, WalkShape, group>;
            // bfloat16 takes one instruction to be made float, and fewer registers.
            constexpr int blocks = std::is_same_v<To, BFloat16> ? 4 : 3;
            using Bounds =
                std::conditional_t<Nonzeros::other_modes == 2,
                                   TeamBounds<ExecutionSpace, 256, blocks>, Kokkos::LaunchBounds<>>;
            launch_items<Bounds>(
                exec, "sporades::mttkrp::rounded", rows.chunks * tiles,
                Walk{{}, nonzeros, rows.sums, WalkShape{rows.length, first, V.extent(1), tiles}});
          });
    });
  });
}

}  // namespace sporades::detail

#include <sporades/eti/rounded.hpp>
