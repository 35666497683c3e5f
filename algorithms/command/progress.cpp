// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sporades/algorithms/command/progress.hpp>
#include <string_view>

namespace sporades::command {
namespace {

bool is_terminal() {
  char const* const kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && (kind == nullptr || std::string_view(kind) != "dumb");
}

}  // namespace

Progress::Progress(std::string const& mode)
    : enabled_(mode == "always" || (mode == "auto" && is_terminal())) {}

void Progress::show(std::string const& text) {
  if (!enabled_) return;
  std::fflush(stdout);  // lines that came before stand before
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace sporades::command
