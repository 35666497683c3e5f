// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/kernels/detail/reduce_carries.hpp>
#include <sporades/kernels/detail/ttm_chain/column_order.hpp>
#include <sporades/kernels/ttm_chain_plan.hpp>

/// What the strategies of ttm_chain that sum whole output rows in place share (CPUs). A row of
/// Y_(n), of some hundred numbers, does not fit registers; it is summed where it belongs, in first-
/// and second-level cache: in Y itself where a chunk owns the row, in a carry slot where it does
/// not. The slots are reduced as row_sums.hpp says.

namespace sporades::detail {

/// Writes the tile where memory is fresh; adds it to what is there otherwise.
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
/// would hold more than 2^21 numbers; on GPUs, which need more chunks to be busy, 2^23.
template <class ExecutionSpace>
Position chain_chunk_length(Position nnz, std::size_t columns) {
  constexpr Position numbers = Position{1} << (is_gpu<ExecutionSpace> ? 22 : 20);
  Position const most = std::max<Position>(64, numbers / columns);
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

/// Calls run(width constant) with the tile of columns that a leaf's factor row is cut into: the
/// whole of it up to 32 numbers, else the widest of 16, 8 and 4 that divides it.
template <class Run>
void with_leaf_width(std::size_t padded_rank, Run const& run) {
  std::size_t const widest = padded_rank % 16 == 0 ? 16 : padded_rank % 8 == 0 ? 8 : 4;
  with_row_width(padded_rank <= 32 ? padded_rank : widest, run);
}

/// How a product of so many nonzeros and columns is cut up.
struct ChainShape {
  Position length, count;  // of chunks
  std::size_t scratch;     // numbers a chunk: partial products of csf, a Kronecker row of fused
};

template <class ExecutionSpace>
ChainShape chain_shape(Position nnz, TtmChainColumns const& columns, TtmChainStrategy strategy) {
  Position const length = chain_chunk_length<ExecutionSpace>(nnz, columns.count());
  std::size_t const row = is_gpu<ExecutionSpace> ? 0 : columns.count() / columns.tile();
  return {length, chunks_of(nnz, length),
          strategy == TtmChainStrategy::fused ? row : columns.partial_products()};
}

/// Makes the buffers large enough. Allocates on exec where they are not.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void reserve_chain(ExecutionSpace const& exec, ChainShape const& shape, std::size_t columns,
                   TtmChainBuffers<Scalar, Index, MemorySpace>& buffers) {
  buffers.carry.reserve(exec, shape.count, columns);
  if (buffers.scratch.extent(0) < shape.count * shape.scratch)
    buffers.scratch = uninitialized<Vector<Scalar, MemorySpace>>(
        exec, "sporades::ttm_chain::scratch", shape.count * shape.scratch);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void reserve_chain(ExecutionSpace const& exec, TtmChainChoice const& choice, Position nnz,
                   TtmChainBuffers<Scalar, Index, MemorySpace>& buffers) {
  reserve_chain(exec, chain_shape<ExecutionSpace>(nnz, choice.columns, choice.strategy),
                choice.columns.count(), buffers);
}

/// What walks over the chunks of a product write to.
template <class Scalar, class Index, class MemorySpace>
struct ChainWork {
  Position count;  // chunks
  ChainRows<Scalar, Index, MemorySpace> rows;
  ChainChunks<Scalar, MemorySpace> chunks;
};

/// Before the walk of csf over the chunks of nonzeros sorted by row, of which every row of Y has
/// some: makes the buffers ready.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
ChainWork<Scalar, Index, MemorySpace> begin_chain(
    ExecutionSpace const& exec, Position nnz, TtmChainColumns const& columns,
    Matrix<Scalar, MemorySpace> const& Y, TtmChainBuffers<Scalar, Index, MemorySpace>& buffers) {
  auto const shape = chain_shape<ExecutionSpace>(nnz, columns, TtmChainStrategy::csf);
  reserve_chain(exec, shape, columns.count(), buffers);
  ChainRows<Scalar, Index, MemorySpace> rows{Y, {}, {}};
  if (shape.count > 1) {
    auto const& level = buffers.carry.level(0);
    rows.slots = RawVector<Index, MemorySpace>(level.rows.data(), 2 * shape.count);
    rows.sums = level.sums;
  }
  return {shape.count, rows, {shape.length, buffers.scratch, shape.scratch}};
}

/// After the walk: adds the rows that chunks share.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void finish_chain(ExecutionSpace const& exec, ChainWork<Scalar, Index, MemorySpace> const& work,
                  Matrix<Scalar, MemorySpace> const& Y,
                  TtmChainBuffers<Scalar, Index, MemorySpace> const& buffers) {
  reduce_carries(exec, Y, buffers.carry, work.count);
}

}  // namespace sporades::detail
