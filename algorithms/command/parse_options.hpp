// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What the files that define subcommands' options share; the parser's library is not included by
/// others.

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <sporades/algorithms/command/arguments.hpp>
#include <sporades/algorithms/command/number_option.hpp>

namespace sporades::command {

/// The entry of the subcommand that the command line names, with its arguments.
using Run = std::function<int()>;

void add_read_options(CLI::App& app, ReadArguments& read);
void add_precision(CLI::App& app, std::string& precision);
void add_quiet(CLI::App& app, bool& quiet);
/// --missing, with which values of 0 are read as they are given.
void add_missing(CLI::App& app, DecomposeArguments& common, bool& missing);

/// The options that gcp alone has.
void add_gcp_options(CLI::App& app, GcpArguments& gcp);

/// And complete.
void add_complete_options(CLI::App& app, CompleteArguments& complete);

/// The options that `ranks` alone has, for any method.
void add_ranks_options(CLI::App& app, DecomposeArguments& common, RanksArguments& ranks);

/// Subcommands: each sets `run` where the command line names it.
void add_methods(CLI::App& app, Run& run);
void add_convert(CLI::App& app, Run& run);
void add_view(CLI::App& app, Run& run);
void add_evaluate(CLI::App& app, Run& run);
void add_score(CLI::App& app, Run& run);
void add_predict(CLI::App& app, Run& run);
void add_split(CLI::App& app, Run& run);

}  // namespace sporades::command
