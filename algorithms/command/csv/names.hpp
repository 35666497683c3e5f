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

/// The different names of a mode, numbered as they come, or the ones that were given.
class Names {
 public:
  /// From here on there are these names alone, in their order. Throws Error if one comes twice.
  void fix(std::vector<std::string> const& names);

  /// The number of a name, or `unknown` of one that was not given. Line ends count as blanks, as in
  /// files of labels. Throws Error for more names than 32 bits count.
  std::uint32_t number(std::string_view name);
  static constexpr std::uint32_t unknown = 0xffffffff;

  std::uint64_t bytes() const { return bytes_; }

  /// The names in order: as they were given, by their values where all are numbers, else by their
  /// bytes. places[k] becomes the place of the name of number k. Empties this.
  std::vector<std::string> ordered(std::vector<std::uint32_t>& places);

 private:
  std::deque<std::string> names_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  std::uint64_t bytes_ = 0;
  bool is_fixed_ = false;
};

}  // namespace sporades::command
