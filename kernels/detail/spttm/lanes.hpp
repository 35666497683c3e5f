// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/spttm/sum_fibers.hpp>

namespace sporades::detail {

/// A tile of the columns of U and V.
template <class Scalar, int Width, Access access_>
struct MatrixColumns {
  using T = Tile<Scalar, Width>;
  static constexpr int parts = 1;
  static constexpr Access access = access_;

  TileColumns<Scalar, Width, access> tile;

  KOKKOS_FORCEINLINE_FUNCTION auto const& part(int) const { return tile; }
};

/// The terms of SpTTM: a value times a row of U.
template <class ScalarType, class Index, class MemorySpace>
struct MatrixTerms {
  using Scalar = ScalarType;
  struct Entry {
    Index index;
    Scalar value;
  };
  RawVector<Index const, MemorySpace> index;    // nnz
  RawVector<Scalar const, MemorySpace> values;  // nnz
  RawMatrix<Scalar const, MemorySpace> U;       // I_n x R

  template <int Width, Access access>
  using Columns = MatrixColumns<Scalar, Width, access>;

  /// The place-th tile.
  template <int Width, Access access>
  KOKKOS_FORCEINLINE_FUNCTION Columns<Width, access> columns(WalkShape const& shape,
                                                             Position place) const {
    return {shape.template tile_at<TileColumns<Scalar, Width, access>>(place)};
  }
  template <int Width, Access access, class Use>
  KOKKOS_FORCEINLINE_FUNCTION void for_columns(WalkShape const& shape, Position item,
                                               Use const& use) const {
    use(columns<Width, access>(shape, item % shape.tiles));
  }
  KOKKOS_FORCEINLINE_FUNCTION Entry fetch(Position p) const { return {index(p), values(p)}; }
  /// The entry that another lane has fetched.
  KOKKOS_FORCEINLINE_FUNCTION Entry of(VectorLanes const& lanes, int lane, Entry const& own) const {
    return {lanes.of(lane, own.index), lanes.of(lane, own.value)};
  }
  template <class Tiles>
  KOKKOS_FORCEINLINE_FUNCTION auto row(Entry const& entry, Tiles const& tiles) const {
    return tiles.tile.load(U, entry.index);
  }
  template <class Tiles>
  KOKKOS_FORCEINLINE_FUNCTION Scalar factor(Entry const& entry, Tiles const&, int) const {
    return entry.value;
  }
};

/// Strategy `lanes`: chunks of nonzeros x tiles of columns. is_far: V is in far memory. Fences exec
/// where X is.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void spttm_lanes(ExecutionSpace const& exec,
                 HierarchicalTensor<Scalar, Index, MemorySpace> const& X,
                 Matrix<Scalar, MemorySpace> const& U, Matrix<Scalar, MemorySpace> const& V,
                 bool is_far, CarryBuffers<Scalar, Position, MemorySpace>& carry) {
  constexpr std::size_t item_bytes = sizeof(Index) + sizeof(Scalar);
  if (X.nnz() == 0) return;
  reserve_carry(exec, X.fibers, V.extent(1), item_bytes, carry);
  auto const walk = [&](auto const& instance,
                        HierarchicalTensor<Scalar, Index, MemorySpace> const& part,
                        Matrix<Scalar, MemorySpace> const& rows, ItemRange range) {
    MatrixTerms<Scalar, Index, MemorySpace> const terms{part.fibers.index, part.values, U};
    FiberTiles<> const tiles{V.extent(1), rows_are_aligned(U) && rows_are_aligned(rows),
                             streams_rows<ExecutionSpace>(rows, V.extent(1))};
    sum_fibers_of(instance, "sporades::spttm::lanes", terms, part.fibers, rows, item_bytes, carry,
                  tiles, range);
  };
  if (X.far)
    for_fiber_windows(exec, X, V, is_far, fiber_chunk_length<ExecutionSpace>(X.nnz(), item_bytes),
                      takes_whole_fibers<ExecutionSpace>(X.nnz(), X.fibers.longest), carry.windows,
                      walk);
  else
    walk(exec, X, V, ItemRange{0, X.nnz()});
  finish_fibers(exec, X.fibers, V, item_bytes, carry);
}

}  // namespace sporades::detail
