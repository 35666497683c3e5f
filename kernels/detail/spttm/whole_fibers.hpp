// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/spttm/fiber_ranges.hpp>

namespace sporades::detail {

/// A chunk takes the fibers that begin in it, whole: nothing is shared, and each row is written
/// once. On hosts; on GPUs: warp_walk.hpp.
template <class Scalar, class MemorySpace>
struct WholeFibers {
  FiberRanges<MemorySpace> fibers;
  RawMatrix<Scalar, MemorySpace> V;  // fibers x columns
  WalkShape shape;

  template <int Batch, class Terms, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION void walk(Terms const& terms, Columns const& columns,
                                        Position item) const {
    Position const last = fibers.from(shape.begin(item) + shape.length);
    Position f = fibers.from(shape.begin(item));
    for (Position p = f < last ? fibers.begin(f) : 0; f < last; ++f) {
      Position const stop = fibers.begin(f + 1);
      typename Columns::T sums[Columns::parts];
      for (auto& sum : sums) sum.fill(Scalar(0));
      add_terms<Batch>(terms, columns, p, stop, sums);
      for (int c = 0; c < Columns::parts; ++c) columns.part(c).store(V, f, sums[c]);
      p = stop;
    }
    if constexpr (Columns::access == Access::streamed) finish_streaming();
  }
};

}  // namespace sporades::detail
