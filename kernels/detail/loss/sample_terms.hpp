// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/loss/lanes.hpp>

namespace sporades::detail {

/// The only kernel of estimates that depends on the loss: of each sample its term
///   y = scale (f(x, m) - P(m)), and where they are less zero  y = scale (f(x, m) - f(0, m))
/// and scale times its derivative, where that is wanted. A block of samples leaves, of each of its
/// lanes, the sums of y - y_0 and of (y - y_0)^2, y_0 the first sample's term: they do not cancel
/// where terms hardly differ. Then how many samples the loss does not allow.
template <class ExecutionSpace, class Scalar, class Loss>
struct SampleTerms {
  static constexpr int lanes = LossBlocks::lanes, sums = 3 * lanes;

  Loss loss;
  double c0, c1, c2, c3;  // of P
  bool less_zero;
  Scalar const* x;
  double const *m, *scales;
  double* derivatives;  // null: not wanted
  double *out, *first;  // `sums` a block; y_0
  Position count;

  std::uint64_t items() const {
    return LossBlocks::count(count) * (is_gpu<ExecutionSpace> ? lanes : 1);
  }

  KOKKOS_FUNCTION void operator()(std::uint64_t item) const {
    double const shift = term(0);
    if (item == 0) *first = shift;
    if constexpr (is_gpu<ExecutionSpace>)
      sum<1>(item / lanes, static_cast<int>(item % lanes), shift);
    else
      sum<lanes>(item, 0, shift);
  }

  /// The lanes from `lane` on, `width` of them.
  template <int width>
  KOKKOS_INLINE_FUNCTION void sum(Position b, int lane, double shift) const {
    double terms[width] = {}, squares[width] = {}, refused[width] = {};
    Position const begin = b * LossBlocks::length;
    Position const end = begin + LossBlocks::length < count ? begin + LossBlocks::length : count;
    for (Position s = begin + lane; s < end; s += lanes)
      for (int l = 0; l < width && s + l < end; ++l) {
        double const difference = term(s + l) - shift;
        terms[l] += difference;
        squares[l] += difference * difference;
        if (!loss.allows(static_cast<double>(x[s + l]))) refused[l] += 1;
        if (derivatives != nullptr) derivatives[s + l] = slope(s + l);
      }
    double* const to = out + b * sums + lane;
    for (int l = 0; l < width; ++l) {
      to[l] = terms[l];
      to[lanes + l] = squares[l];
      to[2 * lanes + l] = refused[l];
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION double term(Position s) const {
    if (scales[s] == 0) return 0;
    double const model = m[s],
                 value = static_cast<double>(loss.value(static_cast<double>(x[s]), model));
    return scales[s] * (value - (less_zero ? static_cast<double>(loss.value(0.0, model))
                                           : c0 + model * (c1 + model * (c2 + model * c3))));
  }
  KOKKOS_INLINE_FUNCTION double slope(Position s) const {
    if (scales[s] == 0) return 0;
    double const model = m[s];
    auto const slope = static_cast<double>(loss.derivative(static_cast<double>(x[s]), model));
    return scales[s] * (slope - (less_zero ? static_cast<double>(loss.derivative(0.0, model))
                                           : c1 + model * (2 * c2 + model * (3 * c3))));
  }
};

}  // namespace sporades::detail
