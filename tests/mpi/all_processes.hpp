// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <sporades/core/communicator.hpp>

namespace sporades::test {

/// What main() ends.
inline std::optional<Communicator> kept_processes;

/// The communicator of tests that neither count its traffic nor end it: NCCL takes a second or two
/// to make one.
inline Communicator const& all_processes() {
  if (!kept_processes) kept_processes.emplace(MPI_COMM_WORLD);
  return *kept_processes;
}

}  // namespace sporades::test
