// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>

namespace sporades::detail {

/// A step along a direction: what the function is there, and its derivative by the step.
struct SearchPoint {
  double step = 0, value = 0, slope = 0;
};

/// Where the cubic with these values and slopes at two points is least, or NaN. Nocedal & Wright,
/// Numerical Optimization, 2006, (3.59).
inline double least_of_cubic(SearchPoint const& a, SearchPoint const& b) {
  double const d1 = a.slope + b.slope - 3 * (a.value - b.value) / (a.step - b.step);
  double const d2 = std::copysign(std::sqrt(d1 * d1 - a.slope * b.slope), b.step - a.step);
  return b.step - (b.step - a.step) * (b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2);
}

/// Where the parabola with the value and slope of a, and the value of b, is least, or NaN.
inline double least_of_parabola(SearchPoint const& a, SearchPoint const& b) {
  double const width = b.step - a.step;
  return a.step - a.slope * width * width / (2 * (b.value - a.value - a.slope * width));
}

/// Finds a step whose value is low enough, value <= value(0) + 1e-4 step slope(0) (Armijo), and, if
/// `flattens`, whose slope is flat enough, |slope| <= 0.9 |slope(0)| (strong Wolfe). Nocedal &
/// Wright 2006, Algorithms 3.5 and 3.6.
/// - start: at step 0; its slope is below 0.
/// - first: the step that is tried first.
/// - evaluate(step): the point there; its slope is read only if `flattens`.
///
/// A step where they are not finite is too long. Returns the point that was evaluated last, or, if
/// no step of `most` was low enough, one of step 0. Where none of those is flat enough, takes the
/// longest that is low enough and from where the function still falls.
template <class Evaluate>
SearchPoint search_line(SearchPoint const& start, double first, bool flattens, int most,
                        Evaluate const& evaluate) {
  constexpr double low = 1e-4, flat = 0.9;
  SearchPoint least = start;  // low enough, and the function falls there
  SearchPoint too_long, last;
  bool is_bracketed = false;
  double step = first;
  for (int tries = 0; tries < most; ++tries) {
    last = evaluate(step);
    bool const is_finite = std::isfinite(last.value) && (!flattens || std::isfinite(last.slope));
    bool const is_low = is_finite && last.value <= start.value + low * step * start.slope &&
                        (least.step == 0 || last.value < least.value);
    if (is_low && (!flattens || std::abs(last.slope) <= -flat * start.slope)) return last;
    if (is_low && last.slope < 0) {
      double const next = least_of_cubic(least, last);
      least = last;
      if (!is_bracketed) {
        step = next > last.step ? std::clamp(next, 1.5 * last.step, 5 * last.step) : 4 * last.step;
        continue;
      }
    } else {
      too_long = last;
      is_bracketed = true;
    }
    double const width = too_long.step - least.step;
    double const next =
        flattens ? least_of_cubic(least, too_long) : least_of_parabola(least, too_long);
    bool const is_known = std::isfinite(next) && std::isfinite(too_long.value);
    step =
        least.step + (is_known ? std::clamp((next - least.step) / width, 0.1, 0.9) : 0.1) * width;
  }
  return least.step > 0 ? evaluate(least.step) : SearchPoint{};
}

}  // namespace sporades::detail
