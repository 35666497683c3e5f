// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/spttm/lanes.hpp>

/// Strategy `spmm_rows`: SpMM split by rows, a fiber each. Nothing is shared between fibers, and
/// each row of V is written once; a long fiber keeps one group of lanes busy while the others are
/// done.
/// - On GPUs a group of lanes takes a fiber, and each lane some tiles of its columns. The group
///   loads as many nonzeros as it has lanes together, and hands them from lane to lane (coalesced
///   row caching). Where there are many columns, each lane takes two tiles, so that half as many
///   lanes load the nonzeros again (coarse-grained warp merging).
/// - On hosts a thread takes a fiber, 16 columns at a time.
/// Huang, Dai, Wang & Yang, GE-SpMM, SC 2020, Algorithms 2 and 3.

namespace sporades::detail {

/// One lane of a group. Steps: nonzeros whose rows of U are under way together.
template <class Terms, class Scalar, class MemorySpace, int Width, Access access, int Tiles,
          int Steps>
struct RowSplit {
  using Columns = typename Terms::template Columns<Width, access>;
  using Entry = typename Terms::Entry;
  using T = typename Columns::T;

  Terms terms;
  RawVector<Position const, MemorySpace> begin;  // fibers + 1
  RawMatrix<Scalar, MemorySpace> V;              // fibers x columns
  WalkShape shape;
  int shift;        // the logarithm of the number of lanes, at most 5
  Position groups;  // of a fiber, over all columns

  KOKKOS_FUNCTION void operator()(Position item) const {
    int const count = 1 << shift, mine = static_cast<int>(item & static_cast<Position>(count - 1));
    Position const group = item >> shift, f = groups == 1 ? group : group / groups;
    Position const place = ((group - f * groups) << shift) * Tiles + static_cast<Position>(mine);
    Columns columns[Tiles];
    T sums[Tiles];
    for (int t = 0; t < Tiles; ++t) {
      columns[t] = terms.template columns<Width, access>(shape, there(place, t) ? at(place, t) : 0);
      sums[t].fill(Scalar(0));
    }
    Position p = begin(f);
    Position const stop = begin(f + 1);
    if constexpr (Steps == 1) {
      add_terms<1>(terms, columns[0], p, stop, sums);
    } else {
      VectorLanes const lanes = VectorLanes::of_items(count);
      for (; p < stop; p += static_cast<Position>(count)) {
        Position const left = stop - p;
        int const staged = left < static_cast<Position>(count) ? static_cast<int>(left) : count;
        Entry own{};
        if (mine < staged) own = terms.fetch(p + static_cast<Position>(mine));
        add_staged(lanes, own, staged, columns, sums);
      }
    }
    for (int t = 0; t < Tiles; ++t)
      if (there(place, t)) columns[t].tile.template store<true>(V, f, sums[t]);
  }

 private:
  /// The t-th tile of a lane whose first one is `place`: neighbouring lanes have neighbouring
  /// tiles.
  KOKKOS_FORCEINLINE_FUNCTION Position at(Position place, int t) const {
    return place + (static_cast<Position>(t) << shift);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool there(Position place, int t) const {
    return at(place, t) < shape.tiles;
  }

  /// Adds the terms of the nonzeros that the first `staged` lanes have loaded, one each. All lanes
  /// of the group call it.
  KOKKOS_FORCEINLINE_FUNCTION void add_staged(VectorLanes const& lanes, Entry const& own,
                                              int staged, Columns const (&columns)[Tiles],
                                              T (&sums)[Tiles]) const {
    for (int q = 0; q < staged; q += Steps) {
      Entry entries[Steps];
      T rows[Steps][Tiles];
      for (int s = 0; s < Steps; ++s)
        entries[s] = terms.of(lanes, q + s < staged ? q + s : staged - 1, own);
      for (int s = 0; s < Steps; ++s)
        for (int t = 0; t < Tiles; ++t) rows[s][t] = terms.row(entries[s], columns[t]);
      for (int s = 0; s < Steps; ++s)
        if (q + s < staged)
          for (int t = 0; t < Tiles; ++t)
            sums[t].add_product(terms.factor(entries[s], columns[t], 0), rows[s][t]);
    }
  }
};

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void spttm_spmm_rows(ExecutionSpace const& exec,
                     HierarchicalTensor<Scalar, Index, MemorySpace> const& X,
                     Matrix<Scalar, MemorySpace> const& U, Matrix<Scalar, MemorySpace> const& V) {
  using Terms = MatrixTerms<Scalar, Index, MemorySpace>;
  constexpr int steps = batch<ExecutionSpace>;
  std::size_t const R = V.extent(1);
  // One launch for all columns: the rest of a row would have a group of one lane.
  bool const packed = R * sizeof(Scalar) % 16 == 0 && rows_are_aligned(U) && rows_are_aligned(V);
  FiberTiles<16> const tiles{R, packed, false};
  tiles.template for_each<ExecutionSpace, Scalar, false>([&](auto width, auto access,
                                                             std::size_t first, Position count) {
    auto const run = [&](auto of_lane) {
      constexpr int tiles_of_lane = decltype(of_lane)::value;
      int shift = 0;
      if (is_gpu<ExecutionSpace>)
        while (shift < 5 && Position{tiles_of_lane} << shift < count) ++shift;
      Position const groups = chunks_of(count, Position{tiles_of_lane} << shift);
      using Walk = RowSplit<Terms, Scalar, MemorySpace, width(), access(), tiles_of_lane, steps>;
      launch_items(exec, "sporades::spttm::spmm_rows", (X.fibers.count() * groups) << shift,
                   Walk{Terms{X.fibers.index, X.values, U}, X.fibers.begin, V,
                        WalkShape{1, first, R, count}, shift, groups});
    };
    using One = std::integral_constant<int, 1>;
    if constexpr (is_gpu<ExecutionSpace>) {
      if (R > 32) return run(std::integral_constant<int, 2>{});
    }
    run(One{});
  });
}

}  // namespace sporades::detail
