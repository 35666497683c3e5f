// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/kokkos.hpp>

namespace sporades::detail {

/// The first number in [low, high) for which holds is false, or high. holds: true for numbers up to
/// there, and false for all others.
template <class Number, class Condition>
KOKKOS_FORCEINLINE_FUNCTION Number bisect(Number low, Number high, Condition const& holds) {
  while (low < high) {
    Number const middle = low + (high - low) / 2;
    if (holds(middle))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace sporades::detail
