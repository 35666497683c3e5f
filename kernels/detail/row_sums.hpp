// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/matrix.hpp>
#include <sporades/kernels/detail/lanes.hpp>

/// Where the sums of output rows go that chunks of nonzeros have computed.
///
/// Deterministic rows (RowSums): nonzeros are sorted by output row. A chunk owns every row that
/// starts and ends inside it and writes it directly. The sums of its first and last row, where
/// these reach beyond the chunk, go to two carry slots. The slots of all chunks, two each, always,
/// are again a sequence sorted by row, only shorter: it is reduced the same way, level by level in
/// chunks of carry_chunk slots, until one chunk is left (reduce_carries.hpp). No atomic sums, and
/// the same bits on every run and thread count. An unused slot holds zeros for a row of its chunk,
/// which change nothing. The chunk in which a shared row begins clears it in the output, for the
/// carries to be added.
///
/// The same with atomic flushes (CarryBuffers::atomic): a chunk adds its first and last row to the
/// output atomically where others share them. No slots, no levels; bits depend on the run.
///
/// Atomic rows (AtomicRows): every sum is added to the output atomically; nonzeros in any order.

namespace sporades::detail {

/// Carry slots of every level, kept between calls so that a kernel called again allocates nothing.
template <class Scalar, class Index, class MemorySpace>
class CarryBuffers {
 public:
  struct Level {
    Kokkos::View<Index*, MemorySpace> rows;  // slots; of the first level only
    Matrix<Scalar, MemorySpace> sums;        // slots x columns, the stride a whole tile
  };

  /// Slots for this many chunks at the first level and as many levels as these need. Allocates on
  /// exec where what is there is too small; where that throws, what is there stays usable.
  template <class ExecutionSpace>
  void reserve(ExecutionSpace const& exec, Position chunks, std::size_t columns);

  Level const& level(std::size_t l) const { return levels_[l]; }
  std::size_t levels() const { return levels_.size(); }

  /// Counters that are 0 between calls: of the chunks of carries that wait for others, a tile of
  /// columns each.
  Kokkos::View<unsigned*, MemorySpace> const& arrivals() const { return arrivals_; }

  /// rows x columns, padding included, for the parts of strategy `alto`; contents undefined.
  template <class ExecutionSpace>
  Matrix<Scalar, MemorySpace> const& buffer_rows(ExecutionSpace const& exec, Position rows,
                                                 std::size_t columns) {
    std::size_t const stride = padded_columns(columns);
    if (buffer_rows_.extent(0) < rows || buffer_rows_.extent(1) != stride)
      buffer_rows_ = uninitialized<Matrix<Scalar, MemorySpace>>(
          exec, "sporades::mttkrp::buffer_rows", rows, stride);
    return buffer_rows_;
  }

  std::uint64_t bytes() const;

  bool atomic = false;  // no slots: rows that chunks share are added up atomically

