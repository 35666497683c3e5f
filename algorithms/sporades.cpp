// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The sporades command: starts MPI where there are several processes, and Kokkos, runs the
/// subcommand that the command line names, and turns what is thrown into one line on standard error
/// and an exit status (2: bad usage or input, 1: a failure while running).

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <sporades/algorithms/command/bus_error.hpp>
#include <sporades/algorithms/command/memory.hpp>
#include <sporades/algorithms/command/parse.hpp>
#include <sporades/algorithms/command/processes.hpp>
#include <sporades/algorithms/command/runtime.hpp>
#include <sporades/core/detail/processes/exchange.hpp>
#include <sporades/core/error.hpp>
#include <sporades/core/spin_limit.hpp>
#include <string>
#include <vector>

namespace sporades::command {
namespace {

int run(int argc, char** argv) {
  auto [own, kokkos] = split_arguments(argc, argv);
  Parsed const parsed = parse(own);
  int status = parsed.status;
  if (parsed.threads > 0) kokkos.push_back(threads_option(parsed.threads));
  if (parsed.run) {
    KokkosScope const scope(argv[0], kokkos);
    status = parsed.run();
  }
  bool const written = std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout.flush();
  if (!written && status < 128)  // a run that a signal ended may have lost its terminal
    throw RunError("standard output cannot be written");
  if (parsed.run) warn_of_copies();
  return status;
}

/// Functions of the library begin their messages with their names: the subcommand's takes its
/// place, except where the word is an argument, as a file's name may be.
std::string in_words_of_user(std::string const& message, std::vector<std::string> const& typed) {
  constexpr char const* letters = "abcdefghijklmnopqrstuvwxyz_";
  auto const end = message.find_first_not_of(letters);
  if (end == std::string::npos || message.compare(end, 2, ": ") != 0) return message;
  auto const is_typed = [&](std::string const& word) {
    return std::find(typed.begin(), typed.end(), word) != typed.end();
  };
  if (is_typed(message.substr(0, end))) return message;
  for (char const* subcommand :
       {"cp-als", "cp-apr", "gcp", "tucker", "complete", "generate", "convert", "info", "view",
        "evaluate", "score", "predict", "split"})
    if (is_typed(subcommand)) return subcommand + message.substr(end);
  return message;
}

/// A file that is opened must not get the number of a standard stream that is closed, or what is
/// printed would go into it; and a file past the limit of its size is an error like any other.
void keep_streams_apart() {
  int opened = 0;
  while (opened >= 0 && opened <= STDERR_FILENO) opened = open("/dev/null", O_RDWR);
  if (opened > STDERR_FILENO) close(opened);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace
}  // namespace sporades::command

int main(int argc, char** argv) {
  using namespace sporades;
  command::keep_streams_apart();
  limit_spinning(argv);  // may begin the program again, which MPI would not survive
  command::ProcessesScope const scope(argc, argv);
  command::end_on_bus_error();  // after MPI, which has a handler of its own
  auto const report_error = [&](std::string const& message, int status) {
    std::fflush(stdout);
    command::tell("error: " + command::in_words_of_user(message, {argv + 1, argv + argc}));
    return status;
  };
  auto const run = [&] {
    try {
      return detail::together(command::processes(), [&] { return command::run(argc, argv); });
    } catch (RunError const& error) {
      return report_error(error.what(), 1);
    } catch (Error const& error) {
      return report_error(error.what(), 2);
    } catch (std::exception const& error) {
      bool const in_memory = command::says_memory_ran_out(error);
      return report_error(
          in_memory ? "memory ran out: " + command::memory_sentence(error) : error.what(), 1);
    }
  };
  return scope.agreed(run());
}
