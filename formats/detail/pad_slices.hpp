// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// First the front door, which includes this file where it belongs: hence a guard.
#include <sporades/formats/hocfs_tensor.hpp>

#ifndef SPORADES_FORMATS_PAD_SLICES
#define SPORADES_FORMATS_PAD_SLICES

#include <sporades/core/detail/scan.hpp>
#include <sporades/formats/detail/ranges.hpp>

/// ELL slices of a HocfsTensor.

namespace sporades::detail {

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
    for (Position s = range_of(first_fiber, f); f < last; ++s) {
      Position most = 0;
      for (; f < last && f < first_fiber(s + 1); ++f)
        if (begin(f + 1) - begin(f) > most) most = begin(f + 1) - begin(f);
      Kokkos::atomic_fetch_max(&longest(s), most);
    }
  }
};

/// The entries of all fibers.
template <class Tensor>
struct FiberEntries {
  typename Tensor::Positions begin;                                             // fibers + 1
  typename Tensor::Indices index;                                               // entries
  Kokkos::View<typename Tensor::Scalar*, typename Tensor::MemorySpace> values;  // entries
};

/// Where the entries of a fiber lie in a HocfsTensor.
struct FiberPlace {
  Position begin, stride;
  KOKKOS_FORCEINLINE_FUNCTION Position operator()(Position k) const { return begin + k * stride; }
};
template <class Tensor>
struct FiberPlaces {
  typename Tensor::Positions first_fiber, begin;
  decltype(Tensor::formats) formats;

  KOKKOS_FUNCTION FiberPlace operator()(Position f) const {
    Position const s = range_of(first_fiber, f);
    if (formats(s) != Tensor::ell) return {begin(f), 1};
    Position const first = first_fiber(s);
    return {begin(first) + (f - first), first_fiber(s + 1) - first};
  }
};

/// Turns the slices of H that are full enough from CSR to ELL. Fences exec. Throws Error if there
/// is no memory for the padded entries.
template <class ExecutionSpace, class Tensor>
void pad_slices(ExecutionSpace const& exec, Tensor& H, double least_fill) {
  using Positions = typename Tensor::Positions;
  using Longest = FindLongestFibers<typename Tensor::MemorySpace>;
  auto const first_fiber = H.first_fiber;
  auto const begin = H.begin;
  auto const formats = H.formats;
  auto const longest = zeroed<Positions>(exec, "sporades::hocfs::longest", H.slices());
  launch_items(exec, "sporades::hocfs::find_longest",
               (H.fibers() + Longest::chunk - 1) / Longest::chunk,
               Longest{first_fiber, begin, longest});
  double entries = 0;  // of all slices; may pass 64 bits
  Kokkos::parallel_reduce(
      "sporades::hocfs::choose", Range<ExecutionSpace>(exec, 0, H.slices()),
      KOKKOS_LAMBDA(Position s, double& sum) {
        Position const first = first_fiber(s), last = first_fiber(s + 1);
        auto const own = static_cast<double>(begin(last) - begin(first));
        double const padded = static_cast<double>(last - first) * static_cast<double>(longest(s));
        bool const is_ell = own >= least_fill * padded;
        formats(s) = is_ell ? Tensor::ell : Tensor::csr;
        sum += is_ell ? padded : own;
      },
      entries);
  Kokkos::parallel_reduce(
      "sporades::hocfs::count_ell", Range<ExecutionSpace>(exec, 0, H.slices()),
      KOKKOS_LAMBDA(Position s, Position & sum) { sum += formats(s) == Tensor::ell ? 1 : 0; },
      H.ell_slices);
  fence(exec, "sporades::hocfs::choose");
  if (H.ell_slices == 0) return;
  double const bytes = entries * (sizeof(typename Tensor::Index) + sizeof(typename Tensor::Scalar));
  double const left = memory_left(exec);
  expects(bytes <= left, "make_hocfs: ELL slices of mode ", H.mode(), " take ", entries,
          " entries for ", H.nnz(), " nonzeros, ", enough_text(bytes), ", and ", room_text(left),
          " of memory are free");

  auto const padded = zeroed<Positions>(exec, "sporades::hocfs::begin", H.fibers() + 1);
  launch_items(
      exec, "sporades::hocfs::count_entries", H.fibers(), KOKKOS_LAMBDA(Position f) {
        Position const s = range_of(first_fiber, f);
        padded(f) = formats(s) == Tensor::ell ? longest(s) : begin(f + 1) - begin(f);
      });
  Position const all = exclusive_scan_total(exec, padded);
  FiberEntries<Tensor> const from{begin, H.index, H.values};
  FiberEntries<Tensor> const to{
      padded, uninitialized<decltype(H.index)>(exec, "sporades::hocfs::index", all),
      zeroed<decltype(H.values)>(exec, "sporades::hocfs::values", all)};
  fill_view(exec, to.index, Tensor::no_index);
  FiberPlaces<Tensor> const places{first_fiber, padded, formats};
  for_items(
      exec, "sporades::hocfs::pad", begin, H.nnz(), KOKKOS_LAMBDA(Position f, Position p) {
        Position const q = places(f)(p - from.begin(f));
        to.index(q) = from.index(p);
        to.values(q) = from.values(p);
      });
  H.begin = to.begin;
  H.index = to.index;
  H.values = to.values;
}

/// H's nonzeros alone, fiber by fiber; H's own Views if it has no ELL slices.
template <class ExecutionSpace, class Tensor>
FiberEntries<Tensor> without_padding(ExecutionSpace const& exec, Tensor const& H) {
  FiberEntries<Tensor> const from{H.begin, H.index, H.values};
  if (H.ell_slices == 0) return from;
  FiberPlaces<Tensor> const places{H.first_fiber, H.begin, H.formats};
  FiberEntries<Tensor> const to{
      zeroed<decltype(H.begin)>(exec, "sporades::hocfs::begin", H.fibers() + 1),
      uninitialized<decltype(H.index)>(exec, "sporades::hocfs::index", H.nnz()),
      uninitialized<decltype(H.values)>(exec, "sporades::hocfs::values", H.nnz())};
  launch_items(
      exec, "sporades::hocfs::count_nonzeros", H.fibers(), KOKKOS_LAMBDA(Position f) {
        FiberPlace const place = places(f);
        Position low = 0, high = from.begin(f + 1) - from.begin(f);  // no fiber is empty
        while (high - low > 1) {
          Position const middle = low + (high - low) / 2;
          (from.index(place(middle)) != Tensor::no_index ? low : high) = middle;
        }
        to.begin(f) = high;
      });
  exclusive_scan(exec, to.begin);
  for_items(
      exec, "sporades::hocfs::unpad", to.begin, H.nnz(), KOKKOS_LAMBDA(Position f, Position p) {
        Position const q = places(f)(p - to.begin(f));
        to.index(p) = from.index(q);
        to.values(p) = from.values(q);
      });
  return to;
}

}  // namespace sporades::detail

#endif
