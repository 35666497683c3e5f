// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/detail/sort_parts.hpp>
#include <sporades/formats/packed_tensor.hpp>
#include <sporades/kernels/detail/sorted_rows.hpp>

/// Sums of rows from packed nonzeros, which are all in near memory, or are streamed through it.

namespace sporades::detail {

/// Bytes of a copy of X a mode, packed where it fits.
inline double sorted_list_bytes(Dims const& dims, Position nnz, std::size_t index_bytes,
                                std::size_t scalar_bytes) {
  double bytes = 0;
  for (int n = 0; n < static_cast<int>(dims.size()); ++n) {
    std::size_t const word = !fits_packed(dims, n)        ? dims.size() * index_bytes
                             : packed_bits(dims, n) <= 32 ? 4
                                                          : 8;
    bytes += static_cast<double>(nnz) * static_cast<double>(word + scalar_bytes);
  }
  return bytes;
}

/// Whether so many bytes of nonzeros are streamed.
inline bool is_streamed(Streaming const& streaming, double bytes) {
  return streaming.always ||
         (streaming.memory > 0 && bytes > static_cast<double>(streaming.memory));
}

/// Whether a sorted copy of X a mode is streamed.
template <class Tensor>
bool exceeds_memory(Tensor const& X, Streaming const& streaming) {
  return is_streamed(streaming, sorted_list_bytes(X.dims, X.nnz(), sizeof(typename Tensor::Index),
                                                  sizeof(typename Tensor::Scalar)));
}

/// The packed tensor with words and values in far memory of exec, and the rest in its near memory.
/// Fences exec.
template <class MemorySpace, class ExecutionSpace, class Scalar, class Index, class From>
PackedTensor<Scalar, Index, MemorySpace> to_far(ExecutionSpace const& exec,
                                                PackedTensor<Scalar, Index, From> const& X) {
  PackedTensor<Scalar, Index, MemorySpace> far;
  far.dims = X.dims;
  far.row_mode = X.row_mode;
  far.modes = X.modes;
  far.shifts = X.shifts;
  MemoryLayout all(nullptr);
  all.room<std::uint32_t>(X.narrow.extent(0));
  all.room<std::uint64_t>(X.wide.extent(0));
  all.room<Scalar>(X.nnz());
  far.far = allocate_far(exec, all.bytes() + 1);
  MemoryLayout layout(far.far.get());
  auto const copy = [&](auto& to, auto const& from) {
    to = layout.view<std::decay_t<decltype(to)>>(from.extent(0));
    if (from.extent(0) > 0) Kokkos::deep_copy(exec, to, from);
  };
  copy(far.narrow, X.narrow);
  copy(far.wide, X.wide);
  copy(far.values, X.values);
  far.rows = copy_vector(exec, "sporades::packed::rows", X.rows);
  far.marks = copy_vector(exec, "sporades::packed::marks", X.marks);
  fence(exec, "sporades::packed::to_far");
  return far;
}

/// X in the order of these modes, packed by the first, in far memory of a host. One part at a time
/// is in near memory. Fences exec.
template <class ExecutionSpace, class Tensor>
auto pack_by_parts(ExecutionSpace const& exec, Tensor const& X, std::vector<int> const& modes,
                   Streaming const& streaming) {
  auto const list = far_sorted(exec, X, modes, sort_memory(streaming));
  return make_far_packed(exec, list.tensor, modes.front());
}

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
/// `rows` says, in chunks of `length` nonzeros. The same bits in both cases, because a window ends
/// where a chunk of X ends. Fences exec where X is far.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Walk>
void sum_packed_rows(ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& X,
                     Matrix<Scalar, MemorySpace> const& V,
                     CarryBuffers<Scalar, Index, MemorySpace>& carry, Position length,
                     Walk const& walk) {
  using Packed = PackedTensor<Scalar, Index, MemorySpace>;
  auto const rows = begin_rows(exec, X.nnz(), length, X.rows.extent(0) == V.extent(0), V, carry);
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

/// The same in chunks of the usual length.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Walk>
void sum_packed_rows(ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& X,
                     Matrix<Scalar, MemorySpace> const& V,
                     CarryBuffers<Scalar, Index, MemorySpace>& carry, Walk const& walk) {
  sum_packed_rows(exec, X, V, carry, chunk_length<ExecutionSpace>(X.nnz()), walk);
}

}  // namespace sporades::detail
