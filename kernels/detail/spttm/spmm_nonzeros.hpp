// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/bisect.hpp>
#include <sporades/kernels/detail/spttm/lanes.hpp>

/// Strategy `spmm_nonzeros`: SpMM split along the merge path. Take all nonzeros in order, and
/// behind the last one of each fiber the fiber's end: one step for each. A chunk is a range of as
/// many steps as any other, so that many short fibers and a long one take it the same time. The
/// rows that it shares with its neighbours are carried as row_sums.hpp says. No fiber is empty.
/// Therefore
///   - no two ends are neighbours, and a chunk of three steps or more holds nonzeros: it has a
///     first and a last row, as the carries need, and no chunk is ends alone;
///   - there are at most twice as many steps as nonzeros.
/// Merrill & Garland, SC 2016, Algorithm 2; Yang, Buluç & Owens, Euro-Par 2018, §4.2.

namespace sporades::detail {

/// A chunk takes the items of its steps.
template <class Sums, class MemorySpace>
struct MergedFibers {
  FiberRanges<MemorySpace> fibers;
  Sums out;
  WalkShape shape;  // of steps

  /// The fibers that have ended before a step, known to be low to high.
  KOKKOS_FORCEINLINE_FUNCTION Position ended(Position step, Position low, Position high) const {
    return bisect(low, high, [&](Position f) { return fibers.begin(f + 1) + f < step; });
  }

  template <int Batch, class Terms, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION void walk(Terms const& terms, Columns const& columns,
                                        Position item) const {
    Position const begin = shape.begin(item), last = fibers.fibers() - 1;
    Position const end = shape.end(item, last + fibers.items);
    // Every second step at most is an end.
    Position const before = ended(begin, 0, begin / 2 < last ? begin / 2 : last);
    Position const most = before + shape.length / 2 + 1;
    Position const behind = ended(end, before, most < last ? most : last);
    // Where the first step is an end, the chunk adds nothing to that fiber.
    sum_cut_fibers<Batch>(fibers, out, terms, columns, shape.chunk(item), before, begin - before,
                          end - behind);
  }
};

/// Steps of a chunk.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Position merged_length(Fibers<Index, MemorySpace> const& fibers, std::size_t columns) {
  return carried_chunk_length<ExecutionSpace>(fibers.items() + fibers.count(),
                                              sizeof(Index) + sizeof(Scalar), columns);
}

/// Slots for the rows that chunks share, and how many chunks there are.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Position reserve_merged(ExecutionSpace const& exec, Fibers<Index, MemorySpace> const& fibers,
                        std::size_t columns, CarryBuffers<Scalar, Position, MemorySpace>& carry) {
  if (fibers.items() == 0) return 0;
  Position const chunks = chunks_of(fibers.items() + fibers.count() - 1,
                                    merged_length<ExecutionSpace, Scalar>(fibers, columns));
  carry.reserve(exec, chunks, columns);
  return chunks;
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void spttm_spmm_nonzeros(ExecutionSpace const& exec,
                         HierarchicalTensor<Scalar, Index, MemorySpace> const& X,
                         Matrix<Scalar, MemorySpace> const& U, Matrix<Scalar, MemorySpace> const& V,
                         CarryBuffers<Scalar, Position, MemorySpace>& carry) {
  Position const chunks = reserve_merged(exec, X.fibers, V.extent(1), carry);
  if (chunks == 0) return;
  auto const sums = row_sums(V, carry, chunks);
  using Range = MergedFibers<std::decay_t<decltype(sums)>, MemorySpace>;
  FiberTiles<16> const tiles{V.extent(1), rows_are_aligned(U) && rows_are_aligned(V), false};
  walk_fibers<Range, false>(exec, "sporades::spttm::spmm_nonzeros",
                            MatrixTerms<Scalar, Index, MemorySpace>{X.fibers.index, X.values, U},
                            FiberRanges<MemorySpace>(X.fibers), sums,
                            merged_length<ExecutionSpace, Scalar>(X.fibers, V.extent(1)), tiles, 0,
                            chunks);
  reduce_carries(exec, V, carry, chunks);
}

}  // namespace sporades::detail
