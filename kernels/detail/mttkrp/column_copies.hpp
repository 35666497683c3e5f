// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/launch.hpp>
#include <sporades/kernels/detail/carry_buffers.hpp>
#include <sporades/kernels/detail/mttkrp/cost_model.hpp>
#include <sporades/kernels/detail/mttkrp/operands.hpp>

/// Copies of a few columns of all factors. Gathering from them takes fewer cache lines a row. They
/// lie without gaps, so that all sets of a cache hold them. Parts of rows that are a power of two
/// of lines apart would share half of the sets or fewer.

namespace sporades::detail {

/// Columns of the widest copy: two cache lines.
template <class Scalar>
inline constexpr int most_copied = 128 / sizeof(Scalar);

/// On hosts, the columns of factors that strategy `alto` copies and gathers at a time, in as many
/// passes over the nonzeros as that takes; 0 where whole rows are gathered. A pass is fastest with
/// rows of two cache lines. Measured with 1 MiB of second-level cache on tensors like nips, nell-2
/// and vast-2015 (160, 100 and 17 nonzeros a row of the factors; 5, 13 and 45 MB of factors at
/// R = 32), copies take these shares of the time without: 1.06, 0.81 and 0.95 to 1.14 at R = 32,
/// and 0.83, 0.59 and 0.68 at R = 64, where whole rows take two passes that share half of the sets
/// of the cache.
template <class Scalar>
std::size_t copied_width(Dims const& dims, Position nnz, std::size_t columns) {
  constexpr std::size_t whole = most_copied<Scalar>;
  columns = padded_columns(columns);
  std::size_t const passes = (columns + whole - 1) / whole;
  if (4 * columns < 7 * whole) return 0;
  bool const is_wide = passes > 2;
  double rows = 0;
  for (auto dim : dims) rows += static_cast<double>(dim);
  bool const exceeds_cache = factor_bytes<Scalar>(dims, static_cast<int>(columns), -1) >
                             (is_wide ? 2 : 8) * cached_bytes();
  bool const pays_copies = rows * (is_wide ? 5 : 20) <= static_cast<double>(nnz);
  return exceeds_cache && pays_copies ? padded_columns((columns + passes - 1) / passes) : 0;
}

/// to(i, :) <- from(i, :), and zeros in the padding of `to`.
template <class Scalar, class MemorySpace>
struct CopyRow {
  RawMatrix<Scalar const, MemorySpace> from;
  RawMatrix<Scalar, MemorySpace> to;

  KOKKOS_FUNCTION void operator()(Position row) const {
    constexpr int whole = most_copied<Scalar>;
    Scalar const* const a = from.data() + row * from.stride(0);
    Scalar* const b = to.data() + row * to.stride(0);
    std::size_t const columns = to.extent(1);
    if (columns == whole) return store_tile<Scalar, whole>(load_tile<Scalar, whole>(a), b);
    for (std::size_t j = 0; j < columns; ++j) b[j] = a[j];
    for (std::size_t j = columns; j < to.stride(0); ++j) b[j] = 0;
  }
};

/// Columns first to first + count - 1 of A.
template <class Scalar, class MemorySpace>
Matrix<Scalar, MemorySpace> columns_of(Matrix<Scalar, MemorySpace> const& A, std::size_t first,
                                       std::size_t count) {
  return Kokkos::subview(A, Kokkos::ALL, std::make_pair(first, first + count));
}

/// run(operands) for `width` columns at a time: of A, copied, and of V.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Run>
void in_column_copies(ExecutionSpace const& exec,
                      MttkrpOperands<Scalar, MemorySpace> const& operands, std::size_t width,
                      CarryBuffers<Scalar, Index, MemorySpace>& buffers, Run const& run) {
  auto const& [A, n, V] = operands;
  Factors<Scalar, MemorySpace> copies(A.size());
  for (std::size_t first = 0; first < V.extent(1); first += width) {
    std::size_t const count = std::min(width, V.extent(1) - first);
    for (std::size_t m = 0; m < A.size(); ++m) {
      if (static_cast<int>(m) == n) continue;
      copies[m] = buffers.copied_columns(exec, m, A[m].extent(0), count);
      launch_items(exec, "sporades::mttkrp::copy_columns", A[m].extent(0),
                   CopyRow<Scalar, MemorySpace>{columns_of(A[m], first, count), copies[m]});
    }
    auto const product = columns_of(V, first, count);
    run(MttkrpOperands<Scalar, MemorySpace>{copies, n, product});
  }
}

}  // namespace sporades::detail
