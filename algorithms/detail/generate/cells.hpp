// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/generate/draw_keys.hpp>
#include <sporades/core/detail/bisect.hpp>
#include <sporades/core/detail/launch.hpp>

namespace sporades::detail {

/// Sorted distinct keys and how often each was drawn.
template <class Key, class MemorySpace>
struct DrawnCells {
  using Keys = Kokkos::View<Key*, MemorySpace>;
  using Counts = Kokkos::View<std::uint32_t*, MemorySpace>;
  Keys keys;
  Counts counts;
  Position size() const { return keys.extent(0); }
};

/// starts(r) <- the place where the r-th run of equal keys starts.
template <class Keys>
struct FindCellRuns {
  using value_type = Position;

  Keys keys;                                                    // sorted
  Kokkos::View<Position*, typename Keys::memory_space> starts;  // as many, for the worst case

  KOKKOS_FUNCTION void operator()(Position i, Position& runs, bool is_last) const {
    if (i > 0 && !key_less(keys(i - 1), keys(i))) return;
    if (is_last) starts(runs) = i;
    ++runs;
  }
};

template <class Key, class MemorySpace>
struct SumCellRuns {
  using Cells = DrawnCells<Key, MemorySpace>;

  typename Cells::Keys keys;
  typename Cells::Counts counts;  // of the keys; empty: each counts one
  Kokkos::View<Position*, MemorySpace> starts;
  Cells result;

  KOKKOS_FUNCTION void operator()(Position run) const {
    Position const end = run + 1 < result.keys.extent(0) ? starts(run + 1) : keys.extent(0);
    result.keys(run) = keys(starts(run));
    if (counts.extent(0) == 0) {
      result.counts(run) = static_cast<std::uint32_t>(end - starts(run));
    } else {
      std::uint32_t sum = 0;
      for (Position i = starts(run); i < end; ++i) sum += counts(i);
      result.counts(run) = sum;
    }
  }
};

template <class Key, class ExecutionSpace>
DrawnCells<Key, typename ExecutionSpace::memory_space> allocate_cells(ExecutionSpace const& exec,
                                                                      Position size) {
  using Cells = DrawnCells<Key, typename ExecutionSpace::memory_space>;
  return {uninitialized<typename Cells::Keys>(exec, "sporades::generate::cells", size),
          uninitialized<typename Cells::Counts>(exec, "sporades::generate::counts", size)};
}

/// Sorted keys, each once, with the sums of their counts. Fences exec.
template <class ExecutionSpace, class Key, class MemorySpace>
DrawnCells<Key, MemorySpace> sum_runs(ExecutionSpace const& exec,
                                      Kokkos::View<Key*, MemorySpace> const& keys,
                                      Kokkos::View<std::uint32_t*, MemorySpace> const& counts) {
  using Range = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>;
  using Keys = Kokkos::View<Key*, MemorySpace>;
  using Starts = Kokkos::View<Position*, MemorySpace>;
  Position const size = keys.extent(0);
  auto const starts = uninitialized<Starts>(exec, "sporades::generate::starts", size);
  Position runs = 0;
  Kokkos::parallel_scan("sporades::generate::find_runs", Range(exec, 0, size),
                        FindCellRuns<Keys>{keys, starts}, runs);
  fence(exec, "sporades::generate::find_runs");
  auto const result = allocate_cells<Key>(exec, runs);
  launch_items(exec, "sporades::generate::sum_runs", runs,
               SumCellRuns<Key, MemorySpace>{keys, counts, starts, result});
  fence(exec, "sporades::generate::sum_runs");
  return result;
}

template <class ExecutionSpace, class MemorySpace>
Words<MemorySpace> sorted_keys(ExecutionSpace const& exec, Words<MemorySpace> keys, int bits) {
  auto spare = uninitialized<Words<MemorySpace>>(exec, "sporades::generate::spare", keys.extent(0));
  sort_words(exec, keys, spare, BitRange{0, bits}, SortAlgorithm::automatic);
  return keys;
}

template <class ExecutionSpace, class MemorySpace>
Kokkos::View<Key128*, MemorySpace> sorted_keys(ExecutionSpace const& exec,
                                               Kokkos::View<Key128*, MemorySpace> const& keys,
                                               int bits) {
  gather_in_place(exec, keys, sort_permutation(exec, keys, bits));
  return keys;
}

/// The keys of the whole pool; none where there is no pool.
template <class Key, class ExecutionSpace>
auto draw_tuples(ExecutionSpace const& exec, CoordinateDraw const& draw) {
  using Keys = Kokkos::View<Key*, typename ExecutionSpace::memory_space>;
  if (draw.pool_modes == 0) return Keys{};
  return draw_keys<MathOf<ExecutionSpace>>(exec, TupleKeys<Keys>{draw}, draw.pool.n);
}

/// The cells of `count` draws from number `first` on. Fences exec.
template <class ExecutionSpace, class Key, class MemorySpace>
DrawnCells<Key, MemorySpace> draw_cells(ExecutionSpace const& exec, CoordinateDraw const& draw,
                                        Kokkos::View<Key*, MemorySpace> const& tuples,
                                        Position first, Position count) {
  using Keys = Kokkos::View<Key*, MemorySpace>;
  auto const keys =
      draw_keys<MathOf<ExecutionSpace>>(exec, CoordinateKeys<Keys>{draw, first, tuples}, count);
  return sum_runs(exec, sorted_keys(exec, keys, draw.fields.total_bits()),
                  typename DrawnCells<Key, MemorySpace>::Counts{});
}

/// Where keys of one sorted list come in the merged one: after the smaller keys of the other, and,
/// for the second list, after equal ones.
template <class Cells, bool after_equal>
struct PlaceMerged {
  Cells from;
  Cells other;
  Cells merged;

  KOKKOS_FUNCTION void operator()(Position i) const {
    auto const key = from.keys(i);
    Position const before = bisect<Position>(0, other.keys.extent(0), [&](Position k) {
      return after_equal ? !key_less(key, other.keys(k)) : key_less(other.keys(k), key);
    });
    merged.keys(i + before) = key;
    merged.counts(i + before) = from.counts(i);
  }
};

/// All cells of both, with the sums of their counts. Fences exec.
template <class ExecutionSpace, class Key, class MemorySpace>
DrawnCells<Key, MemorySpace> merge_cells(ExecutionSpace const& exec,
                                         DrawnCells<Key, MemorySpace> const& a,
                                         DrawnCells<Key, MemorySpace> const& b) {
  using Cells = DrawnCells<Key, MemorySpace>;
  if (a.size() == 0) return b;
  if (b.size() == 0) return a;
  auto const merged = allocate_cells<Key>(exec, a.size() + b.size());
  launch_items(exec, "sporades::generate::merge_first", a.size(),
               PlaceMerged<Cells, false>{a, b, merged});
  launch_items(exec, "sporades::generate::merge_second", b.size(),
               PlaceMerged<Cells, true>{b, a, merged});
  return sum_runs(exec, merged.keys, merged.counts);
}

}  // namespace sporades::detail
