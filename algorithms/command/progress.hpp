// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace sporades::command {

/// A line on standard error that is written over again, and gone before anything else is said. It
/// is cut to the width of the terminal.
class Progress {
 public:
  /// mode: auto (where standard error is a terminal), always or never.
  explicit Progress(std::string const& mode);
  ~Progress() { clear(); }
  Progress(Progress const&) = delete;
  Progress& operator=(Progress const&) = delete;

  void show(std::string const& text);
  void clear();

 private:
  bool enabled_;
  bool shown_ = false;
};

}  // namespace sporades::command
