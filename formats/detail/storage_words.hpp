// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/types.hpp>

/// Words, of indices, positions and values alike, that a tensor takes in a format. HOCOO, HOCSR,
/// CFB and HOCFS are by the formulas of Yang, Li & Li, TKDD 2019, for order 3 and their
/// generalisation to any order.

namespace sporades::detail {

/// Coordinates, values and a permutation a mode (Geronimo Anderson & Choi, section 3.1).
inline std::uint64_t permuted_words(int order, Position nnz) {
  return (2 * static_cast<std::uint64_t>(order) + 1) * nnz;
}

/// One coordinate a mode and a value. So it is for any tensor in coordinate format.
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

/// A matrix in compressed sparse rows, one a fiber that is not empty, and a fiber's coordinates in
/// the other modes.
inline std::uint64_t hierarchical_words(int order, Position fibers, Position nnz) {
  return 2 * nnz + (fibers + 1) + (static_cast<std::uint64_t>(order) - 1) * fibers;
}

}  // namespace sporades::detail
