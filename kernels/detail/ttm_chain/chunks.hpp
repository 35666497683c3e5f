// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/segment_walk.hpp>
#include <sporades/kernels/detail/ttm_chain/columns.hpp>

/// What the strategies of ttm_chain that sum whole output rows in place share (CPUs). A row of
/// Y_(n), of some hundred numbers, does not fit registers; it is summed where it belongs, in first-
/// and second-level cache: in Y itself where a chunk owns the row, in a carry slot where it does
/// not. The slots are reduced as row_sums.hpp says.

namespace sporades::detail {

/// Carry slots, and room for partial products, kept between calls.
template <class Scalar, class Index, class MemorySpace>
struct TtmChainBuffers {
  CarryBuffers<Scalar, Index, MemorySpace> carry;
  Vector<Scalar, MemorySpace> scratch;

  std::uint64_t bytes() const { return carry.bytes() + scratch.extent(0) * sizeof(Scalar); }
};

/// What lies there becomes tile where that is fresh, else plus tile.
template <class Scalar, int width>
KOKKOS_FORCEINLINE_FUNCTION void add_tile(Scalar* to, bool fresh, Tile<Scalar, width> tile) {
  if (!fresh) tile.add(load_tile<Scalar, width>(to));
  store_tile(tile, to);
}

/// Chunks of nonzeros, and memory that each has for itself.
template <class Scalar, class MemorySpace>
struct ChainChunks {
  Position length;
  RawVector<Scalar, MemorySpace> memory;  // chunks x scratch_size
  std::size_t scratch_size;

  KOKKOS_FORCEINLINE_FUNCTION Position begin(Position chunk) const { return chunk * length; }
  KOKKOS_FORCEINLINE_FUNCTION Position end(Position chunk, Position nnz) const {
    return begin(chunk) + length < nnz ? begin(chunk) + length : nnz;
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar* scratch(Position chunk) const {
    return memory.data() + chunk * scratch_size;
  }
};

/// Nonzeros of a chunk: as chunk_length says, and more where the carry slots, two rows a chunk,
/// would hold more than 2^21 numbers.
template <class ExecutionSpace>
Position chain_chunk_length(Position nnz, std::size_t columns) {
  Position const most = std::max<Position>(64, (Position{1} << 20) / columns);
  Position const least = ((nnz + most - 1) / most + 127) / 128 * 128;
  return std::max(chunk_length<ExecutionSpace>(nnz), least);
}

/// Where a chunk sums its rows.
template <class Scalar, class Index, class MemorySpace>
struct ChainRows {
  RawMatrix<Scalar, MemorySpace> Y;     // rows x columns
  RawVector<Index, MemorySpace> slots;  // carry slots: their rows; none if there is one chunk
  RawMatrix<Scalar, MemorySpace> sums;  // carry slots x columns

  /// Memory for a row's sum. continues: the next chunk goes on with the row.
  KOKKOS_FORCEINLINE_FUNCTION Scalar* target(ChunkState const& state, Position row,
                                             bool continues) const {
    if (state.first && state.shared) return &sums(2 * state.chunk, 0);
    return continues ? &sums(2 * state.chunk + 1, 0) : &Y(row, 0);
  }

  /// The chunk has ended in the row `last`.
  KOKKOS_FORCEINLINE_FUNCTION void finish(ChunkState const& state, Position first, Position last,
                                          bool continues) const {
    if (slots.extent(0) == 0) return;
    Position const slot = 2 * state.chunk;
    bool const in_first_slot = state.first && state.shared;
    bool const in_second_slot = continues && !in_first_slot;
    if (!state.shared) clear(&sums(slot, 0));
    if (!in_second_slot) clear(&sums(slot + 1, 0));
    if (in_second_slot) clear(&Y(last, 0));  // for the carries to be added
    slots(slot) = static_cast<Index>(first);
    slots(slot + 1) = static_cast<Index>(last);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void clear(Scalar* row) const {
#pragma omp simd
    for (std::size_t c = 0; c < Y.extent(1); ++c) row[c] = 0;
  }
};

/// Calls run(width) with the tile of columns that a leaf's factor row is cut into: the whole of it
/// up to 32 numbers, else the widest of 16, 8 and 4 that divides it.
template <class Run>
void for_leaf_tile(std::size_t padded_rank, Run const& run) {
  if (for_tight_tile(padded_rank, run)) return;
  if (padded_rank % 16 == 0)
    run(std::integral_constant<int, 16>{});
  else if (padded_rank % 8 == 0)
    run(std::integral_constant<int, 8>{});
  else
    run(std::integral_constant<int, 4>{});
}

/// How a product of so many nonzeros and columns is cut up.
struct ChainShape {
  Position length, count;  // of chunks
  std::size_t scratch;     // numbers a chunk: partial products, or Kronecker rows
};

template <class ExecutionSpace>
ChainShape chain_shape(Position nnz, TtmChainColumns const& columns) {
  Position const length = chain_chunk_length<ExecutionSpace>(nnz, columns.count());
  return {length, chunks_of(nnz, length),
          std::max(columns.partial_products(), columns.count() / columns.tile())};
}

/// Makes the buffers large enough. Allocates on exec where they are not.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void reserve_chain(ExecutionSpace const& exec, Position nnz, TtmChainColumns const& columns,
                   TtmChainBuffers<Scalar, Index, MemorySpace>& buffers) {
  auto const shape = chain_shape<ExecutionSpace>(nnz, columns);
  buffers.carry.reserve(exec, shape.count, columns.count());
  if (buffers.scratch.extent(0) < shape.count * shape.scratch)
    buffers.scratch = uninitialized<Vector<Scalar, MemorySpace>>(
        exec, "sporades::ttm_chain::scratch", shape.count * shape.scratch);
}

/// Sums all rows of Y from nonzeros sorted by row; make_walk(rows, chunks) gives the functor whose
/// items are chunks. Every row of Y has nonzeros. Enqueued on exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class MakeWalk>
void sum_chain_rows(ExecutionSpace const& exec, char const* label, Position nnz,
                    TtmChainColumns const& columns, Matrix<Scalar, MemorySpace> const& Y,
                    TtmChainBuffers<Scalar, Index, MemorySpace>& buffers,
                    MakeWalk const& make_walk) {
  reserve_chain(exec, nnz, columns, buffers);
  auto const [length, count, scratch] = chain_shape<ExecutionSpace>(nnz, columns);
  auto const& carry = buffers.carry;
  ChainRows<Scalar, Index, MemorySpace> rows{Y, {}, {}};
  if (count > 1) {
    auto const& level = carry.level(0);
    rows.slots = RawVector<Index, MemorySpace>(level.rows.data(), 2 * count);
    rows.sums = level.sums;
  }
  ChainChunks<Scalar, MemorySpace> const chunks{length, buffers.scratch, scratch};
  launch_items(exec, label, count, make_walk(rows, chunks));
  for_column_tiles<ExecutionSpace, Scalar, TileWidths::coarse>(
      columns.count(), true,
      [&, chunk_count = count](auto width, auto access, std::size_t first, Position tiles) {
        reduce_carries<width(), access()>(exec, Y, carry, chunk_count, first, tiles);
      });
}

}  // namespace sporades::detail
