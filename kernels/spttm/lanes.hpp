// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/spttm/fiber_walk.hpp>

namespace sporades::detail {

/// The terms of SpTTM: a value times a row of U.
template <class Scalar, class Index, class MemorySpace>
struct MatrixTerms {
  struct Entry {
    Index index;
    Scalar value;
  };
  RawVector<Index const, MemorySpace> index;    // nnz
  RawVector<Scalar const, MemorySpace> values;  // nnz
  RawMatrix<Scalar const, MemorySpace> U;       // I_n x R

  template <int Width, Access access>
  KOKKOS_FORCEINLINE_FUNCTION auto columns(WalkShape const& shape, Position item) const {
    return shape.template tile<TileColumns<Scalar, Width, access>>(item);
  }
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION Entry fetch(Position p, Columns const&) const {
    return {index(p), values(p)};
  }
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto row(Entry const& entry, Columns const& columns) const {
    return columns.load(U, entry.index);
  }
};

/// Strategy `lanes`: chunks of nonzeros x tiles of columns (DESIGN §7).
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void spttm_lanes(ExecutionSpace const& exec,
                 HierarchicalTensor<Scalar, Index, MemorySpace> const& X,
                 Matrix<Scalar, MemorySpace> const& U, Matrix<Scalar, MemorySpace> const& V,
                 CarryBuffers<Scalar, Position, MemorySpace>& carry) {
  MatrixTerms<Scalar, Index, MemorySpace> const terms{X.fibers.index, X.values, U};
  bool const aligned = rows_are_aligned(U) && rows_are_aligned(V);
  sum_fibers(exec, "sporades::spttm::lanes", terms, X.fibers, V, carry, [&](auto const& run) {
    for_column_tiles<ExecutionSpace, Scalar, TileWidths::fine>(V.extent(1), aligned, run);
  });
}

}  // namespace sporades::detail
