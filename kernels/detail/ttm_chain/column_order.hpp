// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/ttm_chain_plan.hpp>

namespace sporades::detail {

/// The place of each column in the order of Kolda & Bader, the first of the other modes fastest, as
/// Tensor Toolbox has it; -1 for padding.
inline std::vector<std::int64_t> ascending_places(TtmChainColumns const& columns) {
  std::size_t const modes = columns.modes.size();
  std::vector<std::int64_t> stride(modes);
  for (std::size_t k = 0; k < modes; ++k) {
    stride[k] = 1;
    for (std::size_t l = 0; l < modes; ++l)
      if (columns.modes[l] < columns.modes[k]) stride[k] *= columns.ranks[l];
  }
  std::vector<std::int64_t> places(columns.count());
  for (std::size_t c = 0; c < places.size(); ++c) {
    std::size_t rest = c / columns.tile();
    auto const last = static_cast<std::int64_t>(c % columns.tile());
    std::int64_t place = modes == 0 ? 0 : last * stride.back();
    bool const is_padding = last >= (modes == 0 ? 1 : columns.ranks.back());
    for (std::size_t k = modes; k-- > 1;) {
      place += static_cast<std::int64_t>(rest % columns.ranks[k - 1]) * stride[k - 1];
      rest /= columns.ranks[k - 1];
    }
    places[c] = is_padding || rest > 0 ? -1 : place;
  }
  return places;
}

}  // namespace sporades::detail
