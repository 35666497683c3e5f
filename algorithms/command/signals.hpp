// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace sporades::command {

/// "SIGINT", of one that SignalScope heeds.
char const* signal_name(int signal);

/// While this lives, the first SIGINT, SIGTERM or SIGHUP is only noted, and answered on standard
/// error at once, so that an iteration can end; a second one of any kind kills as usual. One at a
/// time.
class SignalScope {
 public:
  SignalScope();
  ~SignalScope();
  SignalScope(SignalScope const&) = delete;
  SignalScope& operator=(SignalScope const&) = delete;

  /// The signal that came, or 0.
  int received() const;
};

}  // namespace sporades::command
