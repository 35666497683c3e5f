// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/far_memory.hpp>
#include <sporades/formats/hierarchical_tensor.hpp>
#include <sporades/kernels/detail/windows.hpp>

/// Fibers in far memory, and windows of them. A window's arrays are seen by kernels at the places
/// that they have in the whole tensor: item p and fiber f of a window are number p and f there.

namespace sporades::detail {

/// The tensor with all its arrays in far memory of exec. Fences exec. Throws as allocate_far.
template <class MemorySpace, class ExecutionSpace, class Scalar, class Index, class From>
HierarchicalTensor<Scalar, Index, MemorySpace> to_far(
    ExecutionSpace const& exec, HierarchicalTensor<Scalar, Index, From> const& X) {
  HierarchicalTensor<Scalar, Index, MemorySpace> far;
  auto const& from = X.fibers;
  auto& to = far.fibers;
  far.dims = X.dims;
  to.mode = from.mode;
  to.modes = from.modes;
  to.longest = from.longest;
  auto const place_all = [&](MemoryLayout& layout) {
    auto* const coordinates = layout.room<Index>(from.coordinates.size());
    to.coordinates = decltype(to.coordinates)(coordinates, from.coordinates.extent(0),
                                              from.coordinates.extent(1));
    auto const place = [&](auto& view, std::size_t entries) {
      using ViewType = std::decay_t<decltype(view)>;
      view = ViewType(layout.room<typename ViewType::value_type>(entries), entries);
    };
    place(to.begin, from.begin.extent(0));
    place(to.index, from.index.extent(0));
    place(to.marks, from.marks.extent(0));
    place(to.heads, from.heads.extent(0));
    place(far.values, X.values.extent(0));
  };
  MemoryLayout all(nullptr);
  place_all(all);
  far.far = allocate_far(exec, all.bytes() + 1);
  MemoryLayout layout(far.far.get());
  place_all(layout);
  auto const copy = [&](auto const& target, auto const& source) {
    if (source.size() > 0) Kokkos::deep_copy(exec, target, source);
  };
  copy(to.coordinates, from.coordinates);
  copy(to.begin, from.begin);
  copy(to.index, from.index);
  copy(to.marks, from.marks);
  copy(to.heads, from.heads);
  copy(far.values, X.values);
  fence(exec, "sporades::hierarchical::to_far");
  return far;
}

/// Items begin to end - 1 of a tensor; chunks of a walk divide them without a rest, unless they are
/// its last ones.
struct ItemRange {
  Position begin, end;
};

/// A window: the fibers that begin in a range of items, and what a walk reads for them. `whole`: it
/// reads them to their ends. Where V is far, their rows are summed in near memory, and copied.
template <class Scalar, class Index, class MemorySpace>
class FiberWindow {
  using Tensor = HierarchicalTensor<Scalar, Index, MemorySpace>;
  using MatrixType = Matrix<Scalar, MemorySpace>;
  using Entries = Vector<Scalar, MemorySpace>;

 public:
  FiberWindow(Tensor const& X, MatrixType const& V, bool is_far, ItemRange range, bool whole)
      : X_(X),
        V_(V),
        is_far_(is_far),
        range_(range),
        at_(fiber_of(range.begin)),
        first_(first_from(range.begin)),
        last_(first_from(range.end)),
        read_end_(whole ? std::max(range.end, begin_of(last_)) : range.end) {}

  ItemRange range() const { return range_; }

  /// Near memory that it takes.
  std::uint64_t bytes() const {
    MemoryLayout layout(nullptr);
    for_each_array(X_, [&](auto const& view, Position first, Position end) {
      layout.room<typename std::decay_t<decltype(view)>::value_type>(end - first);
    });
    if (is_far_) layout.room<Scalar>(entries());
    return layout.bytes();
  }

  template <class ExecutionSpace>
  void copy_in(ExecutionSpace const& exec, char* room) const {
    placed(room, [&](auto const& window, auto const& part) { copy_to_window(exec, window, part); });
  }

  /// X and V as the walk sees them, when the window is in `room`.
  Tensor tensor(char* room) const {
    return placed(room, [](auto const&, auto const&) {});
  }
  template <class ExecutionSpace>
  MatrixType rows(ExecutionSpace const& exec, char* room) const {
    if (!is_far_) return V_;
    auto const near = near_rows(room);
    Kokkos::deep_copy(exec, near, Scalar(0));  // padding, too
    MatrixType const padded(near.data() - first_ * stride(), V_.extent(0), stride());
    return Kokkos::subview(padded, Kokkos::ALL, std::make_pair(std::size_t{0}, V_.extent(1)));
  }
  template <class ExecutionSpace>
  void copy_out(ExecutionSpace const& exec, char* room) const {
    if (is_far_ && entries() > 0)
      Kokkos::deep_copy(exec, Entries(V_.data() + first_ * stride(), entries()), near_rows(room));
  }

