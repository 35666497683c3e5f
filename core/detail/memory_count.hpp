// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/matrix.hpp>

namespace sporades::detail {

/// The bytes of Views that a computation holds, counted step by step before anything is allocated:
/// what it holds at a time, and the most so far. In doubles: a count may be far past 2^64.
class MemoryCount {
 public:
  /// Allocates.
  void hold(double bytes) {
    held_ += bytes;
    peak_ = std::max(peak_, held_);
  }
  /// Gives back.
  void release(double bytes) { held_ -= bytes; }
  /// Allocates and gives back.
  void pass(double bytes) {
    hold(bytes);
    release(bytes);
  }
  /// Allocates or gives back until so much is held.
  void hold_in_all(double bytes) {
    held_ = bytes;
    peak_ = std::max(peak_, held_);
  }
  /// Goes on from whichever of two courses holds more.
  void take_larger(MemoryCount const& other) {
    held_ = std::max(held_, other.held_);
    peak_ = std::max(peak_, other.peak_);
  }

  double held() const { return held_; }
  double peak() const { return peak_; }

 private:
  double held_ = 0, peak_ = 0;
};

/// Of what make_matrix makes.
template <class Scalar>
double matrix_bytes(double rows, int columns) {
  return rows * static_cast<double>(padded_columns(static_cast<std::size_t>(columns))) *
         double{sizeof(Scalar)};
}

/// Of one factor a mode, of as many columns.
template <class Scalar>
double factors_bytes(Dims const& dims, int columns) {
  double bytes = 0;
  for (auto dim : dims) bytes += matrix_bytes<Scalar>(static_cast<double>(dim), columns);
  return bytes;
}

inline double longest(Dims const& dims) {
  return dims.empty() ? 0 : static_cast<double>(*std::max_element(dims.begin(), dims.end()));
}

/// And counters, weights and their like, which are not counted one by one.
inline double with_small_views(double bytes) {
  return 1.005 * bytes + 16384;
}

/// What a method holds at its peak.
struct MemoryNeed {
  double views = 0;  // bytes of Views where it computes, the tensor's own included
  double host = 0;   // bytes beside them on the host, in vectors and mirrors
};

}  // namespace sporades::detail
