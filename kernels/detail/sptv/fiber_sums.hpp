// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/kernels/detail/sptv/long_fibers.hpp>
#include <sporades/kernels/detail/work_items.hpp>

/// Sums of fibers whose entries lie one after another, with the vector's. A fiber's sum depends on
/// its entries and on the number of lanes alone, not on how fibers are divided among threads.

namespace sporades::detail {

/// The entries of fiber f where they are begin(f) to begin(f + 1) - 1.
template <class MemorySpace>
struct FiberBegins {
  RawVector<Position const, MemorySpace> first;
  KOKKOS_FORCEINLINE_FUNCTION Position begin(Position f) const { return first(f); }
  KOKKOS_FORCEINLINE_FUNCTION Position end(Position f) const { return first(f + 1); }
};

/// The terms of SpTV. padded: entries of index no_index are none.
template <class ScalarType, class Index, class MemorySpace, bool padded = false>
struct VectorTerms {
  using Scalar = ScalarType;
  static constexpr Index no_index = ~Index{0};

  RawVector<Index const, MemorySpace> index;
  RawVector<Scalar const, MemorySpace> values;
  RawVector<Scalar const, MemorySpace> v;

  KOKKOS_FORCEINLINE_FUNCTION Scalar operator()(Position p) const {
    Index const i = index(p);
    if constexpr (padded)
      if (i == no_index) return Scalar(0);
    return values(p) * v(i);
  }

  /// The sum over begin <= p < end, on hosts: four sums, of every fourth term each.
  KOKKOS_FORCEINLINE_FUNCTION Scalar sum(Position begin, Position end) const {
    Scalar a = 0, b = 0, c = 0, d = 0;
    Position p = begin;
    for (; p + 4 <= end; p += 4) {
      a += (*this)(p);
      b += (*this)(p + 1);
      c += (*this)(p + 2);
      d += (*this)(p + 3);
    }
    if (p < end) a += (*this)(p);
    if (p + 1 < end) b += (*this)(p + 1);
    if (p + 2 < end) c += (*this)(p + 2);
    return (a + b) + (c + d);
  }
  /// The same on GPUs, by lanes of a warp that all call it: each adds up every lanes.count()-th
  /// term. All of them get the sum.
  KOKKOS_FORCEINLINE_FUNCTION Scalar sum(Position begin, Position end,
                                         VectorLanes const& lanes) const {
    Scalar sum = 0;
    for (Position p = begin + lanes.mine(); p < end; p += lanes.count()) sum += (*this)(p);
    return add_lanes(sum, lanes);
  }
  static KOKKOS_FORCEINLINE_FUNCTION Scalar add_lanes(Scalar sum, VectorLanes const& lanes) {
    for (int distance = lanes.count() / 2; distance > 0; distance /= 2)
      sum += lanes.across(distance, sum);
    return sum;
  }
};

/// One work item, on hosts: `length` neighbouring fibers. On GPUs: a lane of those that sum a fiber
/// together.
template <class Terms, class MemorySpace, bool on_gpu>
struct SumShortFibers {
  using Scalar = typename Terms::Scalar;

  Terms terms;
  RawVector<Position const, MemorySpace> begin;  // fibers + 1
  RawVector<Scalar, MemorySpace> y;              // fibers
  Position longest, length;
  int lanes;

  KOKKOS_FUNCTION void operator()(Position item) const {
    if constexpr (on_gpu) {
      Position const f = item / lanes;
      Position const first = begin(f), end = begin(f + 1);
      if (end - first > longest) return;
      auto const mine = VectorLanes::of_items(lanes);
      Scalar const sum = terms.sum(first, end, mine);
      if (mine.mine() == 0) y(f) = sum;
    } else {
      Position const last =
          item * length + length < y.extent(0) ? item * length + length : Position(y.extent(0));
      Position p = begin(item * length);
      for (Position f = item * length; f < last; ++f) {
        Position const end = begin(f + 1);
        if (end - p <= longest) y(f) = terms.sum(p, end);
        p = end;
      }
    }
  }
};

/// One work item: a block of a long fiber, on GPUs a lane of 32 that sum it together.
template <class Terms, class MemorySpace, bool on_gpu>
struct SumBlocks {
  using Scalar = typename Terms::Scalar;
  using Fiber = typename LongFibers<Scalar, MemorySpace>::Fiber;
  static constexpr Position length = LongFibers<Scalar, MemorySpace>::block;

  Terms terms;
  RawVector<Fiber const, MemorySpace> fibers;
  RawVector<Scalar, MemorySpace> sums;

