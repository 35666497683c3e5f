// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/spttm/baselines/thread_grid.hpp>

namespace sporades::detail {

/// A team is a block of (threads of a row) x (fibers): vector lanes are columns, team members
/// fibers. A block of columns of each fiber's row is summed in the team's scratch memory (a GPU's
/// shared memory) and written once.
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
    for (int block = 0; block < product.columns(); block += a_row) {
      int const left = product.columns() - block;
      int const width = left < a_row ? left : a_row;
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, fibers_of_team), [&](int t) {
        if (first + t >= product.fibers()) return;
        Position const f = first + t;
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, width), [&](int c) { y(t, c) = 0; });
        for (Position p = product.begin(f); p < product.begin(f + 1); ++p)
          Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, width), [&](int c) {
            y(t, c) += product.values(p) * product.U(product.index(p), block + c);
          });
      });
      team.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, fibers_of_team), [&](int t) {
        if (first + t >= product.fibers()) return;
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, width),
                             [&](int c) { product.V(first + t, block + c) = y(t, c); });
      });
      team.team_barrier();
    }
  }
};

/// Strategy `scratch`, a baseline that `automatic` never takes: Ma et al. 2018, Algorithm 4.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void spttm_scratch(ExecutionSpace const& exec,
                   FiberProduct<Scalar, Index, MemorySpace> const& product,
                   ThreadBlock const& block = {}) {
  using Functor = ScratchSpttm<ExecutionSpace, Scalar, Index, MemorySpace>;
  int const lanes = is_gpu<ExecutionSpace> ? block.row : 1;
  int const a_row = is_gpu<ExecutionSpace> ? block.row : block.of_row(product.columns());
  int const fibers_of_team = block.threads / block.row;
  int const team_size = is_gpu<ExecutionSpace> ? fibers_of_team : 1;
  Position const teams = chunks_of(product.fibers(), fibers_of_team);
  if (teams == 0) return;
  expects(teams <= static_cast<Position>(std::numeric_limits<int>::max()),
          "spttm: strategy scratch takes at most 2^31 teams, not ", teams);
  auto const bytes = static_cast<int>(Functor::Rows::shmem_size(fibers_of_team, a_row));
  typename Functor::Policy policy(exec, static_cast<int>(teams), team_size, lanes);
  // The pool is not used: where it is 0, Kokkos 4.6 on CUDA allocates it anew in every launch.
  policy.set_scratch_size(0, Kokkos::PerTeam(bytes)).set_scratch_size(1, Kokkos::PerTeam(8));
  Functor const functor{product, a_row, fibers_of_team};
  int const most = policy.team_size_max(functor, Kokkos::ParallelForTag{});
  expects(team_size <= most, "spttm: strategy scratch takes teams of up to ", most, " times ",
          lanes, " threads here, not ", team_size);
  Kokkos::parallel_for("sporades::spttm::scratch", policy, functor);
}

}  // namespace sporades::detail
