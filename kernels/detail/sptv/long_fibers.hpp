// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/launch.hpp>
#include <sporades/core/types.hpp>

namespace sporades::detail {

/// Fibers so long that one thread, or one group of lanes, should not sum them alone: their entries
/// are summed block by block, and then the blocks. A fiber is long by its own length and the mean
/// of its tensor's, so that the bits of its sum do not depend on where a tensor is cut.
template <class Scalar, class MemorySpace>
struct LongFibers {
  struct Fiber {
    Position place;       // of its sum
    Position begin, end;  // its entries
    Position first_block;
  };

  static constexpr Position block = 4096;  // entries

  Position longest = 0;  // entries of a fiber that is not long
  int lanes = 1;         // of a GPU, that sum such a fiber together
  Kokkos::View<Fiber*, MemorySpace> fibers;
  Kokkos::View<Scalar*, MemorySpace> sums;  // of blocks

  std::uint64_t bytes() const {
    return fibers.extent(0) * sizeof(Fiber) + sums.extent(0) * sizeof(Scalar);
  }
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
  using Long = LongFibers<Scalar, MemorySpace>;

  FiberOf fiber;
  Position longest;
  Kokkos::View<typename Long::Fiber*, MemorySpace> found;  // empty: count only

  KOKKOS_FUNCTION void init(Count& count) const { count = {}; }
  KOKKOS_FUNCTION void join(Count& count, Count const& other) const { count += other; }
  KOKKOS_FUNCTION void join(Count volatile& count, Count const volatile& other) const {
    count.fibers += other.fibers;
    count.blocks += other.blocks;
  }
  KOKKOS_FUNCTION void operator()(Position f, Count& count, bool is_last) const {
    Position const begin = fiber.begin(f), end = fiber.end(f);
    if (end - begin <= longest) return;
    if (is_last && found.extent(0) > 0) found(count.fibers) = {f, begin, end, count.blocks};
    ++count.fibers;
    count.blocks += (end - begin + Long::block - 1) / Long::block;
  }
};

/// The long ones among `count` fibers of `entries` entries. Fences exec.
template <class Scalar, class MemorySpace, class ExecutionSpace, class FiberOf>
LongFibers<Scalar, MemorySpace> find_long_fibers(ExecutionSpace const& exec, Position count,
                                                 Position entries, FiberOf const& fiber) {
  using Find = FindLongFibers<Scalar, MemorySpace, FiberOf>;
  LongFibers<Scalar, MemorySpace> result;
  Position const mean = count > 0 ? entries / count : 0;
  if (is_gpu<ExecutionSpace>) {
    while (result.lanes < 32 && static_cast<Position>(result.lanes) < mean) result.lanes *= 2;
    result.longest = 64 * static_cast<Position>(result.lanes);
  } else {
    result.longest = 2 * result.block;
  }
  typename Find::Count total;
  Kokkos::parallel_scan("sporades::sptv::count_long_fibers", Range<ExecutionSpace>(exec, 0, count),
                        Find{fiber, result.longest, {}}, total);
  fence(exec, "sporades::sptv::count_long_fibers");
  if (total.fibers == 0) return result;
  result.fibers =
      uninitialized<decltype(result.fibers)>(exec, "sporades::sptv::long_fibers", total.fibers);
  result.sums =
      uninitialized<decltype(result.sums)>(exec, "sporades::sptv::block_sums", total.blocks);
  Kokkos::parallel_scan("sporades::sptv::find_long_fibers", Range<ExecutionSpace>(exec, 0, count),
                        Find{fiber, result.longest, result.fibers});
  return result;
}

}  // namespace sporades::detail
