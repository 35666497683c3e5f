// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/core/detail/dense.hpp>
#include <sporades/core/detail/memory_count.hpp>

/// The workspace that dense kernels ask for.

namespace sporades::detail {

inline double partial_sums_bytes(RowBlocks const& blocks, double entries) {
  auto const all = static_cast<std::uint64_t>(entries);
  return 8 * static_cast<double>(blocks.count * all + scratch_of_sum_blocks(blocks.count, all));
}

/// transposed_product of a rows x left and a rows x right matrix, and gram where both are the same.
template <class ExecutionSpace>
double product_workspace_bytes(std::uint64_t rows, int left, int right) {
  if (rows == 0 || left == 0 || right == 0) return 0;
  auto const entries = static_cast<std::uint64_t>(left) * static_cast<std::uint64_t>(right);
  auto const blocks =
      is_gpu<ExecutionSpace> ? RowBlocks::of_products(rows, entries) : RowBlocks(rows, entries);
  return partial_sums_bytes(blocks, static_cast<double>(entries));
}

/// column_sums and column_dots.
template <class ExecutionSpace>
double column_workspace_bytes(std::uint64_t rows, int columns) {
  if (rows == 0 || columns == 0) return 0;
  auto const R = static_cast<std::uint64_t>(columns);
  RowBlocks const blocks =
      is_gpu<ExecutionSpace> ? RowBlocks::of_columns(rows, R) : RowBlocks(rows, R);
  return partial_sums_bytes(blocks, static_cast<double>(R));
}

/// The most that `of` gives for a mode's length.
template <class Of>
double most_of(Dims const& dims, Of const& of) {
  double most = 0;
  for (auto dim : dims) most = std::max(most, static_cast<double>(of(dim)));
  return most;
}

/// dot and norm_squared of so many entries.
inline double dot_bytes(double entries) {
  return 8 * (2 * std::ceil(entries / 2048) * 32 + 64);
}

}  // namespace sporades::detail
