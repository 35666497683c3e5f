// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/scoo_tensor.hpp>
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
  static constexpr int parts = 1;
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

/// Strategy `lanes`: chunks of nonzeros x tiles of columns. Fences exec where X is out of core.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void spttm_lanes(ExecutionSpace const& exec,
                 HierarchicalTensor<Scalar, Index, MemorySpace> const& X,
                 Matrix<Scalar, MemorySpace> const& U,
                 ScooTensor<Scalar, Index, MemorySpace> const& Y,
                 CarryBuffers<Scalar, Position, MemorySpace>& carry) {
  using Operands = FiberOperands<Scalar, Index, MemorySpace>;
  constexpr std::size_t item_bytes = sizeof(Index) + sizeof(Scalar);
  bool const is_out_of_core = X.out_of_core != nullptr;
  Matrix<Scalar, MemorySpace> const values(X.values.data(), X.nnz(), 1);
  Operands const all{X.fibers,       values,         Y.values,
                     is_out_of_core, is_out_of_core, Y.out_of_core_values != nullptr};
  sum_fibers(exec, all, item_bytes, carry,
             [&](auto const& instance, Operands const& part, ItemRange range) {
               RawVector<Scalar const, MemorySpace> const entries(part.values.data(), X.nnz());
               MatrixTerms<Scalar, Index, MemorySpace> const terms{part.fibers.index, entries, U};
               FiberTiles<> const tiles{part.V.extent(1),
                                        rows_are_aligned(U) && rows_are_aligned(part.V),
                                        streams_rows<ExecutionSpace>(part.V, part.V.extent(1))};
               sum_fibers_of(instance, "sporades::spttm::lanes", terms, part.fibers, part.V,
                             item_bytes, carry, tiles, range);
             });
}

}  // namespace sporades::detail
