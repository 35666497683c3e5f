// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/rounded.hpp>
#include <sporades/core/detail/streaming.hpp>
#include <sporades/core/detail/tile.hpp>
#include <sporades/core/types.hpp>
#include <type_traits>
#include <utility>

/// Rows are read and written in tiles of neighbouring columns that live in registers. On GPUs a
/// tile is 16 bytes, or as many as 16 bytes hold of numbers in fewer bits, so that neighbouring
/// threads read neighbouring tiles and a factor row is one coalesced load. On CPUs it is as much of
/// the row as registers hold, and the compiler vectorises over it.

namespace sporades::detail {

/// How a tile of a row is loaded and stored.
enum class Access {
  packed,    // in loads and stores of 16 bytes that must be aligned: GPUs
  whole,     // all columns, which the compiler makes vectors of: CPUs
  tight,     // as whole, where rows are exactly one tile long, padding included
  streamed,  // as whole, and stored past the caches in whole cache lines
  guarded    // column by column, up to the last one of the matrix
};

/// Columns first to first + Width of a matrix, row by row.
template <class Scalar, int Width, Access access>
struct TileColumns {
  using T = Tile<Scalar, Width>;
  static_assert(access != Access::packed || Width * sizeof(Scalar) % 16 == 0,
                "A packed tile is whole units of 16 bytes.");

  static constexpr int width = Width;
  static constexpr bool is_packed = access == Access::packed;

  std::size_t first;
  int columns;  // of the matrix from `first` on: fewer than Width only where guarded

