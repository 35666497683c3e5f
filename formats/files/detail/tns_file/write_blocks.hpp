// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/types.hpp>

namespace sporades::detail {

/// Lines of a block, which one thread formats. In a gzipped file each block is one gzip member.
inline constexpr Position lines_per_block = Position{1} << 16;

/// Bytes that are reserved for a number: a double takes at most 24, an index 20.
inline constexpr std::size_t longest_number = 32;

/// The most bytes of blocks that are formatted and not yet written.
inline constexpr std::size_t most_block_bytes = std::size_t{256} << 20;

/// Bytes of the longest line of a nonzero: its indices, each with a blank, and its value.
inline std::size_t longest_line(Dims const& dims) {
  std::size_t bytes = longest_number;
  for (auto dim : dims) bytes += std::to_string(dim).size() + 1;
  return bytes;
}

/// Blocks that are formatted at the same time, and then written in order: four for each thread, but
/// not more than most_block_bytes.
inline std::size_t blocks_at_once(Dims const& dims, int threads) {
  auto const wanted = 4 * static_cast<std::size_t>(threads);
  return std::min(wanted, most_block_bytes / (lines_per_block * longest_line(dims)));
}

}  // namespace sporades::detail
