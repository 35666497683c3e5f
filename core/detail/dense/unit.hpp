// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <sporades/core/detail/dense/blas.hpp>
#include <sporades/core/error.hpp>

namespace sporades::detail {
/// The e with 2^e <= |x| < 2^(e + 1); 0 of 0 and of what is not finite.
inline int binary_exponent(double x) {
  return x == 0 || !std::isfinite(x) ? 0 : std::ilogb(x);
}

/// y(p) = x(p) 2^-exponent, exactly except where the result is below the least normal number; y may
/// be x, both are contiguous. With exponent = binary_exponent(max_abs(exec, x)) the largest
/// magnitude lies in [1, 2), so that neither squares nor products of a few numbers leave the range
/// of Scalar. Enqueued on exec. Throws Error if the lengths differ.
template <class ExecutionSpace, class Input, class Output>
void divide_by_power_of_two(ExecutionSpace const& exec, Input const& x, int exponent,
                            Output const& y) {
  using Scalar = typename Output::non_const_value_type;
  expects(x.extent(0) == y.extent(0), "divide_by_power_of_two: x has ", x.extent(0),
          " entries, y has ", y.extent(0));
  auto const scale = [&](int power, Scalar const* from) {
    Blas<ExecutionSpace, Scalar>::scale(exec, static_cast<Scalar>(std::ldexp(1.0, power)), from,
                                        y.data(), y.extent(0));
  };
  // Powers that are no normal numbers of the type are multiplied in two steps.
  using Limits = std::numeric_limits<Scalar>;
  int const first = std::clamp(-exponent, Limits::min_exponent - 1, Limits::max_exponent - 1);
  scale(first, x.data());
  if (first != -exponent) scale(-exponent - first, y.data());
}

}  // namespace sporades::detail
