// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/names.hpp>

namespace sporades {

/// The type in which the rows of factors that products gather are stored. Sums are in the tensor's
/// scalar type in any case. With the unit roundoff u, terms have a relative error of about (N - 1)
/// u at most, as if the data were known no better. CP-ALS takes the last mode in full precision:
/// its factor is the best one beside the others, and the fit is that of the model. A product rounds
/// the factors anew, which pays where the nonzeros are many more than the rows (an H200, nell-2, R
/// = 32: bfloat16 1.34 and half 1.18 times as fast as float, single 1.39 times as fast as double).
enum class GatherPrecision {
  full,      // the tensor's scalar type
  single,    // float, u = 2^-24
  bfloat16,  // u = 2^-8
  half       // u = 2^-11 from 6.1e-5 up; infinite from 65,520 on, zero up to 3e-8
};

namespace detail {
template <>
struct Names<GatherPrecision> {
  static constexpr char const* kind = "precision";
  static constexpr char const* list[] = {"full", "single", "bfloat16", "half"};
};
}  // namespace detail

}  // namespace sporades
