// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/spttm/fiber_walk.hpp>

namespace sporades::detail {

/// A tile of one column of U times a block: columns of Y's row, and where they go in Z's.
template <class Scalar, int Width, Access access>
struct BlockColumns {
  using T = Tile<Scalar, Width>;
  static constexpr int width = Width;

  TileColumns<Scalar, Width, access> in;
  std::size_t column;  // of U
  std::size_t first;   // in Z's row

  KOKKOS_FORCEINLINE_FUNCTION bool holds(int j) const { return in.holds(j); }
  template <class MatrixType>
  KOKKOS_FORCEINLINE_FUNCTION T load(MatrixType const& A, std::size_t row) const {
    return out().load(A, row);
  }
  template <class MatrixType>
  KOKKOS_FORCEINLINE_FUNCTION void store(MatrixType const& A, std::size_t row,
                                         T const& tile) const {
    out().store(A, row, tile);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION TileColumns<Scalar, Width, access> out() const {
    return {first, in.columns};
  }
};

/// The terms of SspTTM: an entry of U times a block of Y.
template <class Scalar, class Index, class MemorySpace>
struct BlockTerms {
  struct Entry {
    Position block;
    Scalar value;
  };
  RawVector<Index const, MemorySpace> index;      // blocks of Y, in the fibers' order
  RawVector<Position const, MemorySpace> blocks;  // the same; none where it is Y's own
  RawMatrix<Scalar const, MemorySpace> Y;         // blocks x their entries
  RawMatrix<Scalar const, MemorySpace> U;         // I_n x R

  template <int Width, Access access>
  KOKKOS_FORCEINLINE_FUNCTION BlockColumns<Scalar, Width, access> columns(WalkShape const& shape,
                                                                          Position item) const {
    Position const tile = item % shape.tiles, tiles_of_column = shape.tiles / U.extent(1);
    std::size_t const column = tile / tiles_of_column, size = Y.extent(1);
    std::size_t const first = shape.first_column + tile % tiles_of_column * Width;
    return {{first, static_cast<int>(size - first)}, column, column * size + first};
  }
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION Entry fetch(Position p, Columns const& columns) const {
    return {blocks.extent(0) > 0 ? blocks(p) : p, U(index(p), columns.column)};
  }
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto row(Entry const& entry, Columns const& columns) const {
    return columns.in.load(Y, entry.block);
  }
};

/// SspTTM: chunks of blocks x (columns of U x tiles of a block).
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void sspttm_blocks(ExecutionSpace const& exec, Fibers<Index, MemorySpace> const& fibers,
                   Permutation<MemorySpace> const& blocks, Matrix<Scalar, MemorySpace> const& Y,
                   Matrix<Scalar, MemorySpace> const& U, Matrix<Scalar, MemorySpace> const& Z,
                   CarryBuffers<Scalar, Position, MemorySpace>& carry) {
  BlockTerms<Scalar, Index, MemorySpace> const terms{fibers.index, blocks, Y, U};
  bool const aligned =
      rows_are_aligned(Y) && rows_are_aligned(Z) && Y.extent(1) * sizeof(Scalar) % 16 == 0;
  sum_fibers(exec, "sporades::sspttm::blocks", terms, fibers, Z, carry, [&](auto const& run) {
    for_column_tiles<ExecutionSpace, Scalar, TileWidths::coarse>(
        Y.extent(1), aligned, [&](auto width, auto access, std::size_t first, Position tiles) {
          run(width, access, first, tiles * U.extent(1));
        });
  });
}

}  // namespace sporades::detail
