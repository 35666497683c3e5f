// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/out_of_core_memory.hpp>
#include <sporades/formats/hierarchical_tensor.hpp>
#include <sporades/kernels/detail/windows.hpp>
#include <sporades/kernels/detail/work_items.hpp>

/// Fibers in out-of-core memory, and windows of them. A window's arrays are seen by kernels at the
/// places that they have in the whole tensor: item p and fiber f of a window are number p and f
/// there.

namespace sporades::detail {

/// The tensor with all its arrays in out-of-core memory of exec. Fences exec. Throws as
/// allocate_out_of_core.
template <class MemorySpace, class ExecutionSpace, class Scalar, class Index, class From>
HierarchicalTensor<Scalar, Index, MemorySpace> to_out_of_core(
    ExecutionSpace const& exec, HierarchicalTensor<Scalar, Index, From> const& X) {
  HierarchicalTensor<Scalar, Index, MemorySpace> out_of_core;
  auto const& from = X.fibers;
  auto& to = out_of_core.fibers;
  out_of_core.dims = X.dims;
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
    place(out_of_core.values, X.values.extent(0));
  };
  MemoryLayout all(nullptr);
  place_all(all);
  out_of_core.out_of_core = allocate_out_of_core(exec, all.bytes() + 1);
  MemoryLayout layout(out_of_core.out_of_core.get());
  place_all(layout);
  auto const copy = [&](auto const& target, auto const& source) {
    if (source.size() > 0) copy_view(exec, target, source);
  };
  copy(to.coordinates, from.coordinates);
  copy(to.begin, from.begin);
  copy(to.index, from.index);
  copy(to.marks, from.marks);
  copy(to.heads, from.heads);
  copy(out_of_core.values, X.values);
  fence(exec, "sporades::hierarchical::to_far");
  return out_of_core;
}

/// The matrix whose rows begin at multiples of the stride from `begin` on. Does not own.
template <class MatrixType>
MatrixType matrix_at(typename MatrixType::value_type* begin, std::size_t rows, std::size_t columns,
                     std::size_t stride) {
  MatrixType const padded(begin, rows, stride);
  return Kokkos::subview(padded, Kokkos::ALL, std::make_pair(std::size_t{0}, columns));
}

/// Items begin to end - 1 of a tensor; chunks of a walk divide them without a rest, unless they are
/// its last ones.
struct ItemRange {
  Position begin, end;
};

/// What a sum over fibers reads and writes: a row of values an item, and a row of V a fiber. It
/// refers to Views that live longer.
template <class ScalarType, class IndexType, class MemorySpaceType>
struct FiberOperands {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;
  using FibersType = Fibers<Index, MemorySpace>;
  using MatrixType = Matrix<Scalar, MemorySpace>;

  FibersType const& fibers;
  MatrixType const& values;  // items x what is stored of each
  MatrixType const& V;       // fibers x columns
  bool is_out_of_core, has_out_of_core_values,
      has_out_of_core_V;  // the fibers are in out-of-core memory; the matrices
};

/// A window: the fibers that begin in a range of items, and what a walk reads for them. `whole`: it
/// reads them to their ends. Where V is out of core, their rows are summed in resident memory, and
/// copied.
template <class Operands>
class FiberWindow {
  using Scalar = typename Operands::Scalar;
  using Entries = Vector<Scalar, typename Operands::MemorySpace>;
  using MatrixType = typename Operands::MatrixType;

 public:
  /// What the walk sees of it.
  struct Arrays {
    typename Operands::FibersType fibers;
    MatrixType values, V;
  };

  FiberWindow(Operands const& all, ItemRange range, bool whole)
      : all_(all),
        range_(range),
        at_(fiber_of(range.begin)),
        first_(first_from(range.begin)),
        last_(first_from(range.end)),
        read_end_(whole ? std::max(range.end, begin_of(last_)) : range.end) {}

  ItemRange range() const { return range_; }

  /// Resident memory that it takes.
  std::uint64_t bytes() const {
    MemoryLayout layout(nullptr);
    placed(layout, [](auto const&, auto const&) {});
    return layout.bytes();
  }

  template <class ExecutionSpace>
  void copy_in(ExecutionSpace const& exec, char* room) const {
    MemoryLayout layout(room);
    placed(layout,
           [&](auto const& window, auto const& part) { copy_to_window(exec, window, part); });
  }

