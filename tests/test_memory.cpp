// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sporades/core/detail/out_of_core_memory.hpp>
#include <sporades/core/matrix.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/files.hpp>

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
  auto const view = sporades::detail::uninitialized<sporades::Vector<double, Kokkos::HostSpace>>(
      exec, "view", entries);
  auto const A = sporades::make_matrix<float>(exec, "A", entries / 3, 3);
  exec.fence();
  CHECK(mapping_flags(&view(entries / 2)).find(" hg ") != std::string::npos);
  CHECK(mapping_flags(&A(entries / 6, 0)).find(" hg ") != std::string::npos);
}

TEST_CASE("memory limits of cgroups of both versions are seen", "[core][memory]") {
  namespace fs = std::filesystem;
  auto const root = fs::temp_directory_path() / ("sporades-cgroup-" + std::to_string(getpid()));
  auto const write = [&](std::string const& path, std::string const& text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text << "\n";
  };
  auto const limit = [&](std::string const& self) {
    write("self", self);
    return sporades::detail::cgroup_memory(root.string(), (root / "self").string()).bytes;
  };
  write("memory.max", "8000000000");
  write("a/memory.max", "max");
  write("a/b/memory.max", "3000000000");
  write("memory/c/memory.limit_in_bytes", "9223372036854771712");
  write("memory/c/d/memory.limit_in_bytes", "2000000000");
  CHECK(limit("0::/a/b") == 3e9);
  CHECK(limit("0::/a") == 8e9);
  CHECK(limit("0::/a/b/e/f") == 3e9);  // a folder that cannot be seen from here
  CHECK(limit("0::/") == 8e9);
  CHECK(limit("4:cpu,memory:/c/d\n0::/a") == 2e9);
  CHECK(limit("4:memory:/c") > 9e18);
  write("a/b/memory.current", "2500000000");
  write("a/b/memory.stat",
        "anon 1700000000\nfile 800000000\nshmem 100000000\ninactive_file 400000000\nactive_file "
        "300000000");
  write("memory.current", "2600000000");
  write("memory/c/d/memory.usage_in_bytes", "1900000000");
  write(
      "memory/c/d/memory.stat",
      "inactive_file 7\nactive_file 7\ntotal_inactive_file 200000000\ntotal_active_file 500000000");
  auto const left = [&](std::string const& self) {
    write("self", self);
    return sporades::detail::cgroup_memory(root.string(), (root / "self").string()).left;
  };
  CHECK(left("0::/a/b") == 1.2e9);  // 3 less 2.5, of which files that are cached have 0.7
  CHECK(left("0::/a") == 5.4e9);
  CHECK(left("4:memory:/c/d") == 8e8);  // 2 less 1.9, of which 0.7
  CHECK(limit("4:cpu:/c/d") == std::numeric_limits<double>::infinity());
  CHECK(sporades::detail::cgroup_memory(root.string(), "/nowhere").bytes ==
        std::numeric_limits<double>::infinity());
  fs::remove_all(root);
}

TEST_CASE("files of nonzeros do not lie in memory", "[core][memory]") {
  std::ifstream mounts("/proc/mounts");
  std::string const text{std::istreambuf_iterator<char>(mounts), {}};
  if (text.find(" /dev/shm tmpfs ") == std::string::npos) return;
  char const* const named = std::getenv("TMPDIR");
  std::string const before = named ? named : "";
  setenv("TMPDIR", "/dev/shm", 1);
  auto const message = sporades::test::message_of([] { sporades::detail::map_scratch_file(1); });
  if (named)
    setenv("TMPDIR", before.c_str(), 1);
  else
    unsetenv("TMPDIR");
  CHECK(message ==
        "a tensor that does not fit memory needs files on a disk, and /dev/shm lies in memory "
        "(TMPDIR names another folder)");
}

TEST_CASE("what is left of the memory falls as Views take it", "[core][memory]") {
  // What others take and give back meanwhile would count, too: a limit of its own is nearer.
  double mapped = 0;
  std::ifstream("/proc/self/statm") >> mapped;
  rlimit given{};
  REQUIRE(getrlimit(RLIMIT_AS, &given) == 0);
  rlimit own = given;
  own.rlim_cur = static_cast<rlim_t>(mapped * static_cast<double>(sysconf(_SC_PAGE_SIZE)) + 5e8);
  REQUIRE(setrlimit(RLIMIT_AS, &own) == 0);
  double const before = sporades::detail::host_memory_left();
  CHECK(before > 0);
  CHECK(before <= 5e8);
  CHECK(before < sporades::detail::host_memory_bytes());
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto const view = sporades::detail::zeroed<sporades::Vector<double, Kokkos::HostSpace>>(
      exec, "view", std::size_t{1} << 23);
  exec.fence();
  double const taken = before - sporades::detail::host_memory_left();
  setrlimit(RLIMIT_AS, &given);
  CHECK(taken > 5e7);
  CHECK(taken < 2e8);
}

TEMPLATE_LIST_TEST_CASE("zeroed fills what memory held before", "[core][memory]",
                        sporades::test::Cases) {
  using View = sporades::Vector<typename TestType::Scalar, typename TestType::MemorySpace>;
  auto const exec = sporades::test::new_instance<typename TestType::ExecutionSpace>();
  for (int round = 0; round < 2; ++round) {  // the second is likely to get the first one's memory
    auto const view = sporades::detail::zeroed<View>(exec, "view", 1000);
    auto const host = Kokkos::create_mirror_view(view);
    Kokkos::deep_copy(exec, host, view);
    exec.fence();
    for (std::size_t i = 0; i < host.size(); ++i) REQUIRE(host(i) == 0);
    Kokkos::deep_copy(exec, view, 7);
    exec.fence();
  }
}

}  // namespace
