// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unistd.h>

#include <fstream>
#include <sporades/core/detail/host_caches.hpp>

namespace sporades::detail {

namespace {

/// The smallest sizes that either level may plausibly have; systems report 0 or less for unknown.
constexpr double least_bytes = 1024;

#ifdef _SC_LEVEL1_DCACHE_SIZE
constexpr int first_name = _SC_LEVEL1_DCACHE_SIZE, second_name = _SC_LEVEL2_CACHE_SIZE;
#else
constexpr int first_name = -1, second_name = -1;  // sysconf refuses the name
#endif

double or_else(double bytes, int name, double otherwise) {
  if (bytes < least_bytes) bytes = static_cast<double>(sysconf(name));
  return bytes < least_bytes ? otherwise : bytes;
}

}  // namespace

HostCaches read_host_caches(std::string const& folder) {
  HostCaches caches{0, 0};
  for (int k = 0;; ++k) {
    auto const file = [&](char const* name) {
      return std::ifstream(folder + "/index" + std::to_string(k) + "/" + name);
    };
    int level = 0;
    std::string type;
    if (!(file("level") >> level) || !(file("type") >> type)) break;
    double bytes = 0;
    char unit = ' ';
    file("size") >> bytes >> unit;  // "32K"
    bytes *= unit == 'K' ? 1 << 10 : unit == 'M' ? 1 << 20 : 1;
    if (type == "Instruction") continue;
    if (level == 1) caches.first_level = bytes;
    if (level == 2) caches.second_level = bytes;
  }
  return {or_else(caches.first_level, first_name, 32 << 10),
          or_else(caches.second_level, second_name, 1 << 20)};
}

HostCaches& host_caches() {
  static HostCaches caches = read_host_caches();
  return caches;
}

}  // namespace sporades::detail