 private:
  std::vector<Level> levels_;
  Kokkos::View<unsigned*, MemorySpace> arrivals_;
  Matrix<Scalar, MemorySpace> buffer_rows_;
};

/// Slots that one work item reduces at a carry level.
inline constexpr Position carry_chunk = 32;

KOKKOS_INLINE_FUNCTION Position chunks_of(Position items, Position length) {
  return (items + length - 1) / length;
}

template <class Scalar, class Index, class MemorySpace>
template <class ExecutionSpace>
void CarryBuffers<Scalar, Index, MemorySpace>::reserve(ExecutionSpace const& exec, Position chunks,
                                                       std::size_t columns) {
  std::size_t const stride = padded_columns(columns);
  Position waiting = 0;  // chunks past the first level
  for (std::size_t l = 0; chunks > 1; ++l) {
    if (l == levels_.size()) levels_.emplace_back();
    Level& level = levels_[l];
    if (level.sums.extent(0) < 2 * chunks || level.sums.extent(1) < stride) {
      Level larger;
      if (l == 0)
        larger.rows = uninitialized<Kokkos::View<Index*, MemorySpace>>(
            exec, "sporades::carry::rows", 2 * chunks);
      larger.sums = uninitialized<Matrix<Scalar, MemorySpace>>(exec, "sporades::carry::sums",
                                                               2 * chunks, stride);
      level = larger;  // both or, where memory runs out, neither
    }
    chunks = chunks_of(2 * chunks, carry_chunk);
    if (l > 0) waiting += chunks;
  }
  Position const tiles = chunks_of(stride * sizeof(Scalar), 16);  // at most
  if (arrivals_.extent(0) < waiting * tiles)
    arrivals_ = Kokkos::View<unsigned*, MemorySpace>(
        Kokkos::view_alloc(exec, "sporades::carry::arrivals"), waiting * tiles);
}

template <class Scalar, class Index, class MemorySpace>
std::uint64_t CarryBuffers<Scalar, Index, MemorySpace>::bytes() const {
  std::uint64_t sum = buffer_rows_.span() * sizeof(Scalar) + arrivals_.extent(0) * sizeof(unsigned);
  for (auto const& level : levels_)
    sum += level.rows.extent(0) * sizeof(Index) + level.sums.span() * sizeof(Scalar);
  return sum;
}

/// Unmanaged, so that functors copy nothing but a pointer and extents.
template <class Scalar, class MemorySpace>
using RawMatrix = Kokkos::View<Scalar**, Kokkos::LayoutRight, MemorySpace,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class Entry, class MemorySpace>
using RawVector = Kokkos::View<Entry*, MemorySpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Where a chunk stands with its first row.
struct ChunkState {
  Position chunk;
  bool shared;  // the first row began in an earlier chunk
  bool first;   // the row being summed is the chunk's first
};

/// The sum by value: entries are picked from the copy, and the walk's stays in registers.
template <class Scalar, class MemorySpace, class Columns, class T>
KOKKOS_FORCEINLINE_FUNCTION void add_atomically(RawMatrix<Scalar, MemorySpace> const& V,
                                                Columns const& columns, std::uint64_t row, T sum) {
  for (int j = 0; j < Columns::width; ++j)
    if (columns.holds(j)) Kokkos::atomic_add(&V(row, columns.column(j)), sum[j]);
}

/// Deterministic rows; `accumulate` where V holds what chunks of nonzeros wrote, and carries are
/// added to it.
template <class Scalar, class Index, class MemorySpace, bool accumulate>
struct RowSums {
  RawMatrix<Scalar, MemorySpace> V;     // output rows x columns
  RawVector<Index, MemorySpace> rows;   // carry slots; not used where `accumulate`
  RawMatrix<Scalar, MemorySpace> sums;  // carry slots x columns; none if there is one chunk
  bool atomic;                          // rows that chunks share are added to V atomically

  /// A row ends inside the chunk.
  template <class Columns, class T>
  KOKKOS_FORCEINLINE_FUNCTION void close(ChunkState const& state, Columns const& columns, Index row,
                                         T const& sum) const {
    if (state.first && state.shared) {
      if (atomic)
        add_atomically(V, columns, row, sum);
      else
        columns.store(sums, 2 * state.chunk, sum);
    } else {
      write(columns, row, sum);
    }
  }

  /// The chunk ends in this row; `continues` if the next chunk goes on with it.
  template <class Columns, class T>
  KOKKOS_FORCEINLINE_FUNCTION void finish(ChunkState const& state, Columns const& columns,
                                          Index first_row, Index row, T const& sum,
                                          bool continues) const {
    bool const in_first_slot = state.first && state.shared;
    if (!in_first_slot && !continues) write(columns, row, sum);
    if (atomic && (in_first_slot || continues)) add_atomically(V, columns, row, sum);
    if (sums.extent(0) == 0) return;
    T zero;
    zero.fill(Scalar(0));
    Position const slot = 2 * state.chunk;
    if (!accumulate && continues && !in_first_slot) columns.store(V, row, zero);
    if (in_first_slot || !state.shared) columns.store(sums, slot, in_first_slot ? sum : zero);
    columns.store(sums, slot + 1, continues && !in_first_slot ? sum : zero);
    if constexpr (!accumulate) {
      if (columns.first != 0) return;
      rows(slot) = first_row;
      rows(slot + 1) = row;
    }
  }

 private:
  template <class Columns, class T>
  KOKKOS_FORCEINLINE_FUNCTION void write(Columns const& columns, Index row, T const& sum) const {
    if constexpr (accumulate) {
      T total = columns.load(V, row);
      total.add(sum);
      columns.store(V, row, total);
    } else {
      columns.store(V, row, sum);
    }
  }
};

/// Rows in any order, each sum added atomically to V, which is zero to begin with.
template <class Scalar, class Index, class MemorySpace>
struct AtomicRows {
  RawMatrix<Scalar, MemorySpace> V;

  template <class Columns, class T>
  KOKKOS_FORCEINLINE_FUNCTION void close(ChunkState const&, Columns const& columns, Index row,
                                         T const& sum) const {
    add_atomically(V, columns, row, sum);
  }
  template <class Columns, class T>
  KOKKOS_FORCEINLINE_FUNCTION void finish(ChunkState const& state, Columns const& columns, Index,
                                          Index row, T const& sum, bool) const {
    close(state, columns, row, sum);
  }
};

}  // namespace sporades::detail
