// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/launch.hpp>
#include <sporades/core/detail/scan.hpp>
#include <sporades/formats/csf_tensor.hpp>
#include <sporades/formats/hocfs_tensor.hpp>

/// ELL slices of a HocfsTensor.

namespace sporades::detail {

/// The slice of fiber f: the last one that begins at f or before. Nodes of other levels have their
/// parents so, too.
template <class Positions>
KOKKOS_INLINE_FUNCTION Position slice_of(Positions const& first_fiber, Position f) {
  Position low = 0, high = first_fiber.extent(0) - 1;
  while (high - low > 1) {
    Position const middle = low + (high - low) / 2;
    (first_fiber(middle) <= f ? low : high) = middle;
  }
  return low;
}

/// Raises each slice's `longest` to the entries of its longest fiber. An item is a chunk of fibers,
/// because a slice may hold most of them.
template <class MemorySpace>
struct FindLongestFibers {
  static constexpr Position chunk = 256;

  Kokkos::View<Position const*, MemorySpace> first_fiber;  // slices + 1
  Kokkos::View<Position const*, MemorySpace> begin;        // fibers + 1
  Kokkos::View<Position*, MemorySpace> longest;            // slices

  KOKKOS_FUNCTION void operator()(Position c) const {
    Position const fibers = begin.extent(0) - 1;
    Position const last = (c + 1) * chunk < fibers ? (c + 1) * chunk : fibers;
    Position f = c * chunk;
    for (Position s = slice_of(first_fiber, f); f < last; ++s) {
      Position most = 0;
      for (; f < last && f < first_fiber(s + 1); ++f)
        if (begin(f + 1) - begin(f) > most) most = begin(f + 1) - begin(f);
      Kokkos::atomic_fetch_max(&longest(s), most);
    }
  }
};

/// The entries of all fibers, one after another.
template <class Tensor>
struct FiberEntries {
  typename Tensor::Positions begin;                                             // fibers + 1
  typename Tensor::Indices index;                                               // entries
  Kokkos::View<typename Tensor::Scalar*, typename Tensor::MemorySpace> values;  // entries
};

/// Copies nonzeros from fibers without padding to padded ones. An item is a window of nonzeros,
/// because a fiber may hold most of them; marks(w) is the fiber of the window's first.
template <class Tensor>
struct CopyToPadded {
  static constexpr Position window =
      CsfTensor<typename Tensor::Scalar, typename Tensor::Index>::mark_distance;

  FiberEntries<Tensor> from, to;
  typename Tensor::Positions marks;

