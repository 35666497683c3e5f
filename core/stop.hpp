// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <sporades/core/error.hpp>

namespace sporades {

/// Says whether a long computation shall end at once. Empty: never.
using StopCheck = std::function<bool()>;

/// Thrown where a StopCheck said so. Of several processes the others get RunError, and no function
/// can use their communicator after that: see Communicator. An observer stops all of them in order.
class Stopped : public RunError {
 public:
  Stopped() : RunError("stopped from outside") {}
};

namespace detail {

/// Throws Stopped if the check says so. A check is cheap, and is asked between parts that take
/// long, on the thread that called the algorithm.
inline void throw_if_stopped(StopCheck const& stop) {
  if (stop && stop()) throw Stopped();
}

}  // namespace detail
}  // namespace sporades
