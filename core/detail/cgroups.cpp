// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sporades/core/detail/cgroups.hpp>

namespace sporades::detail {
namespace {

/// The folder and all above it up to `mounted`, where the tree is.
void append(std::vector<CgroupFolder>& folders, std::string const& mounted, std::string folder,
            int version) {
  while (true) {
    folders.push_back({mounted + folder + "/", version});
    if (folder.empty()) return;
    folder.resize(std::min(folder.rfind('/'), folder.size() - 1));
  }
}

/// Where the tree of version 1 is that has these controllers: named by one of them, by a link, or
/// by all.
std::string mounted_at(std::string const& root, std::string const& controller,
                       std::string const& controllers) {
  std::error_code ignored;
  auto const by_one = root + "/" + controller, by_all = root + "/" + controllers;
  bool const is_by_all =
      !std::filesystem::exists(by_one, ignored) && std::filesystem::exists(by_all, ignored);
  return is_by_all ? by_all : by_one;
}

/// The numbers that a file begins with; none of a word, as "max".
std::vector<double> numbers_in(std::string const& path) {
  std::ifstream file(path);
  std::vector<double> numbers;
  for (double number = 0; file >> number;) numbers.push_back(number);
  return numbers;
}

}  // namespace

std::vector<CgroupFolder> cgroup_folders(std::string const& controller, std::string const& root,
                                         std::string const& self) {
  std::vector<CgroupFolder> folders;
  std::ifstream lines(self);
  for (std::string line; std::getline(lines, line);) {  // number:controllers:folder
    auto const first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    auto const controllers = line.substr(first + 1, second - first - 1);
    auto const folder = line.substr(second + 1);
    if (controllers.empty())
      append(folders, root, folder, 2);
    else if (("," + controllers + ",").find("," + controller + ",") != std::string::npos)
      append(folders, mounted_at(root, controller, controllers), folder, 1);
  }
  return folders;
}

double cgroup_processors(std::string const& root, std::string const& self) {
  double least = std::numeric_limits<double>::infinity();
  for (auto const& [path, version] : cgroup_folders("cpu", root, self)) {
    // Microseconds of processors that it may have in each period of so many; of version 1 in two
    // files, and -1 where there is no limit.
    auto of_period = numbers_in(path + (version == 2 ? "cpu.max" : "cpu.cfs_quota_us"));
    if (version == 1)
      for (double const period : numbers_in(path + "cpu.cfs_period_us"))
        of_period.push_back(period);
    if (of_period.size() == 2 && of_period[0] > 0 && of_period[1] > 0)
      least = std::min(least, of_period[0] / of_period[1]);
  }
  return least;
}

}  // namespace sporades::detail
