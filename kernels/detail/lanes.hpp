// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/streaming.hpp>
#include <sporades/core/detail/tile.hpp>
#include <sporades/core/types.hpp>
#include <type_traits>
#include <utility>

/// The lane model: work is (chunk of consecutive nonzeros) x (tile of consecutive columns), flat in
/// a RangePolicy with the tile fastest. A tile lives in registers. On GPUs it is 16 bytes, so that
/// neighbouring threads read neighbouring tiles and a factor row is one coalesced load; on CPUs it
/// is as much of the row as registers hold, and the compiler vectorises over it.

namespace sporades::detail {

/// How a tile of a row is touched: in one 16-byte load or store that must be aligned (GPUs); column
/// by column, all of them there (CPUs: the compiler makes vectors of it); the same in matrices
/// whose rows are a tile long, padding included; the same, stored past the caches in whole lines;
/// or column by column up to the last of the matrix, for what remains when the number of columns is
/// no multiple of the tile.
enum class Access { packed, whole, tight, streamed, guarded };

/// Columns first to first + Width of a matrix, row by row.
template <class Scalar, int Width, Access access>
struct TileColumns {
  using T = Tile<Scalar, Width>;
  static_assert(access != Access::packed || Width * sizeof(Scalar) == 16,
                "A packed tile is 16 bytes.");

  static constexpr int width = Width;

  std::size_t first;
  int columns;  // of the matrix from `first` on: fewer than Width only where guarded

  KOKKOS_FORCEINLINE_FUNCTION bool holds(int j) const {
    return access != Access::guarded || j < columns;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::size_t column(int j) const { return first + j; }

  template <class MatrixType>
  KOKKOS_FORCEINLINE_FUNCTION T load(MatrixType const& A, std::size_t row) const {
    Scalar const* const from = A.data() + offset(A, row);
    T tile;
    if constexpr (access == Access::guarded) {
      for (int j = 0; j < Width; ++j) tile.set(j, j < columns ? from[j] : Scalar(0));
    } else if constexpr (access == Access::packed) {
      auto const packed = *reinterpret_cast<Pack<Scalar> const*>(from);
      for (int j = 0; j < Width; ++j) tile.set(j, packed.entry[j]);
    } else {
      auto const parts = reinterpret_cast<typename T::Part::Type const*>(from);
      for (int k = 0; k < T::parts; ++k) tile.part[k] = parts[k];
    }
    return tile;
  }

  /// once: it is not read again soon.
  template <bool once = false, class MatrixType>
  KOKKOS_FORCEINLINE_FUNCTION void store(MatrixType const& A, std::size_t row,
                                         T const& tile) const {
    Scalar* const to = A.data() + offset(A, row);
    if constexpr (access == Access::guarded) {
      for (int j = 0; j < Width; ++j)
        if (j < columns) to[j] = tile[j];
    } else if constexpr (access == Access::packed) {
      Pack<Scalar> packed;
      for (int j = 0; j < Width; ++j) packed.entry[j] = tile[j];
      if constexpr (once)
        stream_pack(to, &packed);
      else
        *reinterpret_cast<Pack<Scalar>*>(to) = packed;
    } else if constexpr (access == Access::streamed) {
      static_assert(sizeof tile % line_bytes == 0, "A streamed tile is whole lines.");
      for (std::size_t at = 0; at < sizeof tile; at += line_bytes)
        stream_line(reinterpret_cast<char*>(to) + at, reinterpret_cast<char const*>(&tile) + at);
    } else {
      auto const parts = reinterpret_cast<typename T::Part::Type*>(to);
      for (int k = 0; k < T::parts; ++k) parts[k] = tile.part[k];
    }
  }

 private:
  template <class MatrixType>
  KOKKOS_FORCEINLINE_FUNCTION std::size_t offset(MatrixType const& A, std::size_t row) const {
    if constexpr (access == Access::tight) return row * Width;
    if constexpr (access ==
                  Access::packed)  // a multiplication of 32 bits each where row has as few
      return row * static_cast<std::uint32_t>(A.stride_0()) + first;
    return row * A.stride_0() + first;
  }
};

/// Nonzeros of a chunk. Fixed by the space and the size alone, never by the number of threads: the
/// chunks decide the order of additions.
template <class ExecutionSpace>
Position chunk_length(Position nnz) {
  if (is_gpu<ExecutionSpace>) return nnz < (Position{1} << 22) ? 128 : 256;
  Position const length = (nnz / 512 + 127) / 128 * 128;  // at least some hundred chunks
  return length < 128 ? 128 : length > 4096 ? 4096 : length;
}

template <class Function, int... values>
void for_each_constant(std::integer_sequence<int, values...>, Function const& function) {
  (function(std::integral_constant<int, values>{}), ...);
}

/// Tile widths that a CPU kernel is compiled for: `fine`, every multiple of four up to 32, so that
/// any rank is one pass over the nonzeros; `coarse`, 8 and 32, for kernels that are not the fastest
/// anyway. Compile time is proportional to their number.
enum class TileWidths { coarse, fine };

/// Calls run(width constant, access constant, first column, number of tiles) so that the tiles of
/// all calls cover `columns` columns. On CPUs: tiles of 32, then tiles of the width that remains in
/// steps of four or eight, then guarded ones for what is left. On GPUs: 16 bytes each.
template <class ExecutionSpace, class Scalar, TileWidths widths, class Run>
void for_column_tiles(std::size_t columns, bool aligned, Run const& run) {
  using Packed = std::integral_constant<Access, Access::packed>;
  using Whole = std::integral_constant<Access, Access::whole>;
  using Guarded = std::integral_constant<Access, Access::guarded>;
  auto call = [&](auto width, auto access, std::size_t first, std::size_t tiles) {
    if (tiles > 0) run(width, access, first, tiles);
  };
  if constexpr (is_gpu<ExecutionSpace>) {
    constexpr int pack = 16 / sizeof(Scalar);
    constexpr std::integral_constant<int, pack> width{};
    std::size_t const packed = aligned ? columns / pack : 0;
    call(width, Packed{}, 0, packed);
    call(width, Guarded{}, packed * pack, (columns - packed * pack + pack - 1) / pack);
  } else {
    static_cast<void>(aligned);
    constexpr int widest = 32;
    call(std::integral_constant<int, widest>{}, Whole{}, 0, columns / widest);
    std::size_t first = columns / widest * widest;
    if constexpr (widths == TileWidths::fine) {
      std::size_t const quads = (columns - first) / 4;
      for_each_constant(std::integer_sequence<int, 1, 2, 3, 4, 5, 6, 7>{}, [&](auto count) {
        call(std::integral_constant<int, 4 * count>{}, Whole{}, first, quads == count ? 1 : 0);
      });
      first += quads * 4;
    } else {
      std::size_t const eights = (columns - first) / 8;
      call(std::integral_constant<int, 8>{}, Whole{}, first, eights);
      first += eights * 8;
    }
    call(std::integral_constant<int, 4>{}, Guarded{}, first, (columns - first + 3) / 4);
  }
}

/// Calls run(width constant) where rows of this stride are one tile of the widths above.
template <class Run>
bool for_tight_tile(std::size_t stride, Run const& run) {
  bool found = false;
  for_each_constant(std::integer_sequence<int, 1, 2, 3, 4, 5, 6, 7, 8>{}, [&](auto count) {
    if (stride != static_cast<std::size_t>(4 * count())) return;
    run(std::integral_constant<int, 4 * count>{});
    found = true;
  });
  return found;
}

}  // namespace sporades::detail
