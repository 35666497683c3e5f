// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/hierarchical_tensor.hpp>
#include <sporades/kernels/detail/work_items.hpp>

namespace sporades::detail {

/// Threads of a block, and at most so many of them for a row: N_TB and N_TR of Ma et al. 2018.
inline constexpr int block_threads = 256;
inline constexpr int row_threads = 16;

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

/// Threads a row for R columns.
inline int threads_of_row(std::size_t R) {
  return R < row_threads ? static_cast<int>(R) : row_threads;
}

/// Launches functor on blocks of block_threads threads, of which each fiber takes `a_row`.
template <class ExecutionSpace, class Functor>
void launch_grid(ExecutionSpace const& exec, char const* label, Position fibers, int a_row,
                 Functor const& functor) {
  Position const fibers_of_block = block_threads / a_row;
  launch_items(exec, label, chunks_of(fibers, fibers_of_block) * fibers_of_block * a_row, functor);
}

}  // namespace sporades::detail
