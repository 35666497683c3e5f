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
      if (level.slots < slots || level.stride < stride) {
        double const wide = std::max(stride, level.stride);
        double const bytes = slots * ((l == 0 ? index_bytes : 0) + wide * sizeof(Scalar));
        count.hold(bytes);
        count.release(level.bytes);
        level = {slots, wide, bytes};
      }
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
    double slots = 0, stride = 0, bytes = 0;
  };
  std::vector<Level> levels_;
  double arrivals_ = 0;
};

}  // namespace sporades::detail
