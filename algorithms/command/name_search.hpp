// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/command/labels.hpp>
#include <sporades/algorithms/command/models.hpp>

namespace sporades::command {

/// Which components hold a name, the strongest first: a line for each, under a line for each index
/// that has the name. Where a mode has no names, its indices are, from 1. Of a Tucker model the
/// columns of its mode. Throws Error, with names that contain it, if none is the name.
std::string holders_text(AnyModel const& model, Labels const& labels, std::string const& name);

}  // namespace sporades::command
