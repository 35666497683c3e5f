// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <sporades/core/detail/kokkos.hpp>
#include <string_view>

namespace sporades::fuzzing {

/// Kokkos, started once and left to the end of the process.
inline void start_kokkos() {
  static auto* const guard = [] {
    static char name[] = "fuzz";
    static char* arguments[] = {name, nullptr};
    static int count = 1;
    return new Kokkos::ScopeGuard(count, arguments);
  }();
  static_cast<void>(guard);
}

/// Takes bytes from the begin of the input, to choose options by; zeros when there are no more.
class Choices {
 public:
  Choices(std::uint8_t const* data, std::size_t size)
      : rest_(reinterpret_cast<char const*>(data), size) {}

  unsigned next() {
    if (rest_.empty()) return 0;
    unsigned const byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// Ends the process, so that the fuzzer keeps the input, unless the condition holds.
inline void require(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace sporades::fuzzing
