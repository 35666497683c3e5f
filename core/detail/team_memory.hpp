// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/kokkos.hpp>

namespace sporades::detail {

/// How many teams run at once, and where each has memory of its own.
struct TeamMemory {
  int teams;        // at most
  bool in_scratch;  // in scratch memory; else in what the caller allocates, on GPUs 1 GiB in all
};

/// For teams of so many threads that need so many bytes each; on hosts never in scratch memory.
template <class ExecutionSpace>
TeamMemory team_memory(ExecutionSpace const& exec, std::size_t bytes, int threads) {
  int const teams = std::max(1, static_cast<int>(exec.concurrency()) / threads);
  if constexpr (is_gpu<ExecutionSpace>) {
    std::size_t const most = Kokkos::TeamPolicy<ExecutionSpace>::scratch_size_max(0);
    if (bytes + 256 <= most) return {teams, true};
    std::size_t const fit = (std::size_t{1} << 30) / bytes;
    return {std::max(1, static_cast<int>(std::min<std::size_t>(teams, fit))), false};
  }
  return {teams, false};
}

}  // namespace sporades::detail
