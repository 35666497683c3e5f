// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/sort_coo.hpp>
#include <sporades/kernels/detail/row_walk.hpp>
#include <sporades/kernels/detail/sptv/fiber_sums.hpp>

/// Segmented reduction over the nonzeros of a HocooTensor. A chunk of nonzeros finds the fibers by
/// their coordinates; the plan says how many fibers begin before it. Sums that chunks share are
/// carried: see row_sums.hpp.

namespace sporades::detail {

/// Nonzeros of a chunk. As with chunk_length, the bits depend on it.
template <class ExecutionSpace>
Position segment_length(Position nnz) {
  return is_gpu<ExecutionSpace> ? 32 : chunk_length<ExecutionSpace>(nnz);
}

/// One work item: a chunk of nonzeros, whose fibers that begin in it are counted, or stored.
template <class Coordinates>
struct ScanSegments {
  using MemorySpace = typename Coordinates::memory_space;

  CompareNonzeros<Coordinates> compare;     // by the other modes
  RawVector<Position, MemorySpace> places;  // chunks
  Coordinates fibers;                       // (N - 1) x fibers; none: count only
  Kokkos::Array<int, max_order> row;        // of fibers, for compare's modes
  Position nnz, length;

  KOKKOS_FUNCTION void operator()(Position chunk) const {
    Position const begin = chunk * length, end = begin + length < nnz ? begin + length : nnz;
    bool const stores = fibers.extent(1) > 0;
    Position place = stores ? places(chunk) : 0;
    for (Position p = begin; p < end; ++p) {
      if (!compare.begins_run(p)) continue;
      if (stores)
        for (int k = 0; k < compare.modes; ++k)
          fibers(row[k], place) = compare.coordinates(compare.mode[k], p);
      ++place;
    }
    if (!stores) places(chunk) = place;
  }
};

/// The nonzeros as RowWalk takes them; the row of a nonzero is its fiber's number.
template <class ScalarType, class Index, class MemorySpace>
struct SegmentNonzeros {
  using Scalar = ScalarType;
  using Row = Position;
  using Coordinates = Kokkos::View<Index**, Kokkos::LayoutRight, MemorySpace>;
  static constexpr bool has_words = false;
  struct Entry {
    Scalar term;
    bool opens;
  };
  struct Cursor {
    Position row;
    KOKKOS_FORCEINLINE_FUNCTION void enter(Entry const&) { ++row; }
  };

  VectorTerms<Scalar, Index, MemorySpace> terms;
  CompareNonzeros<Coordinates> compare;           // by the other modes
  RawVector<Position const, MemorySpace> places;  // chunks: fibers that begin before them
  Position length;

  KOKKOS_FORCEINLINE_FUNCTION Position size() const { return terms.values.extent(0); }
  KOKKOS_FORCEINLINE_FUNCTION bool opens_row(Position p) const { return compare.begins_run(p); }
  KOKKOS_FORCEINLINE_FUNCTION Cursor rows(Position p) const {
    Position const before = places(p / length);
    return {opens_row(p) ? before : before - 1};
  }
  KOKKOS_FORCEINLINE_FUNCTION bool leaves(Cursor const&, Entry const& entry) const {
    return entry.opens;
  }
  KOKKOS_FORCEINLINE_FUNCTION Entry fetch(Position p) const { return {terms(p), opens_row(p)}; }
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto term(Entry const& entry, Columns const&) const {
    typename Columns::T tile;
    tile.fill(Scalar(0));
    tile.set(0, entry.term);
    return tile;
  }
};

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void sum_segments(ExecutionSpace const& exec,
                  SegmentNonzeros<Scalar, Index, MemorySpace> const& nonzeros,
                  Vector<Scalar, MemorySpace> const& y,
                  CarryBuffers<Scalar, Position, MemorySpace>& carry) {
  if (nonzeros.size() == 0) return;
  Position const chunks = chunks_of(nonzeros.size(), nonzeros.length);
  Matrix<Scalar, MemorySpace> const V(y.data(), y.extent(0), 1);
  carry.reserve(exec, chunks, 1);
  walk_rows<TileWidths::coarse>(exec, "sporades::sptv::hocoo", nonzeros,
                                ChunkSums{nonzeros.length, chunks, row_sums(V, carry, chunks)}, 1,
                                false);
  reduce_carries(exec, V, carry, chunks);
}

}  // namespace sporades::detail
