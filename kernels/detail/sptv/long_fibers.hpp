// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/bisect.hpp>
#include <sporades/kernels/detail/sptv/fiber_split.hpp>
#include <sporades/kernels/detail/work_items.hpp>

/// Sums of long fibers: a block of entries is summed by a thread of a host, or by 32 lanes of a GPU
/// together.

namespace sporades::detail {

template <class ExecutionSpace>
inline constexpr int lanes_of_block = is_gpu<ExecutionSpace> ? 32 : 1;

/// The sum of the lanes' numbers; all of them get it.
template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION Scalar add_lanes(Scalar sum, VectorLanes const& lanes) {
  for (int distance = lanes.count() / 2; distance > 0; distance /= 2)
    sum += lanes.across(distance, sum);
  return sum;
}

/// Items: the lanes of a block of a long fiber.
template <class Terms, class MemorySpace, int lane_count>
struct SumBlocks {
  using Scalar = typename Terms::Scalar;
  using Split = FiberSplit<Scalar, MemorySpace>;
  using Fiber = typename Split::LongFiber;

  Terms terms;
  RawVector<Fiber const, MemorySpace> fibers;
  RawVector<Scalar, MemorySpace> sums;  // of blocks
  RawVector<Scalar, MemorySpace> y;     // of fibers of one block

  KOKKOS_FUNCTION void operator()(Position item) const { sum(item / lane_count); }

  KOKKOS_FORCEINLINE_FUNCTION void sum(Position block) const {
    Position const next = bisect<Position>(
        1, fibers.extent(0), [&](Position f) { return fibers(f).first_block <= block; });
    Fiber const fiber = fibers(next - 1);
    Position const begin = fiber.begin + (block - fiber.first_block) * Split::block;
    Position const end = begin + Split::block < fiber.end ? begin + Split::block : fiber.end;
    auto const lanes = VectorLanes::of_items(lane_count);
    Scalar sum;
    if constexpr (lane_count > 1)
      sum = terms.sum(begin, end, lanes);
    else
      sum = terms.sum(begin, end);
    if (lanes.mine() == 0) (fiber.blocks() > 1 ? sums(block) : y(fiber.place)) = sum;
  }
};

/// Items: the lanes of a long fiber, which add up its blocks if they are several.
template <class Scalar, class MemorySpace, int lane_count>
struct AddBlocks {
  using Fiber = typename FiberSplit<Scalar, MemorySpace>::LongFiber;

  RawVector<Fiber const, MemorySpace> fibers;
  RawVector<Scalar const, MemorySpace> sums;
  RawVector<Scalar, MemorySpace> y;

  KOKKOS_FUNCTION void operator()(Position item) const {
    Fiber const fiber = fibers(item / lane_count);
    if (fiber.blocks() == 1) return;
    Position const end = fiber.first_block + fiber.blocks();
    auto const lanes = VectorLanes::of_items(lane_count);
    Scalar sum = 0;
    for (Position b = fiber.first_block + lanes.mine(); b < end; b += lanes.count()) sum += sums(b);
    sum = add_lanes(sum, lanes);
    if (lanes.mine() == 0) y(fiber.place) = sum;
  }
};

/// y at the places of the long fibers from the sums of their blocks.
template <int lane_count, class ExecutionSpace, class Scalar, class MemorySpace>
void add_blocks(ExecutionSpace const& exec, FiberSplit<Scalar, MemorySpace> const& split,
                Vector<Scalar, MemorySpace> const& y) {
  if (split.sums.extent(0) > split.fibers.extent(0))
    launch_items(exec, "sporades::sptv::add_blocks", split.fibers.extent(0) * lane_count,
                 AddBlocks<Scalar, MemorySpace, lane_count>{split.fibers, split.sums, y});
}

/// y at the places of the long fibers.
template <class ExecutionSpace, class Terms, class Scalar, class MemorySpace>
void sum_long_fibers(ExecutionSpace const& exec, Terms const& terms,
                     FiberSplit<Scalar, MemorySpace> const& split,
                     Vector<Scalar, MemorySpace> const& y) {
  constexpr int lanes = lanes_of_block<ExecutionSpace>;
  if (split.fibers.extent(0) == 0) return;
  launch_items(exec, "sporades::sptv::blocks", split.sums.extent(0) * lanes,
               SumBlocks<Terms, MemorySpace, lanes>{terms, split.fibers, split.sums, y});
  add_blocks<lanes>(exec, split, y);
}

}  // namespace sporades::detail