  /// The arrays when the window is in `room`.
  template <class ExecutionSpace>
  Arrays arrays(ExecutionSpace const& exec, char* room) const {
    MemoryLayout layout(room);
    auto const part = placed(layout, [](auto const&, auto const&) {});
    if (all_.has_out_of_core_V) fill_view(exec, rows_of(part.V), Scalar(0));  // padding, too
    return part;
  }
  template <class ExecutionSpace>
  void copy_out(ExecutionSpace const& exec, Arrays const& part) const {
    if (all_.has_out_of_core_V && entries() > 0) copy_view(exec, rows_of(all_.V), rows_of(part.V));
  }

 private:
  static constexpr Position distance = Operands::FibersType::mark_distance;

  // The host can read out-of-core memory, whatever the type of its Views says.
  Position begin_of(Position f) const { return all_.fibers.begin.data()[f]; }
  Position fiber_of(Position p) const { return all_.fibers.marks.data()[p / distance]; }
  /// The first fiber that begins at item p or behind it (FiberRanges::from).
  Position first_from(Position p) const {
    if (p >= all_.fibers.items()) return all_.fibers.count();
    return fiber_of(p) + (begin_of(fiber_of(p)) < p ? 1 : 0);
  }

  /// The window's rows of a out-of-core V, or of its own.
  std::size_t stride() const { return padded_columns(all_.V.extent(1)); }
  std::size_t entries() const { return (last_ - first_) * stride(); }
  Entries rows_of(MatrixType const& V) const {
    return Entries(V.data() + first_ * stride(), entries());
  }

  /// The arrays, those that are out of core in the layout's memory; calls use(window, part of the
  /// out-of-core array) for each that a walk reads.
  template <class Use>
  Arrays placed(MemoryLayout& layout, Use const& use) const {
    Arrays window{all_.fibers, all_.values, all_.V};
    auto& fibers = window.fibers;
    auto const place = [&](auto& view, Position first, Position end) {
      using ViewType = std::decay_t<decltype(view)>;
      auto* const room = layout.room<typename ViewType::value_type>(end - first);
      use(ViewType(room, end - first), ViewType(view.data() + first, end - first));
      view = ViewType(room - first, view.extent(0));
    };
    Position const marks = fibers.marks.extent(0), heads = fibers.heads.extent(0);
    place(fibers.index, range_.begin, read_end_);
    place(fibers.begin, at_, last_ + 1);
    place(fibers.marks, range_.begin / distance, std::min(range_.end / distance + 1, marks));
    place(fibers.heads, range_.begin / distance, std::min(read_end_ / distance + 2, heads));
    if (all_.has_out_of_core_values) {
      std::size_t const step = all_.values.stride(0), width = all_.values.extent(1);
      Entries values(all_.values.data(), all_.values.extent(0) * step);
      place(values, range_.begin * step, (read_end_ - 1) * step + width);
      window.values = matrix_at<MatrixType>(values.data(), all_.values.extent(0), width, step);
    }
    if (all_.has_out_of_core_V) {
      auto* const rows = layout.room<Scalar>(entries()) - first_ * stride();
      window.V = matrix_at<MatrixType>(rows, all_.V.extent(0), all_.V.extent(1), stride());
    }
    return window;
  }

  Operands const& all_;
  ItemRange range_;
  Position at_, first_, last_;  // the fiber of the first item; those that begin: first to last - 1
  Position read_end_;           // of the items that are read
};

/// Calls walk(exec, operands, range) for windows of out-of-core fibers, so that all items are in
/// one range; each begins at a multiple of `length`. `whole`: see FiberWindow. Fences exec.
template <class ExecutionSpace, class Operands, class Walk>
void for_fiber_windows(ExecutionSpace const& exec, Operands const& all, Position length, bool whole,
                       Windows<typename Operands::MemorySpace>& windows, Walk const& walk) {
  Position const items = all.fibers.items();
  std::uint64_t const entries =
      (all.has_out_of_core_values ? items * all.values.stride(0) : 0) +
      (all.has_out_of_core_V ? all.V.extent(0) * padded_columns(all.V.extent(1)) : 0);
  std::uint64_t const bytes =
      all.fibers.storage_bytes() + entries * sizeof(typename Operands::Scalar);
  std::uint64_t const wanted = windows.window_bytes(bytes);
  Position const chunks = chunks_of(items, length);
  Position count = std::clamp<Position>(wanted / (bytes / chunks + 1), 1, chunks) * length;
  auto const window = [&](Position w) {
    ItemRange const range{w * count, std::min((w + 1) * count, items)};
    return FiberWindow<Operands>(all, range, whole);
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
        auto const resident = part.arrays(instance, room);
        walk(instance, Operands{resident.fibers, resident.values, resident.V, false, false, false},
             part.range());
        part.copy_out(instance, resident);
      });
}

}  // namespace sporades::detail
