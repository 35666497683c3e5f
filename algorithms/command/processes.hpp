// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <sporades/core/communicator.hpp>
#include <string>

namespace sporades::command {

/// While this lives, processes() are those that mpirun or its like started together; only the first
/// one's standard output is seen. Where nothing of this kind started the command, MPI is left
/// alone.
class ProcessesScope {
 public:
  ProcessesScope(int argc, char** argv);
  ~ProcessesScope();
  ProcessesScope(ProcessesScope const&) = delete;
  ProcessesScope& operator=(ProcessesScope const&) = delete;

  /// The greatest exit status of all processes. Collective.
  int agreed(int status) const;

 private:
  bool is_mpi_ = false;
};

/// The processes that run this command: this one alone, unless there is a ProcessesScope.
Communicator const& processes();

/// Whether this process is the one that speaks for all on standard error.
bool speaks();

/// Prints "sporades: " and the text as a line on standard error, once for all processes.
void tell(std::string const& text);

/// The sum of what all processes have, or the greatest. Collective.
std::uint64_t sum_of_all(std::uint64_t here);
std::uint64_t greatest_of_all(std::uint64_t here);

/// What all processes exchanged, by name: messages and bytes of all, and the seconds of the one
/// that it took longest. Empty where there is one process. Collective.
std::map<std::string, Traffic> traffic_of_all();

/// Throws Error where there are several processes, which `what` has no use for.
void expect_one_process(char const* what);

/// Warns where several processes were started together and MPI does not join them.
void warn_of_copies();

/// Throws Error where several processes were started together and MPI does not join them: each
/// would write the file that the option names.
void expect_one_writer(std::string const& option, std::string const& path);

}  // namespace sporades::command
