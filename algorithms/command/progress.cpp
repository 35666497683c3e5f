// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sporades/algorithms/command/processes.hpp>
#include <sporades/algorithms/command/progress.hpp>
#include <sporades/algorithms/command/text.hpp>
#include <string_view>

namespace sporades::command {
namespace {

bool is_terminal() {
  char const* const kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && (kind == nullptr || std::string_view(kind) != "dumb");
}

/// Columns of the terminal, or what COLUMNS says where standard error is none; 0: not known.
int columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  char const* const told = std::getenv("COLUMNS");
  return told == nullptr ? 0 : std::atoi(told);
}

}  // namespace

Progress::Progress(std::string const& mode)
    : enabled_(speaks() && (mode == "always" || (mode == "auto" && is_terminal()))) {}

void Progress::show(std::string const& text) {
  if (!enabled_) return;
  std::fflush(stdout);          // lines that came before stand before
  int const width = columns();  // in full lines the cursor may stand on the next one
  std::fprintf(stderr, "\r\033[K%s", (width > 1 ? cut_to(text, width - 1) : text).c_str());
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
