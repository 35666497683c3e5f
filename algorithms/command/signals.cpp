// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <csignal>
#include <sporades/algorithms/command/signals.hpp>

namespace sporades::command {
namespace {

std::sig_atomic_t volatile signal_received = 0;

void note_signal(int signal) {
  signal_received = signal;
}

}  // namespace

SignalScope::SignalScope() {
  signal_received = 0;
  struct sigaction action = {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

SignalScope::~SignalScope() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

int SignalScope::received() const {
  return signal_received;
}

}  // namespace sporades::command
