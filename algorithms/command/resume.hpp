// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace sporades::command {

/// Gives each option of the subcommand that the command line left out the value that it had in the
/// checkpoint's run. A fact belongs to the option of its name, except that `dims` is the tensor's,
/// and `given-dims` belongs to --dims. Throws Error where the file is not a whole checkpoint, or is
/// of another algorithm than the subcommand.
void take_options_of_checkpoint(CLI::App& subcommand, std::string const& checkpoint);

}  // namespace sporades::command
