// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace sporades::test {

/// MPI's requests and communicators that this process has made and not given back, one line for
/// each function of MPI and test case that made some.
std::vector<std::string> open_mpi_objects();

}  // namespace sporades::test
