// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/launch.hpp>
#include <sporades/core/detail/sort.hpp>
#include <sporades/core/matrix.hpp>
#include <sporades/kernels/detail/work_items.hpp>

namespace sporades::detail {

/// Algorithm 5 of Ma et al. 2018: a chunk is a fiber of Z. On GPUs a block of threads takes it, as
/// section 5 has it: a thread an entry of Z, or several in turn where there are more than a block
/// may have threads.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
struct SspttmChunks {
  static constexpr int most_threads = 1024;
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, TeamBounds<ExecutionSpace, most_threads, 1>>;

  RawVector<Position const, MemorySpace> begin;   // fibers + 1
  RawVector<Index const, MemorySpace> index;      // blocks of Y, in the fibers' order
  RawVector<Position const, MemorySpace> blocks;  // rows of Y; none where the order is Y's
  RawMatrix<Scalar const, MemorySpace> Y;         // blocks x their entries
  RawMatrix<Scalar const, MemorySpace> U;         // I_n x R
  RawMatrix<Scalar, MemorySpace> Z;               // fibers x R times the entries of Y's blocks

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& member) const {
    auto const f = static_cast<Position>(member.league_rank());
    std::size_t const size = Y.extent(1), entries = size * U.extent(1);
    for (auto e = static_cast<std::size_t>(member.team_rank()); e < entries;
         e += static_cast<std::size_t>(member.team_size())) {
      std::size_t const c = e / size, k = e % size;
      Scalar sum = 0;
      for (Position j = begin(f); j < begin(f + 1); ++j) sum += U(index(j), c) * Y(row(j), k);
      Z(f, e) = sum;
    }
  }

  /// On hosts, the chunk of fiber f, in the order of the algorithm's loops.
  KOKKOS_FUNCTION void operator()(Position f) const {
    auto const local = *this;  // which stores cannot change
    std::size_t const size = local.Y.extent(1), R = local.U.extent(1);
    Scalar* const z = &local.Z(f, 0);
    for (std::size_t e = 0; e < size * R; ++e) z[e] = 0;
    for (Position j = local.begin(f); j < local.begin(f + 1); ++j) {
      Scalar const* const u = &local.U(local.index(j), 0);
      Scalar const* const y = &local.Y(local.row(j), 0);
      for (std::size_t c = 0; c < R; ++c)
        for (std::size_t k = 0; k < size; ++k) z[c * size + k] += u[c] * y[k];
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION Position row(Position j) const {
    return blocks.extent(0) > 0 ? blocks(j) : j;
  }
};

/// Strategy `chunks`, a baseline.
template <class ExecutionSpace, class Fibers, class Scalar, class MemorySpace>
void sspttm_chunks(ExecutionSpace const& exec, Fibers const& fibers,
                   Permutation<MemorySpace> const& blocks, Matrix<Scalar, MemorySpace> const& Y,
                   Matrix<Scalar, MemorySpace> const& U, Matrix<Scalar, MemorySpace> const& Z) {
  char const* const label = "sporades::sspttm::chunks";
  using Index = typename decltype(fibers.index)::non_const_value_type;
  using Kernel = SspttmChunks<ExecutionSpace, Scalar, Index, MemorySpace>;
  if (Z.extent(0) == 0 || Z.extent(1) == 0) return;
  Kernel const kernel{fibers.begin, fibers.index, blocks, Y, U, Z};
  if constexpr (is_gpu<ExecutionSpace>) {
    int const threads = static_cast<int>(
        std::min<std::size_t>(chunks_of(Z.extent(1), 32) * 32, Kernel::most_threads));
    Kokkos::parallel_for(label, team_policy<typename Kernel::Policy>(exec, Z.extent(0), threads),
                         kernel);
  } else {
    launch_unequal_items(exec, label, Z.extent(0), kernel);
  }
}

}  // namespace sporades::detail
