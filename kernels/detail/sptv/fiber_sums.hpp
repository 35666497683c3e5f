// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/kernels/detail/sptv/fiber_windows.hpp>
#include <sporades/kernels/detail/sptv/long_fibers.hpp>
#include <sporades/kernels/detail/work_items.hpp>

/// Sums of fibers whose entries lie one after another, with the vector's. A fiber's sum depends on
/// its entries alone, not on how fibers are divided among threads.

namespace sporades::detail {

/// The terms of SpTV. padded: entries of index no_index are none.
template <class ScalarType, class IndexType, class MemorySpace, bool padded = false>
struct VectorTerms {
  using Scalar = ScalarType;
  using Index = IndexType;
  static constexpr Index no_index = ~Index{0};

  RawVector<Index const, MemorySpace> index;
  RawVector<Scalar const, MemorySpace> values;
  RawVector<Scalar const, MemorySpace> v;

  /// A product with padding, too, so that compilers fuse it with the sum there as elsewhere, and
  /// the bits are the same.
  KOKKOS_FORCEINLINE_FUNCTION Scalar term(Index i, Scalar value) const { return value * factor(i); }
  KOKKOS_FORCEINLINE_FUNCTION Scalar factor(Index i) const {
    if constexpr (padded)
      if (i == no_index) return Scalar(0);
    return v(i);
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar operator()(Position p) const {
    return term(index(p), values(p));
  }

  /// The sum over begin <= p < end, by a thread of a host: four sums, of every fourth term each.
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
  /// The same by lanes of a GPU: each adds up every lanes.count()-th term, and all get the sum.
  KOKKOS_FORCEINLINE_FUNCTION Scalar sum(Position begin, Position end,
                                         VectorLanes const& lanes) const {
    constexpr int batch = 4;  // terms whose loads are under way together
    Scalar sum = 0;
    for (Position p = begin + lanes.mine(); p < end; p += batch * lanes.count()) {
      Scalar term[batch];
      for (int k = 0; k < batch; ++k) {
        Position const q = p + k * lanes.count();
        term[k] = (*this)(q < end ? q : p);
      }
      for (int k = 0; k < batch; ++k)
        if (p + k * lanes.count() < end) sum += term[k];
    }
    return add_lanes(sum, lanes);
  }
};

/// One work item, on hosts: `length` neighbouring fibers.
template <class Terms, class MemorySpace>
struct SumShortFibers {
  using Scalar = typename Terms::Scalar;

  Terms terms;
  RawVector<Position const, MemorySpace> begin;  // fibers + 1
  RawVector<Scalar, MemorySpace> y;              // fibers
  Position longest, length;

  KOKKOS_FUNCTION void operator()(Position item) const {
    Position const last =
        item * length + length < y.extent(0) ? item * length + length : Position(y.extent(0));
    Position p = begin(item * length);
    for (Position f = item * length; f < last; ++f) {
      Position const end = begin(f + 1);
      if (end - p <= longest) y(f) = terms.sum(p, end);
      p = end;
    }
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

/// The split for sum_fibers_of_vector. begin: fibers + 1. Fences exec.
template <class Scalar, class ExecutionSpace, class MemorySpace>
FiberSplit<Scalar, MemorySpace> split_fibers(ExecutionSpace const& exec,
                                             Vector<Position, MemorySpace> const& begin,
                                             Position entries) {
  if constexpr (is_gpu<ExecutionSpace>)
    return find_windows<Scalar>(exec, begin, entries);
  else
    return find_long_fibers<Scalar, MemorySpace>(
        exec, begin.extent(0) - 1,
        FiberSplit<Scalar, MemorySpace>::template longest_alone<ExecutionSpace>,
        FiberBegins<MemorySpace>{begin});
}

/// y(f) = the sum of the entries begin(f) to begin(f + 1) - 1.
template <class ExecutionSpace, class Terms, class Scalar, class MemorySpace>
void sum_fibers_of_vector(ExecutionSpace const& exec, char const* label, Terms const& terms,
                          Vector<Position, MemorySpace> const& begin,
                          FiberSplit<Scalar, MemorySpace> const& split,
                          Vector<Scalar, MemorySpace> const& y) {
  Position const fibers = y.extent(0);
  if (fibers == 0) return;
  if constexpr (is_gpu<ExecutionSpace>) {
    sum_by_windows<32>(exec, label, terms, split, y);
  } else {
    Position const mean = terms.values.extent(0) / fibers + 1;
    Position const length = std::clamp<Position>(16384 / mean, 16, 4096);
    launch_chunks(exec, label, chunks_of(fibers, length), length * mean,
                  SumShortFibers<Terms, MemorySpace>{terms, begin, y, split.longest, length});
    sum_long_fibers(exec, terms, split, y);
  }
}

}  // namespace sporades::detail
