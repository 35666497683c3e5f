// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Main program of all tests: Kokkos runs around the Catch2 session. Kokkos takes its own options
/// (--kokkos-...), Catch2 gets the others. Whatever the machine, choices are those for caches of
/// 32 KiB and 2 MiB.

#include <algorithm>
#include <sporades/core/detail/host_caches.hpp>
#include <sporades/core/detail/kokkos.hpp>
#include <string>
#include <support/run_tests.hpp>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  sporades::detail::host_caches() = {32 << 10, 2 << 20};
  auto const is_for_kokkos = [](char const* option) {
    return std::string(option).rfind("--kokkos-", 0) == 0;
  };
  auto* const end = std::remove_if(argv + 1, argv + argc, is_for_kokkos);
  return sporades::test::run_tests(static_cast<int>(end - argv), argv);
}