  KOKKOS_FORCEINLINE_FUNCTION bool holds(int j) const {
    return access != Access::guarded || j < columns;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::size_t column(int j) const { return first + j; }

  /// A: of Scalar, or of what Scalar was rounded to.
  template <class MatrixType>
  KOKKOS_FORCEINLINE_FUNCTION T load(MatrixType const& A, std::size_t row) const {
    using From = typename MatrixType::non_const_value_type;
    From const* const from = A.data() + offset(A, row);
    if constexpr (access == Access::guarded) {
      T tile;
      for (int j = 0; j < Width; ++j) tile.set(j, j < columns ? number(from[j]) : Scalar(0));
      return tile;
    } else if constexpr (std::is_same_v<From, Scalar>) {
      return load_tile<Scalar, Width, is_packed>(from);
    } else {
      return load_tile_of<Scalar, Width, is_packed>(from);
    }
  }

  /// once: it is not read again soon.
  template <bool once = false, class MatrixType>
  KOKKOS_FORCEINLINE_FUNCTION void store(MatrixType const& A, std::size_t row,
                                         T const& tile) const {
    Scalar* const to = A.data() + offset(A, row);
    if constexpr (access == Access::guarded) {
      for (int j = 0; j < Width; ++j)
        if (j < columns) to[j] = tile[j];
    } else if constexpr (is_packed && once) {
      Pack<Scalar> pack;
      static_assert(sizeof pack == sizeof tile, "A streamed tile is 16 bytes.");
      store_tile<Scalar, Width, true>(tile, pack.entry);
      stream_pack(to, &pack);
    } else if constexpr (access == Access::streamed) {
      static_assert(sizeof tile % line_bytes == 0, "A streamed tile is whole lines.");
      for (std::size_t at = 0; at < sizeof tile; at += line_bytes)
        stream_line(reinterpret_cast<char*>(to) + at, reinterpret_cast<char const*>(&tile) + at);
    } else {
      store_tile<Scalar, Width, is_packed>(tile, to);
    }
  }

 private:
  static KOKKOS_FORCEINLINE_FUNCTION Scalar number(Scalar value) { return value; }
  template <class From>
  static KOKKOS_FORCEINLINE_FUNCTION Scalar number(From value) {
    return static_cast<Scalar>(to_float(value));
  }
  template <class MatrixType>
  KOKKOS_FORCEINLINE_FUNCTION std::size_t offset(MatrixType const& A, std::size_t row) const {
    if constexpr (access == Access::tight) return row * Width;
    if constexpr (is_packed)  // a multiplication of 32 bits each where row has as few
      return row * static_cast<std::uint32_t>(A.stride(0)) + first;
    return row * A.stride(0) + first;
  }
};

/// Calls run(constant) with the one of the values that `value` equals; false where it is none.
template <int... values, class Run>
bool with_constant(int value, Run const& run) {
  return ((value == values && (run(std::integral_constant<int, values>{}), true)) || ...);
}

template <class Run, int... values>
bool with_constant(std::integer_sequence<int, values...>, int value, Run const& run) {
  return with_constant<values...>(value, run);
}

/// Calls run(constant) with the one of 0 to count - 1 that `value` equals; false where it is none.
template <int count, class Run>
bool with_constant_below(int value, Run const& run) {
  return with_constant(std::make_integer_sequence<int, count>{}, value, run);
}

/// Calls run(constant) with `columns` if that is a multiple of four up to 32: a width of tiles that
/// are whole rows, on CPUs. Else returns false.
template <class Run>
bool with_row_width(std::size_t columns, Run const& run) {
  return columns <= 32 &&
         with_constant<4, 8, 12, 16, 20, 24, 28, 32>(static_cast<int>(columns), run);
}

/// Tile widths that a CPU kernel is compiled for: `fine`, every multiple of four up to the widest,
/// so that any rank up to that is one pass over the nonzeros; `medium`, the widest, 16 and 8;
/// `coarse`, the widest and 8, for kernels that are not the fastest anyway. Compile time is
/// proportional to their number.
enum class TileWidths { coarse, medium, fine };

/// Calls run(width constant, access constant, first column, number of tiles) so that the tiles of
/// all calls cover `columns` columns.
/// CPUs: tiles of the widest kind, then tiles of the width that remains in steps of four or eight,
/// then guarded ones for what is left.
/// GPUs: gpu_width columns each, guarded past the last whole tile, or all where rows are not
/// `aligned`.
template <class ExecutionSpace, class Scalar, TileWidths widths, int widest = 32,
          int gpu_width = 16 / sizeof(Scalar), class Run>
void for_column_tiles(std::size_t columns, bool aligned, Run const& run) {
  using Guarded = std::integral_constant<Access, Access::guarded>;
  auto call = [&](auto width, auto access, std::size_t first, std::size_t tiles) {
    if (tiles > 0) run(width, access, first, tiles);
  };
  if constexpr (is_gpu<ExecutionSpace>) {
    constexpr std::integral_constant<int, gpu_width> width{};
    std::size_t const packed = aligned ? columns / width() : 0, first = packed * width();
    call(width, std::integral_constant<Access, Access::packed>{}, 0, packed);
    call(width, Guarded{}, first, (columns - first + width() - 1) / width());
  } else {
    static_cast<void>(aligned);
    constexpr std::integral_constant<Access, Access::whole> whole{};
    constexpr std::integral_constant<int, widest> wide{};
    call(wide, whole, 0, columns / widest);
    std::size_t first = columns / widest * widest;
    if constexpr (widths == TileWidths::fine) {
      static_assert(widest == 16 || widest == 32, "Widths in between are written out here.");
      int const rest = static_cast<int>((columns - first) / 4 * 4);
      auto const once = [&](auto width) { run(width, whole, first, std::size_t{1}); };
      if constexpr (widest == 16)
        with_constant<4, 8, 12>(rest, once);
      else
        with_constant<4, 8, 12, 16, 20, 24, 28>(rest, once);
      first += static_cast<std::size_t>(rest);
    } else {
      if constexpr (widths == TileWidths::medium) {
        std::size_t const sixteens = (columns - first) / 16;
        call(std::integral_constant<int, 16>{}, whole, first, sixteens);
        first += sixteens * 16;
      }
      constexpr std::integral_constant<int, 8> eight{};
      std::size_t const eights = (columns - first) / 8;
      call(eight, whole, first, eights);
      first += eights * 8;
    }
    call(std::integral_constant<int, 4>{}, Guarded{}, first, (columns - first + 3) / 4);
  }
}

}  // namespace sporades::detail
