// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/command/arguments.hpp>

namespace sporades::command {

/// Prints what an iteration of CP-ALS would exchange, hold and take on each number of processes
/// that `info --processes` names, without running it there. Collective: where there are several
/// processes, they measure the network first, and the first one does the rest.
int expected(InfoArguments const& arguments);

}  // namespace sporades::command
