// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/matrix.hpp>

namespace sporades {

/// The columns of Y_(n) as the strategies of ttm_chain compute them: the other modes in an order
/// that serves the strategy, slowest first. Column (j_0, ..., j_{N-2}) is
///   (... (j_0 R_1 + j_1) R_2 + ...) tile + j_{N-2},
/// where the tile is the last, fastest rank, padded to a multiple of four. Or, where only the whole
/// row is padded, it is the rank itself. The padding's columns are zero.
struct TtmChainColumns {
  std::vector<int> modes;  // slowest first; none of a tensor of order 1
  std::vector<int> ranks;  // of these modes
  bool pads_tiles = true;

  std::size_t tile() const {
    std::size_t const rank = ranks.empty() ? 1 : static_cast<std::size_t>(ranks.back());
    return pads_tiles ? padded_columns(rank) : rank;
  }
  /// With padding.
  std::size_t count() const {
    std::size_t product = tile();
    for (std::size_t k = 0; k + 1 < ranks.size(); ++k)
      product *= static_cast<std::size_t>(ranks[k]);
    return padded_columns(product);
  }
  /// Numbers of all partial products of a walk down a tree of these modes: those below each level
  /// but the last; the first is a row of Y itself.
  std::size_t partial_products() const {
    std::size_t all = 0, size = tile();
    for (std::size_t k = ranks.size(); k-- > 2;) {
      size *= static_cast<std::size_t>(ranks[k - 1]);
      all += size;
    }
    return all;
  }
};

namespace detail {

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

}  // namespace detail
}  // namespace sporades
