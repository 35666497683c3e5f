// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/column_tiles.hpp>

namespace sporades::detail {

/// True where rows of V are written past the caches: whole lines, too many to be read from there
/// afterwards. `piece`: columns that are written together.
template <class ExecutionSpace, class Scalar, class MemorySpace>
bool streams_rows(Matrix<Scalar, MemorySpace> const& V, std::size_t piece) {
  constexpr std::size_t line = line_bytes / sizeof(Scalar), least_bytes = 32u << 20;
  return !is_gpu<ExecutionSpace> && V.extent(0) * V.extent(1) * sizeof(Scalar) >= least_bytes &&
         reinterpret_cast<std::uintptr_t>(V.data()) % line_bytes == 0 && V.stride(0) % line == 0 &&
         piece % line == 0;
}

/// The tiles of columns in which rows, of fibers or of pi, are written, of at most `widest` columns
/// on CPUs.
template <int widest = 32>
struct FiberTiles {
  std::size_t columns;
  bool aligned;         // GPUs: rows allow 16-byte tiles
  bool streams;         // see streams_rows
  Position groups = 1;  // each of which takes all tiles

  /// Calls run(width, access, first column, number of tiles of all groups) so that all columns are
  /// covered; where may_stream, `streamed` takes the place of `whole` if that is asked for.
  template <class ExecutionSpace, class Scalar, bool may_stream, class Run>
  void for_each(Run const& run) const {
    for_column_tiles<ExecutionSpace, Scalar, TileWidths::fine, widest>(
        columns, aligned, [&](auto width, auto access, std::size_t first, Position tiles) {
          if constexpr (may_stream && access() == Access::whole &&
                        width() * sizeof(Scalar) % line_bytes == 0)
            if (streams)
              return run(width, std::integral_constant<Access, Access::streamed>{}, first,
                         tiles * groups);
          run(width, access, first, tiles * groups);
        });
  }
};

}  // namespace sporades::detail
