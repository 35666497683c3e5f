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

/// A signal that is ignored, as in the background of a shell, stays so.
void take_over(int signal) {
  struct sigaction before = {};
  sigaction(signal, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;
  struct sigaction action = {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigaction(signal, &action, nullptr);
}

void give_back(int signal) {
  struct sigaction now = {};
  sigaction(signal, nullptr, &now);
  if (now.sa_handler == note_signal) std::signal(signal, SIG_DFL);
}

}  // namespace

SignalScope::SignalScope() {
  signal_received = 0;
  take_over(SIGINT);
  take_over(SIGTERM);
}

SignalScope::~SignalScope() {
  give_back(SIGINT);
  give_back(SIGTERM);
}

int SignalScope::received() const {
  return signal_received;
}

}  // namespace sporades::command