 private:
  static constexpr Position distance = Fibers<Index, MemorySpace>::mark_distance;

  // The host can read far memory, whatever the type of its Views says.
  Position begin_of(Position f) const { return X_.fibers.begin.data()[f]; }
  Position fiber_of(Position p) const { return X_.fibers.marks.data()[p / distance]; }
  /// As FiberRanges::from.
  Position first_from(Position p) const {
    if (p >= X_.nnz()) return X_.fibers.count();
    return fiber_of(p) + (begin_of(fiber_of(p)) < p ? 1 : 0);
  }

  std::size_t stride() const { return padded_columns(V_.extent(1)); }
  std::size_t entries() const { return (last_ - first_) * stride(); }
  Entries near_rows(char* room) const {
    std::uint64_t const end = bytes() - (entries() * sizeof(Scalar) + 255) / 256 * 256;
    return Entries(reinterpret_cast<Scalar*>(room + end), entries());
  }

  /// Calls use(array, first, end) for those that a walk reads, of X or a tensor like it.
  template <class Given, class Use>
  void for_each_array(Given& X, Use const& use) const {
    auto& fibers = X.fibers;
    Position const marks = fibers.marks.extent(0), heads = fibers.heads.extent(0);
    use(fibers.index, range_.begin, read_end_);
    use(X.values, range_.begin, read_end_);
    use(fibers.begin, at_, last_ + 1);
    use(fibers.marks, range_.begin / distance, std::min(range_.end / distance + 1, marks));
    use(fibers.heads, range_.begin / distance, std::min(read_end_ / distance + 2, heads));
  }

  /// X with the window's arrays in `room`; calls use(window, part of X) for each.
  template <class Use>
  Tensor placed(char* room, Use const& use) const {
    Tensor window = X_;
    window.far = {};
    MemoryLayout layout(room);
    for_each_array(window, [&](auto& view, Position first, Position end) {
      using ViewType = std::decay_t<decltype(view)>;
      auto* const place = layout.room<typename ViewType::value_type>(end - first);
      use(ViewType(place, end - first), ViewType(view.data() + first, end - first));
      view = ViewType(place - first, view.extent(0));
    });
    return window;
  }

  Tensor const& X_;
  MatrixType V_;
  bool is_far_;  // V
  ItemRange range_;
  Position at_, first_, last_;  // the fiber of the first item; those that begin: first to last - 1
  Position read_end_;           // of the items that are read
};

/// Calls walk(exec, X, V, range) for windows of a far X, so that all items are in one range; each
/// begins at a multiple of `length`. `whole`: see FiberWindow. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Walk>
void for_fiber_windows(ExecutionSpace const& exec,
                       HierarchicalTensor<Scalar, Index, MemorySpace> const& X,
                       Matrix<Scalar, MemorySpace> const& V, bool is_far_output, Position length,
                       bool whole, Windows<MemorySpace>& windows, Walk const& walk) {
  Position const items = X.nnz();
  std::uint64_t const all =
      X.storage_bytes() +
      (is_far_output ? V.extent(0) * padded_columns(V.extent(1)) : 0) * sizeof(Scalar);
  std::uint64_t const wanted = windows.window_bytes(all);
  Position const chunks = chunks_of(items, length);
  Position count = std::clamp<Position>(wanted / (all / chunks + 1), 1, chunks) * length;
  auto const window = [&](Position w) {
    ItemRange const range{w * count, std::min((w + 1) * count, items)};
    return FiberWindow<Scalar, Index, MemorySpace>(X, V, is_far_output, range, whole);
  };
  std::uint64_t most = 0;
  auto const measure = [&] {
    most = 0;
    for (Position w = 0; w < chunks_of(items, count); ++w) most = std::max(most, window(w).bytes());
  };
  for (measure(); most > wanted && count > length; measure()) count = count / length / 2 * length;
  windows.run(
      exec, chunks_of(items, count), most,
      [&](auto const& instance, char* room, Position w) { window(w).copy_in(instance, room); },
      [&](auto const& instance, char* room, Position w) {
        auto const part = window(w);
        walk(instance, part.tensor(room), part.rows(instance, room), part.range());
        part.copy_out(instance, room);
      });
}

}  // namespace sporades::detail
