// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/command/arguments.hpp>

namespace sporades::command {

/// `info` of a file that is a model: see is_model_file. Returns the exit status.
int model_info(InfoArguments const& arguments);

}  // namespace sporades::command
