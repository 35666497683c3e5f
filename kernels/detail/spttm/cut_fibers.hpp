// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/spttm/fiber_ranges.hpp>

namespace sporades::detail {

/// The terms of items p to end - 1, one chunk of several, and so parts of fibers at both ends,
/// whose rows are carried as row_sums.hpp says. first: the fiber of item p.
template <int Batch, class Terms, class Columns, class Sums, class MemorySpace>
KOKKOS_FORCEINLINE_FUNCTION void sum_cut_fibers(FiberRanges<MemorySpace> const& fibers,
                                                Sums const& out, Terms const& terms,
                                                Columns const& columns, Position chunk,
                                                Position first, Position p, Position end) {
  ChunkState state{chunk, fibers.begin(first) < p, true};
  for (Position f = first;; ++f) {
    Position const fiber_end = fibers.begin(f + 1);
    Position const stop = fiber_end < end ? fiber_end : end;
    typename Columns::T sums[Columns::parts];
    for (auto& sum : sums) sum.fill(0);
    add_terms<Batch>(terms, columns, p, stop, sums);
    p = stop;
    bool const is_last = p == end;
    for (int c = 0; c < Columns::parts; ++c) {
      if (is_last)
        out.finish(state, columns.part(c), first, f, sums[c], fiber_end > end);
      else
        out.close(state, columns.part(c), f, sums[c]);
    }
    if (is_last) return;
    state.first = false;
  }
}

/// A chunk takes exactly its items.
template <class Sums, class MemorySpace>
struct CutFibers {
  FiberRanges<MemorySpace> fibers;
  Sums out;
  WalkShape shape;

  template <int Batch, class Terms, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION void walk(Terms const& terms, Columns const& columns,
                                        Position item) const {
    Position const p = shape.begin(item);
    sum_cut_fibers<Batch>(fibers, out, terms, columns, shape.chunk(item), fibers.at(p), p,
                          shape.end(item, fibers.items));
  }
};

}  // namespace sporades::detail
