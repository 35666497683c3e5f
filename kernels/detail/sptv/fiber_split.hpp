// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/launch.hpp>
#include <sporades/core/types.hpp>

namespace sporades::detail {

/// How the fibers of a tensor are divided among threads. Fibers so long that one thread, or one
/// group of lanes, should not sum them alone are summed block by block, and then the blocks. On
/// GPUs the others are summed window by window. A fiber is long by its own length, so that the bits
/// of its sum do not depend on where a tensor is cut.
template <class Scalar, class MemorySpace>
struct FiberSplit {
  struct LongFiber {
    Position place;       // of its sum
    Position begin, end;  // its entries
    Position first_block;

    KOKKOS_FORCEINLINE_FUNCTION Position blocks() const {
      return (end - begin + block - 1) / block;
    }
  };
  /// The fibers, other than a long one, that begin among the entries w window_length to
  /// (w + 1) window_length - 1. One that is longer than the window is the last of them.
  struct alignas(16) Window {
    Position fiber;            // the first one
    std::uint32_t fibers;      // how many
    std::uint16_t begin, end;  // their entries, from w window_length on
  };

  static constexpr Position block = 4096;  // entries
  // A GPU's 32 lanes load 128 entries together: twice, for a window with the end of most fibers.
  static constexpr Position window_length = 224, longest_on_gpu = 256;

  /// Entries of the longest fiber that is not long.
  template <class ExecutionSpace>
  static constexpr Position longest_alone = is_gpu<ExecutionSpace> ? longest_on_gpu : 2 * block;

  Position longest = 0;  // of these fibers
  Kokkos::View<LongFiber*, MemorySpace> fibers;
  Kokkos::View<Scalar*, MemorySpace> sums;  // of blocks
  Kokkos::View<Window*, MemorySpace> windows;
  Kokkos::View<std::uint8_t*, MemorySpace> starts;  // fibers, long ones too: begin % window_length

  std::uint64_t bytes() const {
    return fibers.extent(0) * sizeof(LongFiber) + sums.extent(0) * sizeof(Scalar) +
           bytes_of_windows();
  }
  std::uint64_t bytes_of_windows() const {
    return windows.extent(0) * sizeof(Window) + starts.extent(0);
  }
};

/// The entries of fiber f where they are begin(f) to begin(f + 1) - 1.
template <class MemorySpace>
struct FiberBegins {
  Kokkos::View<Position const*, MemorySpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> first;
  KOKKOS_FORCEINLINE_FUNCTION Position begin(Position f) const { return first(f); }
  KOKKOS_FORCEINLINE_FUNCTION Position end(Position f) const { return first(f + 1); }
};

/// Adds up how many fibers are long, and their blocks; the last pass stores them.
/// FiberOf: begin(f), end(f) of fiber f.
template <class Scalar, class MemorySpace, class FiberOf>
struct FindLongFibers {
  struct Count {
    Position fibers = 0, blocks = 0;
    KOKKOS_FUNCTION Count& operator+=(Count const& other) {
      fibers += other.fibers;
      blocks += other.blocks;
      return *this;
    }
  };
  using value_type = Count;
  using Fiber = typename FiberSplit<Scalar, MemorySpace>::LongFiber;

  FiberOf fiber;
  Position longest;
  Kokkos::View<Fiber*, MemorySpace> found;  // empty: count only

  KOKKOS_FUNCTION void init(Count& count) const { count = {}; }
  KOKKOS_FUNCTION void join(Count& count, Count const& other) const { count += other; }
  KOKKOS_FUNCTION void join(Count volatile& count, Count const volatile& other) const {
    count.fibers += other.fibers;
    count.blocks += other.blocks;
  }
  KOKKOS_FUNCTION void operator()(Position f, Count& count, bool is_last) const {
    Fiber const own{f, fiber.begin(f), fiber.end(f), count.blocks};
    if (own.end - own.begin <= longest) return;
    if (is_last && found.extent(0) > 0) found(count.fibers) = own;
    ++count.fibers;
    count.blocks += own.blocks();
  }
};

/// The long ones among `count` fibers. Fences exec.
template <class Scalar, class MemorySpace, class ExecutionSpace, class FiberOf>
FiberSplit<Scalar, MemorySpace> find_long_fibers(ExecutionSpace const& exec, Position count,
                                                 Position longest, FiberOf const& fiber) {
  using Find = FindLongFibers<Scalar, MemorySpace, FiberOf>;
  FiberSplit<Scalar, MemorySpace> result;
  result.longest = longest;
  typename Find::Count total;
  Kokkos::parallel_scan("sporades::sptv::count_long_fibers", Range<ExecutionSpace>(exec, 0, count),
                        Find{fiber, longest, {}}, total);
  fence(exec, "sporades::sptv::count_long_fibers");
  if (total.fibers == 0) return result;
  result.fibers =
      uninitialized<decltype(result.fibers)>(exec, "sporades::sptv::long_fibers", total.fibers);
  result.sums =
      uninitialized<decltype(result.sums)>(exec, "sporades::sptv::block_sums", total.blocks);
  Kokkos::parallel_scan("sporades::sptv::find_long_fibers", Range<ExecutionSpace>(exec, 0, count),
                        Find{fiber, longest, result.fibers});
  return result;
}

}  // namespace sporades::detail
