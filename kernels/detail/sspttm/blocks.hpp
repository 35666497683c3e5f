// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/spttm/sum_fibers.hpp>

namespace sporades::detail {

/// Parts columns of U x a tile of a block.
template <class Scalar, int Width, Access access_, int Parts>
struct BlockColumns {
  using T = Tile<Scalar, Width>;
  using Part = TileColumns<Scalar, Width, access_>;
  static constexpr int parts = Parts;
  static constexpr Access access = access_;

  Part tile;           // of Y's row
  std::size_t column;  // the first of U
  std::size_t size;    // of a block

  /// Where the product with the c-th column goes in Z's row.
  KOKKOS_FORCEINLINE_FUNCTION Part part(int c) const {
    return {(column + c) * size + tile.first, tile.columns};
  }
};

/// The terms of SspTTM: entries of U times a block of Y. A work item takes Parts columns of U, so
/// that a tile of Y is read once for them.
template <class ScalarType, class Index, class MemorySpace, int Parts>
struct BlockTerms {
  using Scalar = ScalarType;
  static constexpr int parts = Parts;
  struct Entry {
    Index index;
    Position block;  // row of Y; an Entry of zeros is one that can be loaded
  };
  RawVector<Index const, MemorySpace> index;      // blocks of Y, in the fibers' order
  RawVector<Position const, MemorySpace> blocks;  // rows of Y; none where the order is Y's
  Position first;                                 // block of Y's first row
  RawMatrix<Scalar const, MemorySpace> Y;         // blocks x their entries
  RawMatrix<Scalar const, MemorySpace> U;         // I_n x R

  /// Groups of columns of U.
  KOKKOS_FORCEINLINE_FUNCTION Position groups() const { return (U.extent(1) + Parts - 1) / Parts; }

  template <int Width, Access access>
  using Columns = BlockColumns<Scalar, Width, access, Parts>;

  /// The place-th tile and group of columns, which may be larger than what is left.
  template <int Width, Access access>
  KOKKOS_FORCEINLINE_FUNCTION Columns<Width, access> columns(WalkShape const& shape,
                                                             Position place) const {
    Position const tiles = shape.tiles / groups();
    std::size_t const size = Y.extent(1), column = place / tiles * Parts;
    std::size_t const first = shape.first_column + place % tiles * Width;
    return {{first, static_cast<int>(size - first)}, column, size};
  }
  template <int Width, Access access, class Use>
  KOKKOS_FORCEINLINE_FUNCTION void for_columns(WalkShape const& shape, Position item,
                                               Use const& use) const {
    auto const group = columns<Width, access>(shape, item % shape.tiles);
    if (group.column + Parts <= U.extent(1)) return use(group);
    for (std::size_t c = group.column; c < U.extent(1); ++c)
      use(BlockColumns<Scalar, Width, access, 1>{group.tile, c, group.size});
  }
  KOKKOS_FORCEINLINE_FUNCTION Entry fetch(Position p) const {
    return {index(p), blocks.extent(0) > 0 ? blocks(p) : p - first};
  }
  /// The entry that another lane has fetched.
  KOKKOS_FORCEINLINE_FUNCTION Entry of(VectorLanes const& lanes, int lane, Entry const& own) const {
    return {lanes.of(lane, own.index), lanes.of(lane, own.block)};
  }
  template <class Tiles>
  KOKKOS_FORCEINLINE_FUNCTION auto row(Entry const& entry, Tiles const& tiles) const {
    return tiles.tile.load(Y, entry.block);
  }
  template <class Tiles>
  KOKKOS_FORCEINLINE_FUNCTION Scalar factor(Entry const& entry, Tiles const& tiles, int c) const {
    return U(entry.index, tiles.column + c);
  }
};

/// SspTTM: chunks of blocks x (groups of columns of U x tiles of a block). `blocks` is empty where
/// the fibers are out of core, which is where this fences exec.
template <class ExecutionSpace, class Operands, class Scalar, class MemorySpace>
void sspttm_blocks(ExecutionSpace const& exec, Operands const& all,
                   Permutation<MemorySpace> const& blocks, Matrix<Scalar, MemorySpace> const& U,
                   CarryBuffers<Scalar, Position, MemorySpace>& carry) {
  std::size_t const size = all.values.extent(1), item_bytes = size * sizeof(Scalar);
  auto const run = [&](auto parts) {
    sum_fibers(exec, all, item_bytes, carry,
               [&](auto const& instance, Operands const& part, ItemRange range) {
                 RawMatrix<Scalar, MemorySpace> const values(part.values);
                 auto const Y = Kokkos::subview(
                     values, std::make_pair(range.begin, Position{values.extent(0)}), Kokkos::ALL);
                 BlockTerms<Scalar, typename Operands::Index, MemorySpace, parts()> const terms{
                     part.fibers.index, blocks, range.begin, Y, U};
                 bool const aligned =
                     rows_are_aligned(Y) && rows_are_aligned(part.V) && item_bytes % 16 == 0;
                 // A CPU's registers hold eight columns' products in tiles of at most 128 bytes.
                 FiberTiles<128 / sizeof(Scalar)> const tiles{
                     size, aligned, streams_rows<ExecutionSpace>(part.V, size), terms.groups()};
                 sum_fibers_of(instance, "sporades::sspttm::blocks", terms, part.fibers, part.V,
                               item_bytes, carry, tiles, range);
               });
  };
  if constexpr (!is_gpu<ExecutionSpace>) {
    run(std::integral_constant<int, 8>{});
  } else {
    // Four columns read Y a quarter as often, where that leaves threads enough to hide latency, and
    // a warp reads two chunks or fewer.
    Position const items = all.fibers.items();
    Position const chunks = chunks_of(
        items, fiber_chunk_length<ExecutionSpace>(all.fibers, item_bytes, all.V.extent(1)));
    Position const threads = (item_bytes / 16) * ((U.extent(1) + 3) / 4);  // of a chunk
    if (takes_whole_fibers<ExecutionSpace>(items, all.fibers.longest) || threads < 16 ||
        chunks * threads < 1 << 16)
      run(std::integral_constant<int, 1>{});
    else
      run(std::integral_constant<int, 4>{});
  }
}

}  // namespace sporades::detail
