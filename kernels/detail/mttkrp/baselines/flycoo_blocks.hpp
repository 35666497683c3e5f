// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/tile.hpp>
#include <sporades/kernels/detail/nonzeros/flycoo.hpp>

/// Strategy `flycoo_blocks`, a baseline: Algorithms 2 to 5 of [Wij24] as they are written. `flycoo`
/// is our own kernel on the same format. Departures from the paper:
/// - Where R P threads are more than a team may have, a thread works on several columns or
///   nonzeros; the paper has one P for each R.
/// - On hosts a thread takes a partition, nonzero by nonzero, and adds without atomics.
/// - Indices take the bits that their modes need, and there are no remap ids but those of the next
///   mode (FlycooTensor), so fewer bytes are moved.

namespace sporades::detail {

/// Algorithms 2 and 3 for one nonzero.
template <class NonzerosType, class Memory>
struct FlycooElement {
  using Nonzeros = NonzerosType;
  using Scalar = typename Nonzeros::Scalar;
  using Entry = typename Nonzeros::Entry;

  Nonzeros nonzeros;
  RawMatrix<Scalar, Memory> V;                   // zeroed
  RawVector<Position const, Memory> partitions;  // κ + 1: the first nonzero of each, and the end
  MoveRecords<Memory> move;                      // to the order of the next mode
  bool moves;                                    // or the nonzeros stay where they are

  KOKKOS_FORCEINLINE_FUNCTION Scalar term(Entry const& entry, std::size_t r) const {
    Scalar product = entry.value;
    for (int m = 0; m < nonzeros.modes(); ++m)
      product *= nonzeros.factors[m](nonzeros.index(entry, m), r);
    return product;
  }
  KOKKOS_FORCEINLINE_FUNCTION void remap(Position p) const {
    if (moves) move(p);
  }
};

/// Algorithm 4: a team takes a partition. Its threads are rows x columns; a column of them works on
/// one nonzero, and the last of a column moves it.
template <class ExecutionSpace, class Element>
struct FlycooBlock {
  static constexpr std::size_t most_threads = 1024;
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, TeamBounds<ExecutionSpace, most_threads, 1>>;

  Element element;
  std::size_t R, P, rows;

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& member) const {
    auto const z = static_cast<Position>(member.league_rank());
    auto const thread = static_cast<std::size_t>(member.team_rank());
    auto const columns = static_cast<std::size_t>(member.team_size()) / rows;
    std::size_t const row = thread % rows, column = thread / rows;
    Position const end = element.partitions(z + 1);
    for (Position first = element.partitions(z); first < end; first += P)
      for (std::size_t t = column; t < P && first + t < end; t += columns) {
        auto const entry = element.nonzeros.fetch(first + t);
        for (std::size_t r = row; r < R; r += rows)
          atomic_add_in_team(&element.V(entry.row, r), element.term(entry, r));
        if (row + 1 == rows) element.remap(first + t);
      }
  }
};

/// On hosts an item is a partition.
template <class Element>
struct FlycooPartition {
  Element element;
  std::size_t R;

  KOKKOS_FUNCTION void operator()(Position z) const {
    auto const local = element;  // which stores cannot change
    for (Position p = local.partitions(z); p < local.partitions(z + 1); ++p) {
      auto const entry = local.nonzeros.fetch(p);
      auto* const sums = &local.V(entry.row, 0);
      for (std::size_t r = 0; r < R; ++r) sums[r] += local.term(entry, r);
      local.remap(p);
    }
  }
};

/// MTTKRP on X.mode. moves: leaves X's nonzeros in spare, in the order of the next mode.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_flycoo_blocks(ExecutionSpace const& exec,
                          FlycooTensor<Scalar, Index, MemorySpace> const& X,
                          Factors<Scalar, MemorySpace> const& A,
                          Matrix<Scalar, MemorySpace> const& V, bool moves) {
  char const* const label = "sporades::mttkrp::flycoo_blocks";
  auto const partitions = X.modes[X.mode].partitions;
  Position const teams = partitions.extent(0) - 1;
  std::size_t const R = V.extent(1);
  fill_view(exec, V, Scalar(0));
  if (X.nnz() == 0 || R == 0) return;
  with_unrolled_modes<Index>(X.order() - 1, [&](auto others) {
    using Nonzeros = LongFlycooNonzeros<Scalar, Index, MemorySpace, others()>;
    using Element = FlycooElement<Nonzeros, MemorySpace>;
    Element const element{with_factors<Nonzeros>(X, A, 0), V, partitions, move_to_next(X), moves};
    if constexpr (is_gpu<ExecutionSpace>) {
      using Block = FlycooBlock<ExecutionSpace, Element>;
      auto const P = static_cast<std::size_t>(X.parallel);
      std::size_t const rows = std::min<std::size_t>(R, Block::most_threads),
                        columns = std::min(P, Block::most_threads / rows);
      auto const policy =
          team_policy<typename Block::Policy>(exec, teams, static_cast<int>(rows * columns));
      Kokkos::parallel_for(label, policy, Block{element, R, P, rows});
    } else {
      launch_unequal_items(exec, label, teams, FlycooPartition<Element>{element, R});
    }
  });
}

}  // namespace sporades::detail