  KOKKOS_FUNCTION void operator()(Position w) const {
    Position const nnz = from.values.extent(0);
    Position const last = (w + 1) * window < nnz ? (w + 1) * window : nnz;
    Position f = marks(w);
    for (Position p = w * window; p < last; ++p) {
      while (from.begin(f + 1) <= p) ++f;
      Position const q = to.begin(f) + (p - from.begin(f));
      to.index(q) = from.index(p);
      to.values(q) = from.values(p);
    }
  }
};

/// Turns slices of H from CSR to ELL: all, or those that `automatic` takes. marks: the fiber of
/// every CsfTensor::mark_distance-th nonzero. Fences exec. Throws Error if `ell` is asked for and
/// there is no memory for the padded entries.
template <class ExecutionSpace, class Tensor>
void pad_slices(ExecutionSpace const& exec, Tensor& H, typename Tensor::Positions const& marks,
                HocfsSlices slices) {
  using Positions = typename Tensor::Positions;
  using Longest = FindLongestFibers<typename Tensor::MemorySpace>;
  auto const first_fiber = H.first_fiber;
  auto const begin = H.begin;
  auto const formats = H.formats;
  auto const longest = zeroed<Positions>(exec, "sporades::hocfs::longest", H.slices());
  launch_items(exec, "sporades::hocfs::find_longest",
               (H.fibers() + Longest::chunk - 1) / Longest::chunk,
               Longest{first_fiber, begin, longest});
  bool const takes_all = slices == HocfsSlices::ell;
  double entries = 0;  // of all slices; may pass 64 bits
  Kokkos::parallel_reduce(
      "sporades::hocfs::choose", Range<ExecutionSpace>(exec, 0, H.slices()),
      KOKKOS_LAMBDA(Position s, double& sum) {
        Position const first = first_fiber(s), last = first_fiber(s + 1);
        auto const own = static_cast<double>(begin(last) - begin(first));
        double const padded = static_cast<double>(last - first) * static_cast<double>(longest(s));
        // SpTV reads the padding, too: with an eighth of it products took up to 1.4 times as long
        // (H200), and were never faster.
        bool const is_ell = takes_all || padded == own;
        formats(s) = is_ell ? Tensor::ell : Tensor::csr;
        sum += is_ell ? padded : own;
      },
      entries);
  fence(exec, "sporades::hocfs::choose");
  double const bytes = entries * (sizeof(typename Tensor::Index) + sizeof(typename Tensor::Scalar));
  double const left = memory_left(exec);
  expects(!takes_all || bytes <= left, "make_hocfs: ELL slices of mode ", H.mode(), " take ",
          entries, " entries for ", H.nnz(), " nonzeros, ", bytes_text(bytes), ", and ",
          bytes_text(left), " of memory are free");

  auto const padded = zeroed<Positions>(exec, "sporades::hocfs::begin", H.fibers() + 1);
  launch_items(
      exec, "sporades::hocfs::count_entries", H.fibers(), KOKKOS_LAMBDA(Position f) {
        Position const s = slice_of(first_fiber, f);
        padded(f) = formats(s) == Tensor::ell ? longest(s) : begin(f + 1) - begin(f);
      });
  Position const all = exclusive_scan_total(exec, padded);
  if (all == H.nnz()) return;
  FiberEntries<Tensor> const from{begin, H.index, H.values};
  FiberEntries<Tensor> const to{
      padded, uninitialized<decltype(H.index)>(exec, "sporades::hocfs::index", all),
      zeroed<decltype(H.values)>(exec, "sporades::hocfs::values", all)};
  Kokkos::deep_copy(exec, to.index, Tensor::no_index);
  launch_items(exec, "sporades::hocfs::pad", marks.extent(0),
               CopyToPadded<Tensor>{from, to, marks});
  H.begin = to.begin;
  H.index = to.index;
  H.values = to.values;
}

/// H's nonzeros alone; H's own Views if it has no padding.
template <class ExecutionSpace, class Tensor>
FiberEntries<Tensor> without_padding(ExecutionSpace const& exec, Tensor const& H) {
  FiberEntries<Tensor> const from{H.begin, H.index, H.values};
  if (H.entries() == H.nnz()) return from;
  FiberEntries<Tensor> const to{
      zeroed<decltype(H.begin)>(exec, "sporades::hocfs::begin", H.fibers() + 1),
      uninitialized<decltype(H.index)>(exec, "sporades::hocfs::index", H.nnz()),
      uninitialized<decltype(H.values)>(exec, "sporades::hocfs::values", H.nnz())};
  launch_items(
      exec, "sporades::hocfs::count_nonzeros", H.fibers(), KOKKOS_LAMBDA(Position f) {
        Position end = from.begin(f + 1);
        while (from.index(end - 1) == Tensor::no_index) --end;  // no fiber is empty
        to.begin(f) = end - from.begin(f);
      });
  exclusive_scan(exec, to.begin);
  launch_items(
      exec, "sporades::hocfs::unpad", H.fibers(), KOKKOS_LAMBDA(Position f) {
        for (Position p = to.begin(f), q = from.begin(f); p < to.begin(f + 1); ++p, ++q) {
          to.index(p) = from.index(q);
          to.values(p) = from.values(q);
        }
      });
  return to;
}

}  // namespace sporades::detail
