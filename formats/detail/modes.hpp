// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/types.hpp>

/// Lists of modes.

namespace sporades::detail {

/// Throws Error, with `where` as the message's beginning, if a mode is not in [0, order) or is
/// listed twice.
inline void check_modes(std::vector<int> const& modes, int order, char const* where) {
  std::vector<bool> listed(order, false);
  for (int mode : modes) {
    expects(0 <= mode && mode < order, where, ": mode ", mode, " of a tensor of order ", order);
    expects(!listed[mode], where, ": mode ", mode, " is listed twice");
    listed[mode] = true;
  }
}

/// `modes`, followed by all others of [0, order) in ascending order.
inline std::vector<int> with_other_modes(std::vector<int> modes, int order) {
  std::size_t const listed = modes.size();
  for (int n = 0; n < order; ++n)
    if (std::find(modes.begin(), modes.begin() + listed, n) == modes.begin() + listed)
      modes.push_back(n);
  return modes;
}

/// The modes of [0, order) that are not listed, ascending.
inline std::vector<int> other_modes(std::vector<int> const& listed, int order) {
  auto const all = with_other_modes(listed, order);
  return {all.begin() + listed.size(), all.end()};
}

/// The modes after n in the cyclic order: n + 1, ..., order - 1, 0, ..., n - 1, and then n itself.
/// Throws Error, with `where` as the message's beginning, unless n is in [0, order).
inline std::vector<int> cyclic_modes(int n, int order, char const* where) {
  check_modes({n}, order, where);
  std::vector<int> modes(order);
  for (int l = 0; l < order; ++l) modes[l] = (n + 1 + l) % order;
  return modes;
}

}  // namespace sporades::detail
