// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/nonzeros/flycoo.hpp>
#include <sporades/kernels/detail/row_walk.hpp>

/// Strategy `flycoo`: Algorithms 2 to 5 of [Wij24]. Departures from them:
/// - A team's P threads for a column each take a piece, neighbouring nonzeros that are summed in
///   order in registers, where the paper takes P nonzeros at a time and adds them up atomically in
///   the team's memory. Rows that pieces share are added in order by reduce_carries: the bits are
///   the same on every run, and long rows stall no team.
/// - The nonzeros are moved in a pass of their own (remap). In the same pass five tensors took 1.2
///   times as long on two cores, as both want the caches; on an H200, where both want the requests
///   of the second-level cache, 0.87 to 1.06 times, and up to a tenth more memory, as pieces have
///   to be short for what is written to lie in few cache lines.

namespace sporades::detail {

/// How a walk takes pieces of unequal lengths.
template <class MemorySpace>
struct PieceShape : WalkShape {
  RawVector<Position const, MemorySpace> pieces;  // beginnings, and the end

  KOKKOS_FORCEINLINE_FUNCTION Position begin(Position item) const { return pieces(chunk(item)); }
  KOKKOS_FORCEINLINE_FUNCTION Position end(Position item, Position) const {
    return pieces(chunk(item) + 1);
  }
};

/// On hosts an item is a team, which takes its pieces and their tiles one after another.
template <class Walk>
struct FlycooItem {
  Walk walk;
  Position items, team;  // of the walk, in all and for a team

  KOKKOS_FUNCTION void operator()(Position k) const {
    auto const local = walk;  // which stores cannot change
    for (Position i = k * team; i < items && i < (k + 1) * team; ++i) local(i);
  }
};

/// On GPUs a team has a thread for each of its pieces x tiles.
template <class ExecutionSpace, class Walk>
struct FlycooTeam {
  static constexpr int threads = 256;
  // In float, with one or two other modes, 80 registers are enough, and a third team hides more of
  // the loads' latency.
  static constexpr bool is_small =
      sizeof(typename Walk::Scalar) == 4 && (Walk::others == 1 || Walk::others == 2);
  using Policy =
      Kokkos::TeamPolicy<ExecutionSpace, TeamBounds<ExecutionSpace, threads, is_small ? 3 : 2>>;

  Walk walk;
  Position items;

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& member) const {
    Position const i =
        static_cast<Position>(member.league_rank()) * member.team_size() + member.team_rank();
    if (i < items) walk(i);
  }
};

/// MTTKRP on X.mode. split: the modes before it that are multiplied once a run of nonzeros that
/// agree in them.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_flycoo(ExecutionSpace const& exec, FlycooTensor<Scalar, Index, MemorySpace> const& X,
                   Factors<Scalar, MemorySpace> const& A, Matrix<Scalar, MemorySpace> const& V,
                   int split, CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  char const* const label = "sporades::mttkrp::flycoo";
  auto const& mode = X.modes[X.mode];
  if (X.nnz() == 0 || mode.rows < X.dims[X.mode]) fill_view(exec, V, Scalar(0));
  if (X.nnz() == 0) return;
  Position const pieces = mode.pieces.extent(0) - 1, chunks = mode.shares_rows ? pieces : 0;
  carry.reserve(exec, chunks, V.extent(1));
  auto const sums = row_sums(V, carry, chunks);
  with_flycoo_nonzeros(X, A, split, [&](auto const& nonzeros, auto depth) {
    using Nonzeros = std::decay_t<decltype(nonzeros)>;
    constexpr TileWidths widths =
        Nonzeros::other_modes == any_number ? TileWidths::coarse : TileWidths::medium;
    for_column_tiles<ExecutionSpace, Scalar, widths>(
        V.extent(1), all_rows_aligned(A, X.mode, V),
        [&](auto width, auto access, std::size_t first, Position tiles) {
          using Shape = PieceShape<MemorySpace>;
          using Walk = RowWalk<Nonzeros, std::decay_t<decltype(sums)>, width(), access(), depth(),
                               batch<ExecutionSpace>, ProductTerms, Shape>;
          Walk const walk{{}, nonzeros, sums, Shape{{0, first, V.extent(1), tiles}, mode.pieces}};
          Position const items = pieces * tiles, team = static_cast<Position>(X.parallel) * tiles;
          if constexpr (is_gpu<ExecutionSpace>) {
            using Team = FlycooTeam<ExecutionSpace, Walk>;
            auto const threads = std::min<Position>(chunks_of(team, 32) * 32, Team::threads);
            typename Team::Policy const policy(exec, static_cast<int>(chunks_of(items, threads)),
                                               static_cast<int>(threads), 1);
            Kokkos::parallel_for(label, policy, Team{walk, items});
          } else {
            launch_unequal_items(exec, label, chunks_of(items, team),
                                 FlycooItem<Walk>{walk, items, team});
          }
        });
  });
  reduce_carries(exec, V, carry, chunks);
}

}  // namespace sporades::detail

#include <sporades/eti/flycoo.hpp>
