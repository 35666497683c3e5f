// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/carry_buffers.hpp>

/// Where the sums of output rows go that chunks of nonzeros have computed.
///
/// Deterministic rows (RowSums): nonzeros are sorted by output row. A chunk owns every row that
/// starts and ends inside it and writes it directly. The sums of its first and last row, where
/// these reach beyond the chunk, go to two carry slots. The slots of all chunks, two each, always,
/// are again a sequence sorted by row, only shorter: it is reduced the same way, level by level in
/// chunks of carry_chunk slots, until one chunk is left (reduce_carries.hpp). No atomic sums, and
/// the same bits on every run and thread count. An unused slot holds zeros for a row of its chunk,
/// which change nothing. The chunk in which a shared row begins clears it in the output, so that
/// the carries can be added to it.
///
/// RowSums with atomic flushes (CarryBuffers::atomic): a chunk adds its first and last row to the
/// output atomically where others share them. No slots, no levels; bits depend on the run.
///
/// Atomic rows (AtomicRows): every sum is added to the output atomically; nonzeros in any order.

namespace sporades::detail {

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
  constexpr int pack = Columns::is_packed ? 16 / sizeof(Scalar) : 1;
  for (int j = 0; j < Columns::width; j += pack)
    if (columns.holds(j)) {
      Scalar entries[pack];
      for (int k = 0; k < pack; ++k) entries[k] = sum[j + k];
      add_pack_atomically(&V(row, columns.column(j)), entries);
    }
}

/// Deterministic rows. accumulate: V holds what chunks of nonzeros wrote, and carries are added to
/// it.
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
