// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/reduce_carries.hpp>

namespace sporades::detail {

/// How rows are summed from nonzeros that are sorted by row.
template <class Scalar, class Index, class MemorySpace>
struct SortedRows {
  Position length, chunks;  // nonzeros of a chunk; no chunks where there are no nonzeros
  RowSums<Scalar, Index, MemorySpace, false> sums;

  /// How rows are summed from `count` of the chunks, of which `first` is number 0.
  SortedRows part(Position first, Position count) const {
    SortedRows rows = *this;
    rows.chunks = count;
    if (sums.rows.extent(0) == 0) return rows;
    Position const slots = 2 * count;
    rows.sums.rows = decltype(sums.rows)(sums.rows.data() + 2 * first, slots);
    std::size_t const columns = sums.sums.extent(1);
    rows.sums.sums = decltype(sums.sums)(sums.sums.data() + 2 * first * columns, slots, columns);
    return rows;
  }
};

/// Where chunks write to: carry slots, unless one chunk holds everything or atomics are allowed.
template <class Scalar, class Index, class MemorySpace>
RowSums<Scalar, Index, MemorySpace, false> row_sums(
    Matrix<Scalar, MemorySpace> const& V, CarryBuffers<Scalar, Index, MemorySpace> const& carry,
    Position chunks) {
  if (chunks <= 1 || carry.atomic) return {V, {}, {}, carry.atomic};
  auto const& to = carry.level(0);
  return {V, RawVector<Index, MemorySpace>(to.rows.data(), 2 * chunks), to.sums, false};
}

/// Before the walks over chunks of `length` nonzeros: makes the carry slots ready, and clears V
/// where some of its rows have no nonzeros, or are added to atomically.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
SortedRows<Scalar, Index, MemorySpace> begin_rows(ExecutionSpace const& exec, Position nnz,
                                                  Position length, bool every_row,
                                                  Matrix<Scalar, MemorySpace> const& V,
                                                  CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  if (nnz == 0 || !every_row || carry.atomic) fill_view(exec, V, Scalar(0));
  Position const chunks = chunks_of(nnz, length);
  if (!carry.atomic) carry.reserve(exec, chunks, V.extent(1));
  return {length, chunks, row_sums(V, carry, chunks)};
}

/// After the walks: adds what chunks share to V.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void finish_rows(ExecutionSpace const& exec, SortedRows<Scalar, Index, MemorySpace> const& rows,
                 Matrix<Scalar, MemorySpace> const& V,
                 CarryBuffers<Scalar, Index, MemorySpace> const& carry) {
  if (!carry.atomic) reduce_carries(exec, V, carry, rows.chunks);
}

}  // namespace sporades::detail
