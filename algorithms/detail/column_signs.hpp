// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/core/detail/dense/blocks.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/matrix.hpp>

namespace sporades::detail {

/// extreme[block][r] = the first entry of largest magnitude in the block's rows of column r.
template <class MatrixType>
struct ColumnExtremes {
  MatrixType A;  // I x R
  typename MatrixType::non_const_value_type* extreme;
  RowBlocks blocks;

  KOKKOS_FUNCTION void operator()(std::uint64_t item) const {
    std::uint64_t const R = A.extent(1), r = item % R;
    std::uint64_t const begin = blocks.begin(item / R), end = blocks.end(item / R);
    auto largest = A(begin, r);
    for (std::uint64_t i = begin + 1; i < end; ++i)
      if (math::abs(A(i, r)) > math::abs(largest)) largest = A(i, r);
    extreme[item] = largest;
  }
};

/// Whether the entry of largest magnitude is negative, a column at a time. Fences exec.
template <class ExecutionSpace, class MatrixType>
std::vector<bool> points_down(ExecutionSpace const& exec, MatrixType const& A) {
  using Scalar = typename MatrixType::non_const_value_type;
  std::uint64_t const R = A.extent(1);
  RowBlocks const blocks(A.extent(0), R);
  auto const extremes = uninitialized<Vector<Scalar, typename MatrixType::memory_space>>(
      exec, "sporades::column_signs::extremes", blocks.count * R);
  launch_items(exec, "sporades::column_signs::find_extremes", blocks.count * R,
               ColumnExtremes<MatrixType>{A, extremes.data(), blocks});
  auto const host = Kokkos::create_mirror_view(extremes);
  copy_view(exec, host, extremes);
  fence(exec, "sporades::column_signs::find_extremes");
  std::vector<bool> down(R);
  for (std::uint64_t r = 0; r < R; ++r) {
    Scalar largest = 0;
    for (std::uint64_t b = 0; b < blocks.count; ++b)
      if (std::abs(host(b * R + r)) > std::abs(largest)) largest = host(b * R + r);
    down[r] = largest < 0;
  }
  return down;
}

}  // namespace sporades::detail
