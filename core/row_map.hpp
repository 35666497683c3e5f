// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/communicator.hpp>
#include <vector>

namespace sporades {

/// Which rows of a matrix are where: each process owns a block of consecutive ones, in the order of
/// ranks. One that is made from nothing says that all rows are here.
struct RowMap {
  Communicator processes;
  std::vector<std::uint64_t> begins;  // process p owns rows begins[p] to begins[p + 1] - 1

  bool is_whole() const { return begins.size() <= 2; }
  std::uint64_t first() const { return is_whole() ? 0 : begins[rank()]; }
  /// The number of rows of all processes, where this one has so many.
  std::uint64_t all(std::uint64_t here) const { return is_whole() ? here : begins.back(); }
  /// The number of those that this one has, where there are so many.
  std::uint64_t here(std::uint64_t all) const {
    return is_whole() ? all : begins[rank() + 1] - begins[rank()];
  }

 private:
  std::size_t rank() const { return static_cast<std::size_t>(processes.rank()); }
};

}  // namespace sporades
