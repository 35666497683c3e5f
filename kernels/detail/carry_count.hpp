// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/matrix.hpp>
#include <sporades/core/types.hpp>

namespace sporades::detail {

/// The slots that CarryBuffers reserve for so many chunks: two a chunk. The levels past the first
/// take a ninth of it at most, for 17 chunks, and their counters a hundredth.
template <class Scalar>
double carry_bytes(Position chunks, std::size_t columns) {
  double const row = static_cast<double>(padded_columns(columns) * sizeof(Scalar));
  return chunks > 1 ? 2 * static_cast<double>(chunks) * (8 + 1.13 * row) : 0;
}

}  // namespace sporades::detail
