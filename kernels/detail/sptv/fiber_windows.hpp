// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/bits.hpp>
#include <sporades/core/detail/streaming.hpp>
#include <sporades/kernels/detail/sptv/long_fibers.hpp>
#include <sporades/kernels/detail/work_items.hpp>

/// Sums of fibers on GPUs: 32 neighbouring items of a range policy take a window of entries. They
/// load it together and keep its products in memory that they share (Greathouse & Daga, SC 2014,
/// CSR-Stream); then each of them sums a short fiber, and all of them a longer one. So what is
/// loaded, and how much of it at once, does not depend on how long fibers are. A sum depends on its
/// own fiber's entries alone.

namespace sporades::detail {

/// Finds the windows.
template <class Scalar, class MemorySpace>
struct FindWindows {
  using Split = FiberSplit<Scalar, MemorySpace>;
  static constexpr Position length = Split::window_length;
  static_assert(Split::longest_on_gpu >= length && length <= 256,
                "a long fiber is the last of its window, and starts have 8 bits");

  Kokkos::View<Position const*, MemorySpace> begin;  // fibers + 1
  Kokkos::View<typename Split::Window*, MemorySpace> windows;

  /// The first fiber that begins at this entry or behind it.
  KOKKOS_FUNCTION Position first_from(Position entry) const {
    return bisect<Position>(0, begin.extent(0) - 1, [&](Position f) { return begin(f) < entry; });
  }
  KOKKOS_FUNCTION void operator()(Position w) const {
    Position const first = first_from(w * length);
    Position last = first_from((w + 1) * length);
    if (last > first && begin(last) - begin(last - 1) > Split::longest_on_gpu) --last;
    bool const is_empty = first == last;
    windows(w) = {first, static_cast<std::uint32_t>(last - first),
                  static_cast<std::uint16_t>(is_empty ? 0 : begin(first) - w * length),
                  static_cast<std::uint16_t>(is_empty ? 0 : begin(last) - w * length)};
  }
};

/// The split for sum_by_windows. begin: fibers + 1. Fences exec.
template <class Scalar, class ExecutionSpace, class MemorySpace>
FiberSplit<Scalar, MemorySpace> find_windows(ExecutionSpace const& exec,
                                             Vector<Position, MemorySpace> const& begin,
                                             Position entries) {
  using Split = FiberSplit<Scalar, MemorySpace>;
  Position const fibers = begin.extent(0) - 1;
  auto split = find_long_fibers<Scalar, MemorySpace>(exec, fibers, Split::longest_on_gpu,
                                                     FiberBegins<MemorySpace>{begin});
  split.windows = uninitialized<decltype(split.windows)>(exec, "sporades::sptv::windows",
                                                         chunks_of(entries, Split::window_length));
  split.starts = uninitialized<decltype(split.starts)>(exec, "sporades::sptv::starts", fibers);
  launch_items(exec, "sporades::sptv::find_windows", split.windows.extent(0),
               FindWindows<Scalar, MemorySpace>{begin, split.windows});
  auto const starts = split.starts;
  launch_items(
      exec, "sporades::sptv::find_starts", fibers, KOKKOS_LAMBDA(Position f) {
        starts(f) = static_cast<std::uint8_t>(begin(f) % Split::window_length);
      });
  fence(exec, "sporades::sptv::find_starts");
  return split;
}

/// Items: the lanes of groups that take a block of a long fiber or a window each.
template <class Terms, class MemorySpace, int lane_count>
struct SumWindows {
  using Scalar = typename Terms::Scalar;
  using Split = FiberSplit<Scalar, MemorySpace>;
  using Window = typename Split::Window;
  static constexpr int block = 128;  // threads of a GPU's block
  static constexpr int batch = 4;    // entries of a lane whose loads are under way together
  static constexpr int step = batch * lane_count;
  static constexpr int longest_of_lane = 32;  // entries of a fiber that a lane sums alone
  // Entries of a window and its last fiber, in whole steps.
  static constexpr int room =
      (Split::window_length + Split::longest_on_gpu - 1 + step - 1) / step * step;

  Terms terms;
  SumBlocks<Terms, MemorySpace, lane_count> blocks;
  RawVector<Window const, MemorySpace> windows;
  RawVector<std::uint8_t const, MemorySpace> starts;  // fibers
  RawVector<Scalar, MemorySpace> y;                   // fibers

  /// The entries of a fiber, counted from the begin of its window.
  struct Place {
    int begin = 0, end = 0;
  };

  KOKKOS_FUNCTION void operator()(Position item) const {
    Position const group = item / lane_count, long_blocks = blocks.sums.extent(0);
    if (group < long_blocks)  // these first, so that nothing waits for them in the end
      blocks.sum(group);
    else
      sum_window(group - long_blocks);
  }

