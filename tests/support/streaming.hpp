// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/streaming.hpp>
#include <support/tensors.hpp>
#include <vector>

/// Tensors to stream, and ways to do so.

namespace sporades::test {

inline std::vector<Problem> streamed_problems() {
  return {{{5}, 9, 1},
          {{7, 4}, 20, 1},
          {{2, 300, 200}, 9000, 1},    // two rows: every window's edge cuts a row
          {{500, 400, 300}, 6000, 6},  // one row has most nonzeros; many are empty
          {{9, 8, 1, 6}, 700, 1},
          {{30, 2, 20, 10}, 5000, 2},
          {{3000, 2000, 2500, 1700}, 8000, 2},  // words of 64 bits
          {{3, 4, 2, 3, 2, 4}, 600, 1},
          {{4, 3}, 0, 1}};
}

inline std::vector<Streaming> ways() {
  return {{1, 1, 0}, {1, 3, 0}, {1 << 14, 2, 0}, {1, 5, 1 << 12}, {1 << 13, 4, 1 << 20}};
}

}  // namespace sporades::test
