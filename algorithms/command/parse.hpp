// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// From the command line to the subcommand that it names, with that one's arguments.

#include <functional>
#include <string>
#include <vector>

namespace sporades::command {

/// The subcommand that was chosen, or none where the parser has answered itself (help, version).
struct Parsed {
  std::function<int()> run;
  int status = 0;
  int threads = 0;  // 0: Kokkos' own choice
};

/// The arguments are those after the program's name, less Kokkos' own. Throws Error for what the
/// command does not take.
Parsed parse(std::vector<std::string> arguments);

}  // namespace sporades::command
