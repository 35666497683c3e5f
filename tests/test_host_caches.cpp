// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <filesystem>
#include <fstream>
#include <sporades/core/detail/host_caches.hpp>
#include <support/catch.hpp>

TEST_CASE("the caches of a host are read from the system's files", "[core][host_caches]") {
  auto const folder = std::filesystem::temp_directory_path() / "sporades_test_host_caches";
  std::filesystem::remove_all(folder);
  auto const add = [&](int k, char const* level, char const* type, char const* size) {
    auto const index = folder / ("index" + std::to_string(k));
    std::filesystem::create_directories(index);
    std::ofstream(index / "level") << level << '\n';
    std::ofstream(index / "type") << type << '\n';
    std::ofstream(index / "size") << size << '\n';
  };
  add(0, "1", "Data", "48K");
  add(1, "1", "Instruction", "16K");
  add(2, "2", "Unified", "3M");
  add(3, "3", "Unified", "65536K");
  auto const caches = sporades::detail::read_host_caches(folder.string());
  CHECK(caches.first_level == 48 << 10);
  CHECK(caches.second_level == 3 << 20);
  std::filesystem::remove_all(folder);
  auto const otherwise = sporades::detail::read_host_caches(folder.string());
  CHECK(otherwise.first_level >= 1024);
  CHECK(otherwise.second_level > otherwise.first_level);
}
