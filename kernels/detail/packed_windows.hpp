// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/formats/detail/sort_parts.hpp>
#include <sporades/formats/packed_tensor.hpp>
#include <sporades/kernels/detail/sorted_rows.hpp>

/// Packed nonzeros in out-of-core memory, and windows of them.

namespace sporades::detail {

/// Bytes of a copy of X in the order of mode n, packed where it fits.
inline double sorted_list_bytes(Dims const& dims, Position nnz, std::size_t index_bytes,
                                std::size_t scalar_bytes, int n) {
  std::size_t const word = !fits_packed(dims, n)        ? dims.size() * index_bytes
                           : packed_bits(dims, n) <= 32 ? 4
                                                        : 8;
  return static_cast<double>(nnz) * static_cast<double>(word + scalar_bytes);
}

/// Bytes of copies of X in the order of each mode, one a mode, packed where they fit.
inline double sorted_list_bytes(Dims const& dims, Position nnz, std::size_t index_bytes,
                                std::size_t scalar_bytes) {
  double bytes = 0;
  for (int n = 0; n < static_cast<int>(dims.size()); ++n)
    bytes += sorted_list_bytes(dims, nnz, index_bytes, scalar_bytes, n);
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

/// The packed tensor for exec: words and values in out-of-core memory if is_out_of_core says so,
/// the rest in its resident memory. Fences exec.
template <class MemorySpace, class ExecutionSpace, class Scalar, class Index, class From>
PackedTensor<Scalar, Index, MemorySpace> place_packed(ExecutionSpace const& exec,
                                                      PackedTensor<Scalar, Index, From> const& X,
                                                      bool is_out_of_core) {
  PackedTensor<Scalar, Index, MemorySpace> placed;
  placed.dims = X.dims;
  placed.row_mode = X.row_mode;
  placed.modes = X.modes;
  placed.shifts = X.shifts;
  MemoryLayout all(nullptr);
  all.room<std::uint32_t>(X.narrow.extent(0));
  all.room<std::uint64_t>(X.wide.extent(0));
  all.room<Scalar>(X.nnz());
  if (is_out_of_core) placed.out_of_core = allocate_out_of_core(exec, all.bytes() + 1);
  MemoryLayout layout(placed.out_of_core.get());
  auto const copy = [&](char const* label, auto& to, auto const& from) {
    using ViewType = std::decay_t<decltype(to)>;
    if (from.extent(0) == 0) return;  // words of the other width have no address
    to = is_out_of_core ? layout.view<ViewType>(from.extent(0))
                        : uninitialized<ViewType>(exec, label, from.extent(0));
    copy_view(exec, to, from);
  };
  copy("sporades::packed::narrow", placed.narrow, X.narrow);
  copy("sporades::packed::wide", placed.wide, X.wide);
  copy("sporades::packed::values", placed.values, X.values);
  placed.rows = copy_vector(exec, "sporades::packed::rows", X.rows);
  placed.marks = copy_vector(exec, "sporades::packed::marks", X.marks);
  fence(exec, "sporades::packed::place");
  return placed;
}

/// Bytes that a nonzero takes in a window.
template <class Scalar, class Index, class MemorySpace>
std::uint64_t streamed_bytes(PackedTensor<Scalar, Index, MemorySpace> const& X) {
  return (X.wide.extent(0) > 0 ? 8 : 4) + sizeof(Scalar);
}

/// Whether nonzeros in a format are in out-of-core memory.
template <class Format>
auto stays_there(Format const& X, int) -> decltype(X.out_of_core != nullptr) {
  return X.out_of_core != nullptr;
}
template <class Format>
bool stays_there(Format const&, long) {
  return false;
}
/// Whether mode n's nonzeros are in out-of-core memory. formats: PlanFormats.
template <class Formats>
bool is_out_of_core(Formats const& formats, int n) {
  return formats.has(n) && formats.visit(n, [](auto const& X) { return stays_there(X, 0); });
}
/// For how many modes they are.
template <class Formats>
int count_out_of_core(Formats const& formats) {
  int modes = 0;
  for (int n = 0; n < formats.modes(); ++n) modes += is_out_of_core(formats, n) ? 1 : 0;
  return modes;
}

/// What copies in resident memory leave of it for windows.
template <class Formats>
Streaming for_windows(Formats const& formats, Streaming streaming) {
  for (int n = 0; n < formats.modes(); ++n) {
    auto const* const X = formats.template as<PackedTensor>(n);
    if (X != nullptr && !X->out_of_core && X->nnz() > 0)
      streaming = with_less(streaming, X->nnz() * streamed_bytes(*X));
  }
  return streaming;
}

/// X in the order of these modes, packed by the first, in out-of-core memory of a host. One part at
/// a time is in resident memory. Fences exec.
template <class ExecutionSpace, class Tensor>
auto pack_by_parts(ExecutionSpace const& exec, Tensor const& X, std::vector<int> const& modes,
                   Streaming const& streaming) {
  auto const list = sorted_out_of_core(exec, X, modes, sort_memory(streaming));
  return make_packed_out_of_core(exec, list.tensor, modes.front());
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
    window.marks = marks();
    return window;
  }

  /// The window of an X in resident memory, where it is.
  Packed resident() const {
    Packed window = X;
    auto const place = [&](auto& view) {
      if (view.extent(0) > 0) view = std::decay_t<decltype(view)>(view.data() + first, words());
    };
    place(window.narrow);
    place(window.wide);
    place(window.values);
    window.marks = marks();
    return window;
  }

  /// The marks of the window's nonzeros.
  auto marks() const {
    Position const mark = first / Packed::mark_distance;
    return decltype(X.marks)(X.marks.data() + mark, X.marks.extent(0) - mark);
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

}  // namespace sporades::detail