  /// The place of the window's fiber number f; an empty one past its last fiber.
  KOKKOS_FORCEINLINE_FUNCTION Place place(Window const& window, std::uint32_t f) const {
    if (f >= window.fibers) return {};
    return {starts(window.fiber + f),
            f + 1 < window.fibers ? int{starts(window.fiber + f + 1)} : int{window.end}};
  }

  /// Calls store(p, product) for the window's entries p, p + lane_count ...: `batch` of them, of
  /// which those outside of the window are 0.
  template <class Store>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(Window const& window, Position first, int p,
                                            Store const& store) const {
    typename Terms::Index index[batch];
    Scalar values[batch];
    auto const entries = static_cast<unsigned>(window.end - window.begin);
    auto const offset = static_cast<unsigned>(p - window.begin);
    auto const* const from = terms.index.data() + first;
    auto const* const of = terms.values.data() + first;
    for (int k = 0; k < batch; ++k) {
      index[k] = 0;
      values[k] = 0;
      if (offset + k * lane_count < entries) {
        index[k] = stream_load(from + p + k * lane_count);
        values[k] = stream_load(of + p + k * lane_count);
      }
    }
    for (int k = 0; k < batch; ++k) values[k] = terms.term(index[k], values[k]);
    for (int k = 0; k < batch; ++k) store(p + k * lane_count, values[k]);
  }

  KOKKOS_FORCEINLINE_FUNCTION void sum_window(Position w) const {
    Window const window = windows(w);
    Position const first = w * Split::window_length;
    auto const lanes = VectorLanes::of_items(lane_count);
    if (window.fibers == static_cast<std::uint32_t>(window.end - window.begin)) {
      // Fibers of one entry each, if any.
      for (int p = lanes.mine(); p < window.end; p += step)
        multiply(window, first, p, [&](int q, Scalar product) {
          if (q >= window.begin && q < window.end) y(window.fiber + (q - window.begin)) = product;
        });
      return;
    }
    LaneMemory<Scalar, room, block> memory;
    Scalar* const products = memory.data();
    Place next = place(window, static_cast<std::uint32_t>(lanes.mine()));
    for (int p = lanes.mine(); p < window.end; p += step)
      multiply(window, first, p, [&](int q, Scalar product) { products[q] = product; });
    lanes.sync();
    for (std::uint32_t q = 0; q < window.fibers; q += lane_count) {
      std::uint32_t const f = q + static_cast<std::uint32_t>(lanes.mine());
      Place const own = next;
      next = place(window, f + lane_count);
      Scalar const sum = sum_fibers(lanes, products, own);
      if (f < window.fibers) y(window.fiber + f) = sum;
    }
  }

  /// Each lane's own fiber: short ones by the lane alone, the others by all lanes.
  static KOKKOS_FORCEINLINE_FUNCTION Scalar sum_fibers(VectorLanes const& lanes,
                                                       Scalar const* products, Place const& own) {
    bool const is_short = own.end - own.begin <= longest_of_lane;
    int const end = is_short ? own.end : 0;
    Scalar sum = products[own.begin];
    for (int p = own.begin + 1; p < end; ++p) sum += products[p];
    for (auto left = lanes.which(!is_short); left != 0; left &= left - 1) {
      int const lane = count_ones((left & ~(left - 1)) - 1);
      int const first = lanes.of(lane, own.begin), last = lanes.of(lane, own.end);
      Scalar part = 0;
      for (int p = first + lanes.mine(); p < last; p += lane_count) part += products[p];
      part = add_lanes(part, lanes);
      if (lanes.mine() == lane) sum = part;
    }
    return sum;
  }
};

/// y(f) = the sum of the entries of fiber f, by groups of lane_count lanes: 32 on GPUs, one on
/// hosts.
template <int lane_count, class ExecutionSpace, class Terms, class Scalar, class MemorySpace>
void sum_by_windows(ExecutionSpace const& exec, char const* label, Terms const& terms,
                    FiberSplit<Scalar, MemorySpace> const& split,
                    Vector<Scalar, MemorySpace> const& y) {
  using Kernel = SumWindows<Terms, MemorySpace, lane_count>;
  launch_items<Kokkos::LaunchBounds<Kernel::block>>(
      exec, label, (split.sums.extent(0) + split.windows.extent(0)) * lane_count,
      Kernel{terms, {terms, split.fibers, split.sums, y}, split.windows, split.starts, y});
  add_blocks<lane_count>(exec, split, y);
}

}  // namespace sporades::detail
