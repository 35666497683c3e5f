// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/launch.hpp>
#include <sporades/kernels/detail/column_tiles.hpp>

/// How kernels divide their work: a work item is a chunk of consecutive nonzeros x a tile of
/// columns, flat in a range policy, with the tiles of a chunk next to one another.

namespace sporades::detail {

/// Unmanaged, so that functors copy nothing but a pointer and extents.
template <class Scalar, class MemorySpace>
using RawMatrix = Kokkos::View<Scalar**, Kokkos::LayoutRight, MemorySpace,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class Entry, class MemorySpace>
using RawVector = Kokkos::View<Entry*, MemorySpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

KOKKOS_INLINE_FUNCTION Position chunks_of(Position items, Position length) {
  return (items + length - 1) / length;
}

/// Nonzeros of a chunk. Fixed by the space and the size alone, never by the number of threads: the
/// chunks decide the order of additions.
template <class ExecutionSpace>
Position chunk_length(Position nnz) {
  if (is_gpu<ExecutionSpace>) return nnz < (Position{1} << 22) ? 128 : 256;
  Position const length = (nnz / 512 + 127) / 128 * 128;  // at least some hundred chunks
  return length < 128 ? 128 : length > 4096 ? 4096 : length;
}

/// Nonzeros of a block, some whole chunks, that no process has a part of: sums over all nonzeros
/// are added by blocks.
template <class ExecutionSpace>
Position block_length(Position nnz) {
  return is_gpu<ExecutionSpace> ? 2048 : chunk_length<ExecutionSpace>(nnz);
}

/// How a walk divides nonzeros and columns into work items.
struct WalkShape {
  Position length;  // of a chunk
  std::size_t first_column;
  std::size_t columns;
  Position tiles;

  KOKKOS_FORCEINLINE_FUNCTION Position chunk(Position item) const { return item / tiles; }
  KOKKOS_FORCEINLINE_FUNCTION Position begin(Position item) const { return chunk(item) * length; }
  KOKKOS_FORCEINLINE_FUNCTION Position end(Position item, Position nnz) const {
    return begin(item) + length < nnz ? begin(item) + length : nnz;
  }
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION Columns tile(Position item) const {
    return tile_at<Columns>(item % tiles);
  }
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION Columns tile_at(Position place) const {
    std::size_t const first = first_column + place * Columns::width;
    return {first, static_cast<int>(columns - first)};
  }
};

/// Nonzeros whose loads are under way together: GPUs hide latency that way, CPUs do it themselves.
template <class ExecutionSpace>
inline constexpr int batch = is_gpu<ExecutionSpace> ? 4 : 1;

}  // namespace sporades::detail
