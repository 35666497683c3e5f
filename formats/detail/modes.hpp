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

}  // namespace sporades::detail
