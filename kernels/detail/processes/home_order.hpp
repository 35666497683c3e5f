// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/sort.hpp>
#include <sporades/core/random.hpp>
#include <sporades/core/row_map.hpp>

namespace sporades::detail {

/// The order of rows by their homes (find_homes.hpp), and then as they were.
template <class MemorySpace>
struct HomeOrder {
  int sliced = -1;           // the mode that has slices, whose rows stay as they are
  std::vector<RowMap> rows;  // per other mode: of the order as it was
  std::vector<Permutation<MemorySpace>> places;    // per mode: of these rows in the new order
  std::vector<std::vector<std::uint64_t>> begins;  // per mode: of the homes' rows, and the end

  bool is_none() const { return sliced < 0; }
  /// Whether the rows of this mode have new places.
  bool moves(std::size_t n) const { return !is_none() && static_cast<int>(n) != sliced; }
  /// Another one for another order; 0 for none.
  std::uint64_t id() const {
    std::uint64_t sum = 0;
    if (!is_none()) sum = splitmix64(static_cast<std::uint64_t>(sliced) + 1);
    for (auto const& mode : begins)
      for (auto const begin : mode) sum = splitmix64(sum ^ begin);
    return sum;
  }
};

}  // namespace sporades::detail
