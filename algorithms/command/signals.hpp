// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace sporades::command {

/// While this lives, the first SIGINT or SIGTERM is only noted, so that an iteration can end; a
/// second one kills as usual. One at a time.
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
