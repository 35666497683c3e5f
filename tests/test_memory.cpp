// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sporades/core/matrix.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>

namespace {

/// The flags that Linux shows for the mapping of this process that holds the address; none where it
/// shows no flags at all.
std::string mapping_flags(void const* address) {
  auto const wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &begin, &end) == 2)
      inside = begin <= wanted && wanted < end;
    else if (inside && line.rfind("VmFlags:", 0) == 0)
      return line + " ";
  }
  return {};
}

TEST_CASE("large Views on the host ask for huge pages", "[core][memory]") {
  int const here = 0;
  bool const shows_flags = !mapping_flags(&here).empty();
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage") || !shows_flags) return;
  Kokkos::DefaultHostExecutionSpace const exec{};
  std::size_t const entries = std::size_t{1} << 21;
  auto const view =
      sporades::uninitialized<sporades::Vector<double, Kokkos::HostSpace>>(exec, "view", entries);
  auto const A = sporades::make_matrix<float>(exec, "A", entries / 3, 3);
  exec.fence();
  CHECK(mapping_flags(&view(entries / 2)).find(" hg ") != std::string::npos);
  CHECK(mapping_flags(&A(entries / 6, 0)).find(" hg ") != std::string::npos);
}

TEMPLATE_LIST_TEST_CASE("zeroed fills what memory held before", "[core][memory]",
                        sporades::test::Cases) {
  using View = sporades::Vector<typename TestType::Scalar, typename TestType::MemorySpace>;
  auto const exec = sporades::test::new_instance<typename TestType::ExecutionSpace>();
  for (int round = 0; round < 2; ++round) {  // the second is likely to get the first one's memory
    auto const view = sporades::zeroed<View>(exec, "view", 1000);
    auto const host = Kokkos::create_mirror_view(view);
    Kokkos::deep_copy(exec, host, view);
    exec.fence();
    for (std::size_t i = 0; i < host.size(); ++i) REQUIRE(host(i) == 0);
    Kokkos::deep_copy(exec, view, 7);
    exec.fence();
  }
}

}  // namespace
