// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sporades/algorithms/command/processes.hpp>
#include <sporades/algorithms/command/signals.hpp>

namespace sporades::command {
namespace {

constexpr int heeded[] = {SIGINT, SIGTERM, SIGHUP};

std::sig_atomic_t volatile signal_received = 0, speaks_on_signal = 1;

void note_signal(int signal);

/// The signals that note_signal has end the process again. Calls what a handler may call.
void give_back() {
  for (int const signal : heeded) {
    struct sigaction action = {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler != note_signal) continue;
    action = {};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
  }
}

/// Runs on any thread, also inside LAPACK, and so calls nothing that may hold a lock.
void note_signal(int signal) {
  int const error = errno;
  signal_received = signal;
  give_back();
  char const text[] = ": stopping after this iteration; a second signal ends the run at once\n";
  char const* const name = signal_name(signal);
  char line[128] = "sporades: ";
  std::strcat(std::strcat(line, name), text);
  [[maybe_unused]] auto const written =
      speaks_on_signal ? write(STDERR_FILENO, line, std::strlen(line)) : 0;
  errno = error;
}

/// A signal that is ignored, as in the background of a shell or under nohup, stays so.
void take_over(int signal) {
  struct sigaction before = {};
  sigaction(signal, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;
  struct sigaction action = {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  for (int const other : heeded) sigaddset(&action.sa_mask, other);  // one handler at a time
  sigaction(signal, &action, nullptr);
}

}  // namespace

char const* signal_name(int signal) {
  return signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
}

SignalScope::SignalScope() {
  signal_received = 0;
  speaks_on_signal = speaks();
  for (int const signal : heeded) take_over(signal);
}

SignalScope::~SignalScope() {
  give_back();
}

int SignalScope::received() const {
  return signal_received;
}

}  // namespace sporades::command
