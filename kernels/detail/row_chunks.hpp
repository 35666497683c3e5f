// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/packed_windows.hpp>

/// The sum that MTTKRP, Phi and TTM chains have in common: output rows from nonzeros in their
/// order.
///
/// Chunks say which of the nonzeros are summed here and who completes rows that chunks share:
/// AllChunks below, a process's RowShare, and OwnRowsLast (processes/). Each has
///   chunks.sum(exec, X, V, carry, walk)
/// V's rows become the sums that walk(exec, nonzeros, rows) adds up: `nonzeros` is X or a window of
/// it, and `rows` (SortedRows) says where the rows go. X: a PackedTensor, or a CooTensor sorted by
/// row. Bits depend neither on windows nor on processes: both end where a chunk of all ends.

namespace sporades::detail {

/// walk(exec, nonzeros, rows) over X, or where it is out of core over one window of it after
/// another. Fences exec there.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Walk>
void walk_windows(ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& X,
                  SortedRows<Scalar, Index, MemorySpace> const& rows,
                  CarryBuffers<Scalar, Index, MemorySpace>& carry, Walk const& walk) {
  using Packed = PackedTensor<Scalar, Index, MemorySpace>;
  if (!X.out_of_core) return walk(exec, X, rows);
  std::uint64_t const nonzero = streamed_bytes(X);
  std::uint64_t const wanted = carry.windows.window_bytes(X.nnz() * nonzero);
  Position const chunks = std::max<Position>(1, wanted / (nonzero * rows.length));
  auto const window = [&](Position w) {
    Position const first = w * chunks * rows.length;
    return PackedWindow<Packed>{X, first, std::min(chunks * rows.length, X.nnz() - first)};
  };
  carry.windows.run(
      exec, chunks_of(rows.chunks, chunks),
      (chunks * rows.length + 1) * nonzero + 512,  // each array from a multiple of 256 bytes on
      [&](auto const& instance, char* room, Position w) { window(w).copy(instance, room); },
      [&](auto const& instance, char* room, Position w) {
        walk(instance, window(w).in(room),
             rows.part(w * chunks, std::min(chunks, rows.chunks - w * chunks)));
      });
}

/// Coordinates are in resident memory.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Walk>
void walk_windows(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                  SortedRows<Scalar, Index, MemorySpace> const& rows,
                  CarryBuffers<Scalar, Index, MemorySpace>&, Walk const& walk) {
  walk(exec, X, rows);
}

/// All chunks of the nonzeros.
struct AllChunks {
  Position length;  // nonzeros of a chunk

  /// See above. Fences exec where X is out of core.
  template <class ExecutionSpace, class Tensor, class Scalar, class Index, class MemorySpace,
            class Walk>
  void sum(ExecutionSpace const& exec, Tensor const& X, Matrix<Scalar, MemorySpace> const& V,
           CarryBuffers<Scalar, Index, MemorySpace>& carry, Walk const& walk) const {
    bool every_row = false;  // of V has nonzeros, as far as is known
    if constexpr (is_instance<Tensor, PackedTensor>) every_row = X.rows.extent(0) == V.extent(0);
    auto const rows = begin_rows(exec, X.nnz(), length, every_row, V, carry);
    if (rows.chunks == 0) return;
    walk_windows(exec, X, rows, carry, walk);
    finish_rows(exec, rows, V, carry);
  }
};

/// All chunks, as long as MTTKRP and Phi have them.
template <class ExecutionSpace, class Tensor>
AllChunks all_chunks(Tensor const& X) {
  return AllChunks{chunk_length<ExecutionSpace>(X.nnz())};
}

}  // namespace sporades::detail
