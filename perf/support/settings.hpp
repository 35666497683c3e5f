// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace sporades::perf {

/// What the command line asks for.
struct Settings {
  std::vector<std::string> tensors{"uber"};  // see support/tensors.hpp
  std::vector<int> ranks{16, 32};
  std::vector<std::string> strategies{"automatic", "sorted", "morton",     "fibers",
                                      "csf",       "alto",   "alto-atomic"};
  std::vector<std::string> scalars{"double", "float"};
  std::vector<std::string> files;  // to time the readers on
  double stream_megabytes = 256;   // of one array
  int neighbours = 0;              // busy processes to run beside

  bool has_scalar(std::string const& name) const {
    for (auto const& scalar : scalars)
      if (scalar == name) return true;
    return false;
  }
};

}  // namespace sporades::perf