  KOKKOS_FUNCTION void operator()(Position item) const {
    Position const block = on_gpu ? item / 32 : item;
    Position low = 0, high = fibers.extent(0);  // the fiber of the block is in [low, high)
    while (high - low > 1) {
      Position const middle = low + (high - low) / 2;
      (fibers(middle).first_block <= block ? low : high) = middle;
    }
    Fiber const fiber = fibers(low);
    Position const begin = fiber.begin + (block - fiber.first_block) * length;
    Position const end = begin + length < fiber.end ? begin + length : fiber.end;
    if constexpr (on_gpu) {
      auto const lanes = VectorLanes::of_items(32);
      Scalar const sum = terms.sum(begin, end, lanes);
      if (lanes.mine() == 0) sums(block) = sum;
    } else {
      sums(block) = terms.sum(begin, end);
    }
  }
};

/// One work item: the blocks of a long fiber, on GPUs a lane of 32 that add them up together.
template <class Scalar, class MemorySpace, bool on_gpu>
struct AddBlocks {
  using Fiber = typename LongFibers<Scalar, MemorySpace>::Fiber;
  static constexpr Position length = LongFibers<Scalar, MemorySpace>::block;

  RawVector<Fiber const, MemorySpace> fibers;
  RawVector<Scalar const, MemorySpace> sums;
  RawVector<Scalar, MemorySpace> y;

  KOKKOS_FUNCTION void operator()(Position item) const {
    Fiber const fiber = fibers(on_gpu ? item / 32 : item);
    Position const end = fiber.first_block + chunks_of(fiber.end - fiber.begin, length);
    auto const lanes = VectorLanes::of_items(on_gpu ? 32 : 1);
    Scalar sum = 0;
    for (Position b = fiber.first_block + lanes.mine(); b < end; b += lanes.count()) sum += sums(b);
    if constexpr (on_gpu)
      sum = VectorTerms<Scalar, std::uint32_t, MemorySpace>::add_lanes(sum, lanes);
    if (lanes.mine() == 0) y(fiber.place) = sum;
  }
};

/// Launches chunks of fibers, which take unequal times; cost: about how many terms one has.
template <class ExecutionSpace, class Kernel>
void launch_chunks(ExecutionSpace const& exec, char const* label, Position chunks, Position cost,
                   Kernel const& kernel) {
  if (is_small<ExecutionSpace>(chunks, cost))
    launch(exec, label, chunks, cost, kernel);
  else
    launch_unequal_items(exec, label, chunks, kernel);
}

/// y at the places of the long fibers.
template <class ExecutionSpace, class Terms, class Scalar, class MemorySpace>
void sum_long_fibers(ExecutionSpace const& exec, Terms const& terms,
                     LongFibers<Scalar, MemorySpace> const& split,
                     Vector<Scalar, MemorySpace> const& y) {
  constexpr bool on_gpu = is_gpu<ExecutionSpace>;
  constexpr Position lanes = on_gpu ? 32 : 1;
  if (split.fibers.extent(0) == 0) return;
  launch_items(exec, "sporades::sptv::blocks", split.sums.extent(0) * lanes,
               SumBlocks<Terms, MemorySpace, on_gpu>{terms, split.fibers, split.sums});
  launch_items(exec, "sporades::sptv::add_blocks", split.fibers.extent(0) * lanes,
               AddBlocks<Scalar, MemorySpace, on_gpu>{split.fibers, split.sums, y});
}

/// y(f) = the sum of the entries begin(f) to begin(f + 1) - 1.
template <class ExecutionSpace, class Terms, class Scalar, class MemorySpace>
void sum_fibers_of_vector(ExecutionSpace const& exec, char const* label, Terms const& terms,
                          Vector<Position, MemorySpace> const& begin,
                          LongFibers<Scalar, MemorySpace> const& split,
                          Vector<Scalar, MemorySpace> const& y) {
  Position const fibers = y.extent(0);
  if (fibers == 0) return;
  constexpr bool on_gpu = is_gpu<ExecutionSpace>;
  using Kernel = SumShortFibers<Terms, MemorySpace, on_gpu>;
  if constexpr (on_gpu) {
    launch_items(exec, label, fibers * static_cast<Position>(split.lanes),
                 Kernel{terms, begin, y, split.longest, 1, split.lanes});
  } else {
    Position const mean = terms.values.extent(0) / fibers + 1;
    Position const length = std::clamp<Position>(16384 / mean, 16, 4096);
    launch_chunks(exec, label, chunks_of(fibers, length), length * mean,
                  Kernel{terms, begin, y, split.longest, length, 1});
  }
  sum_long_fibers(exec, terms, split, y);
}

}  // namespace sporades::detail
