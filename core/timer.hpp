// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <sporades/core/detail/kokkos.hpp>
#include <sporades/core/detail/region.hpp>
#include <string>

namespace sporades {
namespace detail {

/// Wall-clock seconds since it was made or reset.
class Timer {
 public:
  void reset() { begin_ = Clock::now(); }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace detail

/// What the launches of one kernel took together.
struct KernelTime {
  double seconds = 0;
  std::uint64_t calls = 0;
};

namespace detail {

/// Seconds and calls of a method's phases by label. A phase's time starts and ends with a fence of
/// the instance, so that work which is only enqueued is counted where it belongs. That costs a few
/// microseconds a call and the overlap of host and device, and so is switched off by default.
class KernelTimes {
 public:
  explicit KernelTimes(bool enabled = false) : enabled_(enabled) {}

  /// Calls work() in a region of this name for Kokkos Tools, and adds its time to the label's.
  template <class ExecutionSpace, class Work>
  void measure(ExecutionSpace const& exec, std::string const& label, Work const& work) {
    Region const region(label);
    if (!enabled_) {
      work();
      return;
    }
    fence(exec, "sporades::timer::before");
    Timer const timer;
    work();
    fence(exec, "sporades::timer::after");
    auto& entry = by_label_[label];
    entry.seconds += timer.seconds();
    ++entry.calls;
  }

  std::map<std::string, KernelTime> const& by_label() const { return by_label_; }

 private:
  bool enabled_;
  std::map<std::string, KernelTime> by_label_;
};

}  // namespace detail
}  // namespace sporades
