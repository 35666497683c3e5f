// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/hierarchical_tensor.hpp>
#include <sporades/kernels/detail/work_items.hpp>

namespace sporades::detail {

/// Threads of a block, and at most so many of them for a row: N_TB and N_TR of Ma et al. 2018, who
/// tune them, as perf/spttm.cpp does.
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

/// On GPUs a team is a block of threads.
template <class ExecutionSpace, class Functor>
struct GridTeam {
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, TeamBounds<ExecutionSpace, 1024, 1>>;

  Functor functor;

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& member) const {
    functor(static_cast<Position>(member.league_rank()) * member.team_size() + member.team_rank());
  }
};

/// Launches functor on blocks of x * y threads, which take `fibers_of_block` fibers.
template <class ExecutionSpace, class Functor>
void launch_grid(ExecutionSpace const& exec, char const* label, Position fibers,
                 int fibers_of_block, Functor const& functor) {
  int const threads = functor.grid.x * functor.grid.y;
  Position const blocks = chunks_of(fibers, fibers_of_block);
  if constexpr (is_gpu<ExecutionSpace>) {
    using Team = GridTeam<ExecutionSpace, Functor>;
    if (blocks > 0)
      Kokkos::parallel_for(label, team_policy<typename Team::Policy>(exec, blocks, threads),
                           Team{functor});
  } else {
    launch_items(exec, label, blocks * static_cast<Position>(threads), functor);
  }
}

}  // namespace sporades::detail
