// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <sporades/core/detail/memory_count.hpp>
#include <sporades/kernels/detail/carry_buffers.hpp>
#include <vector>

namespace sporades::detail {

/// CarryBuffers whose slots grow from one reserve to the next.
class CarryCount {
 public:
  template <class Scalar>
  void reserve(MemoryCount& count, Position chunks, std::size_t columns, double index_bytes) {
    double const stride = static_cast<double>(padded_columns(columns));
    double waiting = 0;
    for (std::size_t l = 0; chunks > 1; ++l) {
      if (l == levels_.size()) levels_.emplace_back();
      Level& level = levels_[l];
      double const slots = 2 * static_cast<double>(chunks);
      double const rows = std::max(level.rows, l == 0 ? slots * index_bytes : 0);
      double const numbers = std::max(level.numbers, slots * stride * sizeof(Scalar));
      Level const before = level;
      level = {rows, numbers};
      if (rows > before.rows) count.hold(rows);
      if (numbers > before.numbers) count.hold(numbers);
      if (rows > before.rows) count.release(before.rows);
      if (numbers > before.numbers) count.release(before.numbers);
      chunks = chunks_of(2 * chunks, carry_chunk);
      if (l > 0) waiting += static_cast<double>(chunks);
    }
    double const arrivals = waiting * std::ceil(stride * sizeof(Scalar) / 16) * sizeof(unsigned);
    if (arrivals_ < arrivals) {
      count.hold(arrivals);
      count.release(arrivals_);
      arrivals_ = arrivals;
    }
  }

 private:
  struct Level {
    double rows = 0, numbers = 0;  // bytes
  };
  std::vector<Level> levels_;
  double arrivals_ = 0;
};

}  // namespace sporades::detail
