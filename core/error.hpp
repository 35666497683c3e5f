// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace sporades {

/// A bad argument or bad input. The message is one sentence: what was expected, what came, and
/// where. Thrown before any work begins. The command exits with status 2.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A failure during a run, such as a full disk or a lack of memory. The command exits with
/// status 1.
class RunError : public Error {
 public:
  using Error::Error;
};

namespace detail {

/// All parts written one after another, numbers with up to 17 digits.
template <class... Parts>
std::string concatenate(Parts const&... parts) {
  std::ostringstream text;
  text.precision(17);
  (text << ... << parts);
  return text.str();
}

}  // namespace detail

/// Throws Error; the message is all parts written one after another.
template <class... Parts>
[[noreturn]] void fail(Parts const&... parts) {
  throw Error(detail::concatenate(parts...));
}

/// Throws Error unless the condition holds; the message is all parts written one after another:
///   expects(V.extent(0) == X.dim(n), "mttkrp: V has ", V.extent(0), " rows, mode ", n, " has ",
///   ...)
template <class... Parts>
void expects(bool holds, Parts const&... parts) {
  if (!holds) fail(parts...);
}

}  // namespace sporades
