// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/sptv/fiber_sums.hpp>

/// Sums of the rows of a HocsrTensor, empty ones included. Rows come in windows; the plan says how
/// many rows before a window are not empty.

namespace sporades::detail {

inline constexpr Position row_window = 8;

/// Counts the rows that are not empty; the last pass stores their numbers, and the count at the
/// beginning of each window.
template <class MemorySpace>
struct FindRows {
  RawVector<Position const, MemorySpace> begin;  // rows + 1
  RawVector<Position, MemorySpace> places;       // windows
  RawVector<Position, MemorySpace> row;          // fibers; none: count only

  KOKKOS_FUNCTION void operator()(Position r, Position& count, bool is_last) const {
    bool const has_nonzeros = begin(r) < begin(r + 1);
    if (is_last && row.extent(0) > 0) {
      if (r % row_window == 0) places(r / row_window) = count;
      if (has_nonzeros) row(count) = r;
    }
    if (has_nonzeros) ++count;
  }
};

/// The entries of fiber f where row row(f) has them.
template <class MemorySpace>
struct RowsWithNonzeros {
  RawVector<Position const, MemorySpace> first, row;
  KOKKOS_FORCEINLINE_FUNCTION Position begin(Position f) const { return first(row(f)); }
  KOKKOS_FORCEINLINE_FUNCTION Position end(Position f) const { return first(row(f) + 1); }
};

/// One work item: `windows` windows of rows. makes_terms: of a block of rows first, where they have
/// few entries each.
template <class Terms, class MemorySpace, bool makes_terms>
struct SumUnfoldedRows {
  using Scalar = typename Terms::Scalar;
  static constexpr int block = 256;  // rows
  static constexpr int most = 8;     // entries of such a block for each of its rows

  Terms terms;
  RawVector<Position const, MemorySpace> begin;   // rows + 1
  RawVector<Position const, MemorySpace> places;  // windows
  RawVector<Scalar, MemorySpace> y;               // fibers
  Position longest, windows;

  KOKKOS_FUNCTION void operator()(Position item) const {
    Position const rows = begin.extent(0) - 1, first = item * windows * row_window;
    Position const last = first + windows * row_window < rows ? first + windows * row_window : rows;
    Position place = places(item * windows);
    if constexpr (makes_terms)
      for (Position r = first; r < last; r += block) {
        Position const end = r + block < last ? r + block : last;
        Position const entries = begin(end) - begin(r);
        if (entries > most * (end - r) || 16 * entries < end - r)
          sum_rows(r, end, place);
        else
          sum_block(r, end, place);
      }
    else
      sum_rows(first, last, place);
  }

  /// Row by row; windows without entries are passed over.
  KOKKOS_FORCEINLINE_FUNCTION void sum_rows(Position first, Position last, Position& place) const {
    for (Position r = first; r < last;) {
      if (r + row_window <= last && begin(r) == begin(r + row_window)) {
        r += row_window;
        continue;
      }
      for (Position const end = r + row_window < last ? r + row_window : last; r < end; ++r) {
        Position const from = begin(r), to = begin(r + 1);
        if (from == to) continue;
        if (to - from <= longest)
          y(place) = makes_terms ? terms.sum(from, to) : terms.sum_long(from, to);
        ++place;
      }
    }
  }

  /// Makes all terms first; the sum of an empty row is overwritten by the next one's.
  KOKKOS_FORCEINLINE_FUNCTION void sum_block(Position first, Position last, Position& place) const {
    Scalar products[block * most + ShortFibers<Scalar>::longest], sums[block + 1];
    Position const from = begin(first);
    terms.make(from, static_cast<int>(begin(last) - from), products);
    int count = 0;
    Position p = from;
    for (Position r = first; r < last; ++r) {
      Position const end = begin(r + 1);
      sums[count] = terms.template sum_made<4>(products + (p - from), p, end);
      count += end > p;
      p = end;
    }
    for (int k = 0; k < count; ++k) y(place + k) = sums[k];
    place += count;
  }
};

template <class ExecutionSpace, class Terms, class Scalar, class MemorySpace>
void sum_unfolded_rows(ExecutionSpace const& exec, Terms const& terms,
                       Vector<Position, MemorySpace> const& begin,
                       Vector<Position, MemorySpace> const& places,
                       FiberSplit<Scalar, MemorySpace> const& split,
                       Vector<Scalar, MemorySpace> const& y) {
  if (y.extent(0) == 0) return;
  Position const windows = is_gpu<ExecutionSpace> ? 1 : 128;
  Position const chunks = chunks_of(places.extent(0), windows);
  launch_chunks(exec, "sporades::sptv::hocsr", chunks,
                windows * row_window + terms.values.extent(0) / chunks,
                SumUnfoldedRows<Terms, MemorySpace, !is_gpu<ExecutionSpace>>{
                    terms, begin, places, y, split.longest, windows});
  sum_long_fibers(exec, terms, split, y);
}

}  // namespace sporades::detail
