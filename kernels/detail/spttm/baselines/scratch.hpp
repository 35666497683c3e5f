// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/spttm/baselines/thread_grid.hpp>

namespace sporades::detail {

/// A team is a block of threads, columns x fibers. A block of columns of each fiber's row is summed
/// in the team's scratch memory (a GPU's shared memory) and written once. On hosts a team is one
/// thread, which does the work of all, and takes the columns of a nonzero together.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
struct ScratchSpttm {
  using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
  using Member = typename Policy::member_type;
  using Rows =
      Kokkos::View<Scalar**, Kokkos::LayoutRight, typename ExecutionSpace::scratch_memory_space,
                   Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  FiberProduct<Scalar, Index, MemorySpace> product;
  int a_row;  // threads of a row
  int fibers_of_team;

  KOKKOS_FUNCTION void operator()(Member const& team) const {
    Rows const y(team.team_scratch(0), fibers_of_team, a_row);
    Position const first = static_cast<Position>(team.league_rank()) * fibers_of_team;
    for (int block = 0; block < product.columns(); block += a_row)
      if constexpr (is_gpu<ExecutionSpace>)
        sum_block(team, y, first, block);
      else
        for (int t = 0; t < fibers_of_team && first + t < product.fibers(); ++t)
          sum_fiber(&y(t, 0), first + t, block);
  }

  /// The columns from `block` on, as lines 7 to 17 of the algorithm have it.
  KOKKOS_FORCEINLINE_FUNCTION void sum_block(Member const& team, Rows const& y, Position first,
                                             int block) const {
    int const x = team.team_rank() % a_row, t = team.team_rank() / a_row, r = block + x;
    Position const f = first + static_cast<Position>(t);
    bool const is_there = f < product.fibers() && r < product.columns();
    y(t, x) = 0;
    team.team_barrier();
    if (is_there)
      for (Position p = product.begin(f); p < product.begin(f + 1); ++p)
        y(t, x) += product.values(p) * product.U(product.index(p), r);
    team.team_barrier();
    if (is_there) product.V(f, r) = y(t, x);
    team.team_barrier();
  }

  /// What the threads of one fiber do, on hosts. sums: a_row numbers.
  KOKKOS_FORCEINLINE_FUNCTION void sum_fiber(Scalar* sums, Position f, int block) const {
    int const left = product.columns() - block, width = left < a_row ? left : a_row;
    for (int c = 0; c < width; ++c) sums[c] = 0;
    for (Position p = product.begin(f); p < product.begin(f + 1); ++p) {
      Scalar const value = product.values(p);
      Scalar const* const row = &product.U(product.index(p), block);
      for (int c = 0; c < width; ++c) sums[c] += value * row[c];
    }
    for (int c = 0; c < width; ++c) product.V(f, block + c) = sums[c];
  }
};

/// Strategy `scratch`, a baseline that `automatic` never takes: Ma et al. 2018, Algorithm 4.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void spttm_scratch(ExecutionSpace const& exec,
                   FiberProduct<Scalar, Index, MemorySpace> const& product,
                   ThreadBlock const& block = {}) {
  using Functor = ScratchSpttm<ExecutionSpace, Scalar, Index, MemorySpace>;
  int const a_row = block.of_row(product.columns());
  int const fibers_of_team = block.threads / a_row;
  int const team_size = is_gpu<ExecutionSpace> ? fibers_of_team * a_row : 1;
  Position const teams = chunks_of(product.fibers(), fibers_of_team);
  if (teams == 0) return;
  auto const bytes = static_cast<int>(Functor::Rows::shmem_size(fibers_of_team, a_row));
  auto policy = team_policy<typename Functor::Policy>(exec, teams, team_size);
  policy.set_scratch_size(0, Kokkos::PerTeam(bytes));
  Functor const functor{product, a_row, fibers_of_team};
  int const most = policy.team_size_max(functor, Kokkos::ParallelForTag{});
  expects(team_size <= most, "spttm: strategy scratch takes blocks of up to ", most,
          " threads here, not ", team_size);
  Kokkos::parallel_for("sporades::spttm::scratch", policy, functor);
}

}  // namespace sporades::detail
