// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/hierarchical_tensor.hpp>
#include <sporades/kernels/detail/work_items.hpp>

namespace sporades::detail {

/// Threads of a block, and at most so many of them for a row: N_TB and N_TR of Ma et al. 2018, who
/// tune them, as perf/spttm.cpp does. On GPUs `scratch` takes powers of two. The size of a range
/// policy's blocks on the device is Kokkos' choice: there, these only say which threads are
/// neighbours.
struct ThreadBlock {
  int threads = 256;
  int row = 16;

  /// Threads a row for R columns.
  int of_row(std::size_t R) const {
    return R < static_cast<std::size_t>(row) ? static_cast<int>(R) : row;
  }
};

/// What the paper's strategies read and write.
template <class Scalar, class Index, class MemorySpace>
struct FiberProduct {
  RawVector<Position const, MemorySpace> begin;  // fibers + 1
  RawVector<Index const, MemorySpace> index;     // nnz
  RawVector<Scalar const, MemorySpace> values;   // nnz
  RawMatrix<Scalar const, MemorySpace> U;        // I_n x R
  RawMatrix<Scalar, MemorySpace> V;              // fibers x R

  FiberProduct(HierarchicalTensor<Scalar, Index, MemorySpace> const& X,
               Matrix<Scalar, MemorySpace> const& matrix, Matrix<Scalar, MemorySpace> const& output)
      : begin(X.fibers.begin), index(X.fibers.index), values(X.values), U(matrix), V(output) {}

  KOKKOS_FORCEINLINE_FUNCTION Position fibers() const { return V.extent(0); }
  KOKKOS_FORCEINLINE_FUNCTION int columns() const { return static_cast<int>(V.extent(1)); }
};

/// A grid of two-dimensional blocks of threads, as the work items of a flat range: neighbours in x
/// are neighbouring items, and so, on GPUs, threads of one warp.
struct ThreadGrid {
  int x, y;  // of a block

  struct Thread {
    Position block;
    int x, y;
  };
  KOKKOS_FORCEINLINE_FUNCTION Thread thread(Position item) const {
    int const place = static_cast<int>(item % static_cast<Position>(x * y));
    return {item / static_cast<Position>(x * y), place % x, place / x};
  }
};

/// Launches functor on blocks of x * y threads, which take `fibers_of_block` fibers.
template <class ExecutionSpace, class Functor>
void launch_grid(ExecutionSpace const& exec, char const* label, Position fibers,
                 int fibers_of_block, Functor const& functor) {
  auto const threads = static_cast<Position>(functor.grid.x * functor.grid.y);
  launch_items(exec, label, chunks_of(fibers, fibers_of_block) * threads, functor);
}

}  // namespace sporades::detail
