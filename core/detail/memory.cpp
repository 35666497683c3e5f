// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sporades/core/detail/cgroups.hpp>
#include <sporades/core/detail/memory.hpp>
#include <sporades/core/detail/shortage.hpp>
#include <sporades/core/error.hpp>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace sporades::detail {

namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();

double page_bytes() {
  return static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

double address_space_bytes() {
  rlimit limit{};
  bool const is_set = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return is_set ? static_cast<double>(limit.rlim_cur) : no_limit;
}

/// Addresses that the process may still map, after LAPACK has taken its own, where it can.
double addresses_left() {
  double const limit = address_space_bytes();
  if (limit == no_limit) return no_limit;
  try {
    start_lapack();
  } catch (RunError const&) {  // who needs LAPACK is told
  }
  double mapped = 0;  // pages
  std::ifstream("/proc/self/statm") >> mapped;
  return limit - mapped * page_bytes();
}

/// The number that a file begins with, or infinity if there is no file or no number.
double number_in(std::string const& file) {
  double number = 0;
  return std::ifstream(file) >> number ? number : no_limit;  // cgroups write "max" for no limit
}

/// The number that follows the key in the line of a file that begins with the key, or 0.
double number_after(std::string const& key, std::string const& file) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);)
    if (line.compare(0, key.size(), key) == 0) return std::atof(line.c_str() + key.size());
  return 0;
}

}  // namespace

MemoryLimit cgroup_memory(std::string const& root, std::string const& self) {
  MemoryLimit least{no_limit, no_limit};
  for (auto const& [path, version] : cgroup_folders("memory", root, self)) {
    bool const is_2 = version == 2;
    double const bytes = number_in(path + (is_2 ? "memory.max" : "memory.limit_in_bytes"));
    if (bytes <= 0 || bytes == no_limit) continue;
    least.bytes = std::min(least.bytes, bytes);
    double const used = number_in(path + (is_2 ? "memory.current" : "memory.usage_in_bytes"));
    if (used == no_limit) continue;
    // Pages of files, which the system drops or writes back; not those of file systems in memory.
    double cached = 0;
    for (std::string const key : {"inactive_file ", "active_file "})
      cached += number_after((is_2 ? "" : "total_") + key, path + "memory.stat");
    least.left = std::min(least.left, bytes - std::max(0.0, used - cached));
  }
  return least;
}

double host_memory_bytes() {
  double const physical = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * page_bytes();
  return std::min({physical, cgroup_memory().bytes, address_space_bytes()});
}

double host_memory_left() {
  double mapped = 0, resident = 0, of_files = 0;  // pages
  std::ifstream("/proc/self/statm") >> mapped >> resident >> of_files;
  resident -= of_files;  // which the system may drop
  double const available = 1024 * number_after("MemAvailable:", "/proc/meminfo");
  auto const cgroup = cgroup_memory();
  double const unused = available > 0 ? available : host_memory_bytes() - resident * page_bytes();
  return std::max(0.0, std::min({unused, cgroup.left, cgroup.bytes - resident * page_bytes(),
                                 addresses_left()}));
}

void expect_room(std::string_view label, double bytes, double left) {
  if (bytes > left) throw RunError(std::string(label) + " " + shortage_text(bytes, left));
}

void return_large_memory_at_once() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

void return_freed_memory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

void advise_huge_pages(void* data, std::size_t bytes) {
#if defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t page = std::uintptr_t{2} << 20;
  auto const begin = reinterpret_cast<std::uintptr_t>(data);
  std::uintptr_t const first = (begin + page - 1) / page * page,
                       last = (begin + bytes) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#else
  static_cast<void>(data), static_cast<void>(bytes);
#endif
}

namespace {

/// The smallest step between numbers of bytes that bytes_text tells apart: a tenth of its unit.
double text_step(double bytes) {
  double tenth = 1;
  for (double rest = bytes; rest >= 1000 && tenth < 1e17; rest /= 1000)
    tenth *= tenth == 1 ? 100 : 1000;
  return tenth;
}

}  // namespace

std::string enough_text(double bytes) {
  double const step = text_step(bytes);
  return bytes_text(std::ceil(bytes / step) * step);
}

std::string room_text(double bytes) {
  double const step = text_step(bytes);
  return bytes_text(std::floor(bytes / step) * step);
}

std::string shortage_text(double needs, double may_take, char const* more) {
  return "needs " + enough_text(needs) + " of memory" + more + ", " + room_text(may_take) +
         " may be taken";
}

std::string bytes_text(double bytes) {
  char const* const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  int unit = 0;
  for (; bytes >= 1000 && unit < 6; ++unit) bytes /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
  return text;
}

}  // namespace sporades::detail
