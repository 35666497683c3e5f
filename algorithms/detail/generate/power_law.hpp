// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// From random bits to an index of one mode, as plain data and device functions.

#include <cmath>
#include <numeric>
#include <sporades/core/random.hpp>
#include <type_traits>

namespace sporades::detail {

/// 64 random bits for the draw number `counter` of one lane (one use) of a seed.
KOKKOS_INLINE_FUNCTION std::uint64_t generate_bits(std::uint64_t seed, std::uint64_t counter,
                                                   std::uint64_t lane) {
  return splitmix64(splitmix64(seed * 0x9e3779b97f4a7c15ull + lane) ^ counter);
}

/// In (0, 1].
KOKKOS_INLINE_FUNCTION double generate_unit(std::uint64_t bits) {
  return (static_cast<double>(bits >> 11) + 0.5) * (1.0 / 9007199254740992.0);
}

/// (a b + c) mod n for a, b, c < n.
KOKKOS_INLINE_FUNCTION std::uint64_t multiply_add_modulo(std::uint64_t a, std::uint64_t b,
                                                         std::uint64_t c, std::uint64_t n) {
  if (n <= std::uint64_t{1} << 32) return (a * b + c) % n;
  auto const add = [n](std::uint64_t x, std::uint64_t y) {
    return x >= n - y ? x - (n - y) : x + y;
  };
  for (; b != 0; b >>= 1) {  // one bit of b at a time
    if (b & 1) c = add(a, c);
    a = add(a, a);
  }
  return c;
}

/// floor(a b / n) for a <= n, and b and n up to 2^40.
KOKKOS_INLINE_FUNCTION std::uint64_t multiply_divide(std::uint64_t a, std::uint64_t b,
                                                     std::uint64_t n) {
  std::uint64_t const high = b >> 20, low = b & 0xfffff;  // in two digits, as long division does
  return (a * high / n << 20) + ((a * high % n << 20) + a * low) / n;
}

/// The functions whose last bits differ from one mathematics library to the next. The host's is the
/// one that says which tensor is meant; `error` bounds how far, relatively, a result may be from
/// it.
struct HostMath {
  static constexpr double error = 0;
  KOKKOS_INLINE_FUNCTION static double exp(double x) { return std::exp(x); }
  KOKKOS_INLINE_FUNCTION static double pow(double x, double y) { return std::pow(x, y); }
};

/// CUDA's, HIP's and glibc's exp and pow are within 2 units in the last place; this allows 64.
struct DeviceMath : HostMath {
  static constexpr double error = 0x1p-46;
};

template <class ExecutionSpace>
using MathOf = std::conditional_t<is_gpu<ExecutionSpace>, DeviceMath, HostMath>;

/// Places 0 to n-1 in an order of frequency: place k comes about (k+1)^-skew as often as place 0
/// (Zipf's law). Drawn by the inverse of the law's distribution function.
struct PowerLaw {
  std::uint64_t n = 1;
  double a = 0;
  double exponent = 0;
  bool logarithmic = false;

  PowerLaw() = default;
  PowerLaw(std::uint64_t count, double skew) : n(count), logarithmic(std::fabs(1 - skew) < 1e-9) {
    double const end = static_cast<double>(n) + 1;
    a = logarithmic ? std::log(end) : std::pow(end, 1 - skew) - 1;
    exponent = logarithmic ? 0 : 1 / (1 - skew);
  }

  /// Clears is_certain where the host's mathematics might give another place: x is too close to
  /// the integer between two of them.
  template <class Math>
  KOKKOS_INLINE_FUNCTION std::uint64_t place(double u, Math, bool& is_certain) const {
    double const volatile product = u * a;  // rounded: no fused multiply-add changes the tensor
    double const x = logarithmic ? Math::exp(product) : Math::pow(1 + product, exponent);
    if (Math::error > 0) {
      double const margin = x * Math::error;
      double const nearest = std::floor(x + 0.5);
      bool const is_last = x - margin >= static_cast<double>(n);
      bool const is_inside = x - nearest > margin || nearest - x > margin;
      is_certain = is_certain && (x < 1.5 || is_inside || is_last);
    }
    if (!(x >= 2)) return 0;
    if (x - 1 >= static_cast<double>(n)) return n - 1;
    return static_cast<std::uint64_t>(x) - 1;
  }
};

/// Where the slices of the places stand in a mode.
enum class SliceOrder {
  natural,   // in the order of their places: the heaviest first
  shuffled,  // in an order that looks random
  centred    // the heaviest in the middle
};

/// Which index the slice of a place has.
struct PlaceToIndex {
  std::uint64_t n = 1;
  std::uint64_t multiplier = 1;
  std::uint64_t offset = 0;
  SliceOrder order = SliceOrder::natural;

  PlaceToIndex() = default;
  PlaceToIndex(std::uint64_t count, SliceOrder slices, std::uint64_t seed)
      : n(count), order(slices) {
    if (order != SliceOrder::shuffled || n <= 2) return;
    multiplier = static_cast<std::uint64_t>(0.6180339887498949 * static_cast<double>(n)) | 1;
    offset = splitmix64(seed) % n;
    while (std::gcd(multiplier, n) != 1) multiplier += 2;
    multiplier %= n;
    if (multiplier == 0) multiplier = 1;
  }

  KOKKOS_INLINE_FUNCTION std::uint64_t operator()(std::uint64_t place) const {
    if (order == SliceOrder::shuffled) return multiply_add_modulo(place, multiplier, offset, n);
    if (order == SliceOrder::natural) return place;
    std::uint64_t const half = (place + 1) / 2;  // 0, +1, -1, +2, -2 ... from the middle
    return (place & 1) ? (n / 2 + half) % n : (n / 2 + n - half) % n;
  }
};

}  // namespace sporades::detail
