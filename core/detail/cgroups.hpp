// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace sporades::detail {

/// A folder with the files of a cgroup, which ends with "/".
struct CgroupFolder {
  std::string path;
  int version;  // of cgroups, which have different names for the same things: 1 or 2
};

/// The folders of this process's cgroups, and of those above them, that limit what the controller
/// shares out, such as "memory" or "cpu". The file `self` lists the cgroups, of version 1 or 2;
/// their trees are mounted at `root`. Folders need not exist: a container sees its own as the root.
std::vector<CgroupFolder> cgroup_folders(std::string const& controller,
                                         std::string const& root = "/sys/fs/cgroup",
                                         std::string const& self = "/proc/self/cgroup");

/// How many processors this process's cgroups let it have at once on average, the least of their
/// quotas; infinity if there is none.
double cgroup_processors(std::string const& root = "/sys/fs/cgroup",
                         std::string const& self = "/proc/self/cgroup");

}  // namespace sporades::detail
