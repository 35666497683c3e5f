// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sporades::command {

/// The different names of a mode, numbered as they come.
class Names {
 public:
  /// The number of a name. Throws Error for more names than 32 bits count.
  std::uint32_t number(std::string_view name);

  std::uint64_t bytes() const { return bytes_; }

  /// The names in order: by their values where all are numbers, else by their bytes. places[k]
  /// becomes the place of the name of number k. Empties this.
  std::vector<std::string> ordered(std::vector<std::uint32_t>& places);

 private:
  std::deque<std::string> names_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  std::uint64_t bytes_ = 0;
};

}  // namespace sporades::command
