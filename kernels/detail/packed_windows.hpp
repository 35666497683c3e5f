// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/packed_tensor.hpp>
#include <sporades/kernels/detail/sorted_rows.hpp>

/// Sums of rows from packed nonzeros, which are all in near memory, or are streamed through it.

namespace sporades::detail {

/// Bytes that a nonzero takes in a window.
template <class Scalar, class Index, class MemorySpace>
std::uint64_t streamed_bytes(PackedTensor<Scalar, Index, MemorySpace> const& X) {
  return (X.wide.extent(0) > 0 ? 8 : 4) + sizeof(Scalar);
}

/// Windows of packed nonzeros. A window has the word of the nonzero after its last one, which tells
/// whether that one's row goes on.
template <class Packed>
struct PackedWindow {
  Packed const& X;
  Position first, count;  // nonzeros

  Position words() const { return std::min(X.nnz() - first, count + 1); }

  /// The window as a tensor whose words and values are in `room`.
  Packed in(char* room) const {
    Packed window = X;
    MemoryLayout layout(room);
    auto const place = [&](auto& view) {
      view = layout.template view<std::decay_t<decltype(view)>>(view.extent(0) > 0 ? words() : 0);
    };
    place(window.narrow);
    place(window.wide);
    place(window.values);
    Position const mark = first / Packed::mark_distance;
    window.marks = decltype(X.marks)(X.marks.data() + mark, X.marks.extent(0) - mark);
    return window;
  }

  template <class ExecutionSpace>
  void copy(ExecutionSpace const& exec, char* room) const {
    Packed const window = in(room);
    auto const part = [&](auto const& from, auto const& to, Position entries) {
      using ViewType = std::decay_t<decltype(from)>;
      if (from.extent(0) > 0)
        copy_to_window(exec, ViewType(to.data(), entries), ViewType(from.data() + first, entries));
    };
    part(X.narrow, window.narrow, words());
    part(X.wide, window.wide, words());
    part(X.values, window.values, count);
  }
};

/// V's rows: walk(exec, nonzeros, rows) adds up those of nonzeros, which is X or a window of it, as
/// `rows` says. The same bits in both cases, because a window ends where a chunk of X ends. Fences
/// exec where X is far.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Walk>
void sum_packed_rows(ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& X,
                     Matrix<Scalar, MemorySpace> const& V,
                     CarryBuffers<Scalar, Index, MemorySpace>& carry, Walk const& walk) {
  using Packed = PackedTensor<Scalar, Index, MemorySpace>;
  auto const rows = begin_rows(exec, X.nnz(), X.rows.extent(0) == V.extent(0), V, carry);
  if (rows.chunks == 0) return;
  if (!X.far) {
    walk(exec, X, rows);
  } else {
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
  finish_rows(exec, rows, V, carry);
}

}  // namespace sporades::detail
