// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace sporades::detail {

/// Bytes of the data caches of one core of the host.
struct HostCaches {
  double first_level, second_level;
};

/// The caches of the machine, read once, by which hosts choose how they compute. Tests set others.
HostCaches& host_caches();

/// The caches that a folder of the system describes, one in each index0, index1, ... by the files
/// level, type and size. For what it does not tell: what sysconf tells, else 32 KiB and 1 MiB.
HostCaches read_host_caches(std::string const& folder = "/sys/devices/system/cpu/cpu0/cache");

}  // namespace sporades::detail
