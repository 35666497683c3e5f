// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <cstring>
#include <sporades/core/detail/kokkos.hpp>

namespace sporades::detail::math {

/// Natural logarithm of a positive normal number, within 2 units in the last place or 1e-16. It has
/// no branches and no calls, so that loops over it are vectorised (`#pragma omp simd`), and does
/// the same operations on every backend. x = 2^k y with y in [sqrt(1/2), sqrt(2)), and log y = 2
/// artanh(s) with s = (y - 1) / (y + 1), by the series of artanh. Since |s| < 0.172, its remainder
/// is below 1e-17.
KOKKOS_FORCEINLINE_FUNCTION double log_of_normal(double x) {
  constexpr std::uint64_t root_of_half = 0x3fe6a09e667f3bcdu, mantissa = 0xfffffffffffffu;
  std::uint64_t bits;
  memcpy(&bits, &x, sizeof x);
  std::uint64_t const above = bits - root_of_half;  // exponent k in the upper 12 bits, modulo 2^12
  std::uint64_t const lowered = (above & mantissa) + root_of_half;
  double y;
  memcpy(&y, &lowered, sizeof y);
  auto const k = static_cast<double>(static_cast<int>(above >> 52 ^ 0x800u) - 0x800);
  double const s = (y - 1) / (y + 1), z = s * s;
  double series = 1.0 / 21;
  series = series * z + 1.0 / 19;
  series = series * z + 1.0 / 17;
  series = series * z + 1.0 / 15;
  series = series * z + 1.0 / 13;
  series = series * z + 1.0 / 11;
  series = series * z + 1.0 / 9;
  series = series * z + 1.0 / 7;
  series = series * z + 1.0 / 5;
  series = series * z + 1.0 / 3;
  constexpr double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
  return k * ln2_high + (2 * s + (2 * s * z * series + k * ln2_low));
}

}  // namespace sporades::detail::math
