// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

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

/// A part of a message. It does not own its text.
using MessagePart = std::variant<std::string_view, char, double, std::int64_t, std::uint64_t>;

template <class Part>
MessagePart message_part(Part const& part) {
  if constexpr (std::is_convertible_v<Part const&, std::string_view>)
    return std::string_view(part);
  else if constexpr (std::is_same_v<Part, char>)
    return part;
  else if constexpr (std::is_floating_point_v<Part>)
    return static_cast<double>(part);
  else if constexpr (std::is_signed_v<Part>)
    return static_cast<std::int64_t>(part);
  else {
    static_assert(std::is_unsigned_v<Part>, "The parts of a message are text and numbers.");
    return static_cast<std::uint64_t>(part);
  }
}

std::string concatenated(std::initializer_list<MessagePart> parts);
[[noreturn]] void fail_with(std::initializer_list<MessagePart> parts);

/// All parts, text and numbers, written one after another, numbers with up to 17 digits.
template <class... Parts>
std::string concatenate(Parts const&... parts) {
  return concatenated({message_part(parts)...});
}

}  // namespace detail

/// Throws Error; the message is all parts written one after another.
template <class... Parts>
[[noreturn]] void fail(Parts const&... parts) {
  detail::fail_with({detail::message_part(parts)...});
}

/// Throws Error unless the condition holds; the message is all parts written one after another:
///   expects(V.extent(0) == X.dim(n), "mttkrp: V has ", V.extent(0), " rows, mode ", n, " has ",
///   ...)
template <class... Parts>
void expects(bool holds, Parts const&... parts) {
  if (!holds) fail(parts...);
}

}  // namespace sporades
