// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <sporades/core/detail/cgroups.hpp>
#include <string>
#include <support/catch.hpp>

namespace {

TEST_CASE("quotas of processors of cgroups of both versions are seen", "[core][cgroups]") {
  namespace fs = std::filesystem;
  constexpr double none = std::numeric_limits<double>::infinity();
  auto const root = fs::temp_directory_path() / ("sporades-cpu-" + std::to_string(getpid()));
  auto const write = [&](std::string const& path, std::string const& text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text << "\n";
  };
  auto const processors = [&](std::string const& self) {
    write("self", self);
    return sporades::detail::cgroup_processors(root.string(), (root / "self").string());
  };
  write("a/cpu.max", "max 100000");
  write("a/b/cpu.max", "300000 100000");
  write("a/b/c/cpu.max", "400000 50000");
  write("a/b/d/cpu.max", "50000 100000");
  write("cpu/e/cpu.cfs_quota_us", "-1");
  write("cpu/e/cpu.cfs_period_us", "100000");
  write("cpu/e/f/cpu.cfs_quota_us", "150000");
  write("cpu/e/f/cpu.cfs_period_us", "100000");
  CHECK(processors("0::/") == none);
  CHECK(processors("0::/a") == none);
  CHECK(processors("0::/a/b") == 3);
  CHECK(processors("0::/a/b/c") == 3);  // 8 of those of the group above it
  CHECK(processors("0::/a/b/d") == 0.5);
  CHECK(processors("0::/a/b/x/y") == 3);  // a folder that cannot be seen from here
  CHECK(processors("4:cpu:/e") == none);
  CHECK(processors("4:memory:/e/f") == none);
  CHECK(processors("4:cpu,cpuacct:/e/f\n0::/a/b") == 1.5);
  CHECK(processors("4:cpuacct,cpu:/elsewhere\n0::/a/b") == 3);
  write("cpu/cpu.cfs_quota_us", "25000");  // a container's own, as its root
  write("cpu/cpu.cfs_period_us", "100000");
  CHECK(processors("4:cpuacct,cpu:/elsewhere\n0::/a/b") == 0.25);
  fs::remove_all(root / "cpu");
  write("cpu,cpuacct/e/cpu.cfs_quota_us", "200000");  // no link has the controller's name
  write("cpu,cpuacct/e/cpu.cfs_period_us", "100000");
  CHECK(processors("4:cpu,cpuacct:/e") == 2);
  write("a/b/cpu.max", "nonsense");
  CHECK(processors("0::/a/b") == none);
  CHECK(sporades::detail::cgroup_processors(root.string(), "/nowhere") == none);
  fs::remove_all(root);
}

}  // namespace
