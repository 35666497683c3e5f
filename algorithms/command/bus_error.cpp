// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unistd.h>

#include <csignal>
#include <sporades/algorithms/command/bus_error.hpp>
#include <string_view>

namespace sporades::command {
namespace {

void end_process(int signal, siginfo_t* info, void*) {
  if (info->si_code <= 0) {  // a process has sent the signal
    std::signal(signal, SIG_DFL);
    raise(signal);
    return;
  }
  constexpr std::string_view text =
      "sporades: error: a file in memory cannot be loaded or stored: its disk fails, or another "
      "program has cut the file off\n";
  [[maybe_unused]] auto const written = write(STDERR_FILENO, text.data(), text.size());
  _exit(1);
}

}  // namespace

void end_on_bus_error() {
  struct sigaction action = {};
  action.sa_sigaction = end_process;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace sporades::command
