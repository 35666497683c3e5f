// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <sporades/algorithms/command/memory.hpp>
#include <sporades/core/error.hpp>

namespace sporades::command {
namespace {

double machine_bytes() {
  double bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    bytes = std::min(bytes, static_cast<double>(limit.rlim_cur));
  return bytes;
}

std::string scaled(double bytes) {
  char const* const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  int unit = 0;
  for (; bytes >= 1000 && unit < 6; ++unit) bytes /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
  return text;
}

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  return scaled(static_cast<double>(bytes));
}

std::uint64_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;  // Linux counts in KiB
}

std::string memory_sentence() {
  return bytes_text(peak_resident_bytes()) + " were in use of the " + scaled(machine_bytes()) +
         " that this process may have";
}

void check_fits_memory(double bytes, std::string const& what) {
  if (bytes > machine_bytes())
    throw RunError(what + " needs " + scaled(bytes) + " of memory, this process may have " +
                   scaled(machine_bytes()));
}

}  // namespace sporades::command
