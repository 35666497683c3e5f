// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sporades/core/memory.hpp>

namespace sporades {

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

double resident_limit_bytes() {
  double const physical = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * page_bytes();
  return std::min(physical, detail::cgroup_memory_bytes());
}

/// The least of the numbers in files of this name in the folder and those above it, up to `root`.
double least_limit(std::string const& root, std::string folder, std::string const& name) {
  double least = no_limit;
  while (true) {
    double bytes = 0;
    if (std::ifstream(root + folder + "/" + name) >> bytes && bytes > 0)  // it may say "max"
      least = std::min(least, bytes);
    if (folder.empty()) return least;
    folder.resize(std::min(folder.rfind('/'), folder.size() - 1));
  }
}

}  // namespace

namespace detail {

double cgroup_memory_bytes(std::string const& root, std::string const& self) {
  double least = no_limit;
  std::ifstream lines(self);
  for (std::string line; std::getline(lines, line);) {  // number:controllers:folder
    auto const first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string const controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string const folder = line.substr(second + 1);
    if (controllers == ",,")
      least = std::min(least, least_limit(root, folder, "memory.max"));
    else if (controllers.find(",memory,") != std::string::npos)
      least = std::min(least, least_limit(root + "/memory", folder, "memory.limit_in_bytes"));
  }
  return least;
}

}  // namespace detail

double host_memory_bytes() {
  return std::min(resident_limit_bytes(), address_space_bytes());
}

double host_memory_left() {
  double mapped = 0, resident = 0;  // pages
  std::ifstream("/proc/self/statm") >> mapped >> resident;
  return std::max(0.0, std::min(resident_limit_bytes() - resident * page_bytes(),
                                address_space_bytes() - mapped * page_bytes()));
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

std::string bytes_text(double bytes) {
  char const* const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  int unit = 0;
  for (; bytes >= 1000 && unit < 6; ++unit) bytes /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
  return text;
}

}  // namespace sporades
