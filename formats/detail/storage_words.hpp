// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/types.hpp>

/// Words, of indices, positions and values alike, that a tensor takes in the formats of Yang, Li &
/// Li, TKDD 2019, by the paper's formulas for order 3 and their generalisation to any order.

namespace sporades::detail {

/// One coordinate a mode and a value.
inline std::uint64_t hocoo_words(int order, Position nnz) {
  return (static_cast<std::uint64_t>(order) + 1) * nnz;
}

/// rows: the product of the other modes' lengths. Doubles serve where it passes 64 bits.
template <class Count>
Count hocsr_words(Count rows, Count nnz) {
  return rows + 2 * nnz;
}

/// fibers: those that are not empty.
inline std::uint64_t cfb_words(Position fibers, Position nnz) {
  return 2 * fibers + 2 * nnz;
}

/// nodes: sub-tensors that are not empty, on all levels: of order 3, slices and fibers.
inline std::uint64_t hocfs_words(Position nodes, Position nnz) {
  return 2 * nodes + 2 * nnz;
}

}  // namespace sporades::detail
