// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/algorithms/detail/cp_apr/row_kernels.hpp>
#include <sporades/core/detail/team_memory.hpp>

namespace sporades::detail {

/// Lanes that share a row's nonzeros: threads of a team.
template <class ExecutionSpace>
inline constexpr int row_lanes = is_gpu<ExecutionSpace> ? 8 : 1;

/// Doubles a team in which a short row keeps the pi of its nonzeros from one evaluation to the
/// next, where they fit: half a MiB on CPUs.
template <class ExecutionSpace>
inline constexpr Position stored_pi = is_gpu<ExecutionSpace> ? 0 : Position{1} << 16;

/// How solve_rows launches its kernels.
struct RowLaunch {
  int threads = 1;                // of a team
  int width = 1;                  // vector lanes of a thread
  int teams = 1;                  // at most
  bool in_scratch = false;        // teams have their own memory in scratch memory
  std::size_t scratch_bytes = 0;  // a team, where they do
};

/// The launch of a kernel whose objective's R and lanes are set.
template <class ExecutionSpace, class Kernel>
RowLaunch row_launch(ExecutionSpace const& exec, Kernel const& kernel) {
  constexpr bool on_gpu = is_gpu<ExecutionSpace>;
  RowLaunch launch;
  launch.threads = kernel.objective.lanes;
  while (on_gpu && launch.width < 32 && launch.width < kernel.objective.R) launch.width *= 2;
  std::size_t const bytes = kernel.team_doubles() * sizeof(double);
  auto const own = team_memory(exec, bytes, launch.threads * launch.width);
  launch.teams = own.teams;
  launch.in_scratch = own.in_scratch;
  if (own.in_scratch) launch.scratch_bytes = bytes;
  return launch;
}

/// The parts of the memory that solve_rows takes in one piece, in this order. Offsets are in
/// doubles.
template <class ExecutionSpace, class Kernel>
struct RowMemory {
  std::size_t teams = 0;    // each team's own memory, unless it is in scratch memory
  std::size_t pi = 0;       // each team's stored pi
  std::size_t vectors = 0;  // of each long row
  std::size_t partial = 0;  // what each segment of a long row found
  std::size_t scalars = 0;  // of each long row: RowScalars
  std::size_t size = 0;

  RowMemory(Kernel const& kernel, RowLaunch const& launch, std::size_t long_rows,
            std::size_t segments) {
    auto const count = static_cast<std::size_t>(launch.teams);
    pi = teams + (launch.in_scratch ? 0 : count * kernel.team_doubles());
    vectors = pi + count * stored_pi<ExecutionSpace>;
    partial = vectors + long_rows * kernel.vector_doubles();
    scalars = partial + segments * kernel.partial_doubles();
    size = scalars + (long_rows * sizeof(RowScalars) + sizeof(double) - 1) / sizeof(double);
  }
};

}  // namespace sporades::detail
