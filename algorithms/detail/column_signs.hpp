// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/core/detail/dense/blocks.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/detail/processes/exchange.hpp>
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

/// The first entry of largest magnitude of each column, 0 of a column without entries. A may be the
/// rows that are here of a distributed matrix: then this is collective. Fences exec.
template <class ExecutionSpace, class MatrixType>
auto column_extremes(ExecutionSpace const& exec, MatrixType const& A, RowMap const& rows = {}) {
  using Scalar = typename MatrixType::non_const_value_type;
  std::uint64_t const R = A.extent(1);
  if (R == 0) return std::vector<Scalar>();
  RowBlocks const blocks(A.extent(0), R);
  auto const extremes = uninitialized<Vector<Scalar, typename MatrixType::memory_space>>(
      exec, "sporades::column_signs::extremes", blocks.count * R);
  launch_items(exec, "sporades::column_signs::find_extremes", blocks.count * R,
               ColumnExtremes<MatrixType>{A, extremes.data(), blocks});
  auto const host = to_vector(exec, extremes);
  // The first of the largest ones of `count` lists of R.
  auto const largest_of = [&](Scalar const* lists, std::uint64_t count) {
    std::vector<Scalar> largest(R, 0);
    for (std::uint64_t b = 0; b < count; ++b)
      for (std::uint64_t r = 0; r < R; ++r)
        if (std::abs(lists[b * R + r]) > std::abs(largest[r])) largest[r] = lists[b * R + r];
    return largest;
  };
  auto largest = largest_of(host.data(), blocks.count);
  if (!rows.is_whole()) {
    auto const all = all_gather(rows.processes, "signs of columns", largest);
    largest = largest_of(all.data(), rows.begins.size() - 1);
  }
  return largest;
}

/// Whether the entry of largest magnitude is negative, a column at a time. As column_extremes.
template <class ExecutionSpace, class MatrixType>
std::vector<bool> points_down(ExecutionSpace const& exec, MatrixType const& A,
                              RowMap const& rows = {}) {
  std::vector<bool> down;
  for (auto const extreme : column_extremes(exec, A, rows)) down.push_back(extreme < 0);
  return down;
}

/// Which columns of each mode to flip such that the entries of largest magnitude are positive in as
/// many modes as flips in pairs allow (fixsigns of Tensor Toolbox). rows: of each mode those that
/// are here, or none, where all are; see column_extremes.
template <class ExecutionSpace, class Scalar, class MemorySpace>
std::vector<std::vector<bool>> paired_flips(ExecutionSpace const& exec,
                                            Factors<Scalar, MemorySpace> const& factors,
                                            std::vector<RowMap> const& rows = {}) {
  std::vector<std::vector<bool>> flips;
  for (std::size_t n = 0; n < factors.size(); ++n)
    flips.push_back(points_down(exec, factors[n], rows.empty() ? RowMap{} : rows[n]));
  std::size_t const R = flips.empty() ? 0 : flips[0].size();
  for (std::size_t r = 0; r < R; ++r) {
    std::size_t down = 0, last = 0;  // the last mode of an odd number stays
    for (std::size_t n = 0; n < flips.size(); ++n)
      if (flips[n][r]) {
        ++down;
        last = n;
      }
    if (down % 2 == 1) flips[last][r] = false;
  }
  return flips;
}

}  // namespace sporades::detail
