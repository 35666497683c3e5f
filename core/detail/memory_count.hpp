// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/matrix.hpp>
#include <sporades/core/memory_need.hpp>
#include <vector>

namespace sporades::detail {

/// Bytes of what a function makes, and the most at one time until it is made, beside what it is
/// made of.
struct MadeBytes {
  double kept = 0, peak = 0;
};

/// Counts the bytes of Views that a computation will hold, step by step, before anything is
/// allocated: how many it holds at the moment, and the most so far. Counts are doubles, because
/// they may be far past 2^64.
class MemoryCount {
 public:
  /// The computation allocates.
  void hold(double bytes) {
    held_ += bytes;
    peak_ = std::max(peak_, held_);
  }
  /// The computation frees.
  void release(double bytes) { held_ -= bytes; }
  /// The computation allocates and frees at once.
  void pass(double bytes) {
    hold(bytes);
    release(bytes);
  }
  /// The computation needs so many bytes in a buffer that grows: what is there is freed once there
  /// is more. room: its bytes.
  void grow(double& room, double needed) {
    if (needed <= room) return;
    hold(needed);
    release(room);
    room = needed;
  }
  /// The computation makes something, and frees so many bytes of what it was made of.
  void make(MadeBytes const& made, double freed = 0) {
    pass(made.peak);
    release(freed);
    hold(made.kept);
  }
  /// The computation allocates or frees until it holds this many bytes.
  void hold_in_all(double bytes) {
    held_ = bytes;
    peak_ = std::max(peak_, held_);
  }
  /// The computation takes one of two courses, and it is not known which: counts the larger of
  /// both.
  void take_larger(MemoryCount const& other) {
    held_ = std::max(held_, other.held_);
    peak_ = std::max(peak_, other.peak_);
  }

  double held() const { return held_; }
  double peak() const { return peak_; }

 private:
  double held_ = 0, peak_ = 0;
};

/// Bytes of a matrix from make_matrix.
template <class Scalar>
double matrix_bytes(double rows, int columns) {
  return rows * static_cast<double>(padded_columns(static_cast<std::size_t>(columns))) *
         double{sizeof(Scalar)};
}

/// Bytes of one factor a mode, each with this many columns.
template <class Scalar>
double factors_bytes(Dims const& dims, int columns) {
  double bytes = 0;
  for (auto dim : dims) bytes += matrix_bytes<Scalar>(static_cast<double>(dim), columns);
  return bytes;
}

/// Bytes of one factor a mode, each with its rank of columns.
template <class Scalar>
double factors_bytes(Dims const& dims, std::vector<int> const& ranks) {
  double bytes = 0;
  for (std::size_t n = 0; n < dims.size(); ++n)
    bytes += matrix_bytes<Scalar>(static_cast<double>(dims[n]), ranks[n]);
  return bytes;
}

/// The length of the longest mode.
inline double longest(Dims const& dims) {
  return dims.empty() ? 0 : static_cast<double>(*std::max_element(dims.begin(), dims.end()));
}

/// Adds a margin for counters, weights and other small Views that are not counted one by one.
inline double with_small_views(double bytes) {
  return 1.005 * bytes + 16384;
}

}  // namespace sporades::detail
