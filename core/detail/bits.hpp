// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <sporades/core/detail/kokkos.hpp>

#if defined(__BMI2__)
#include <immintrin.h>
#endif

namespace sporades::detail {

/// A word whose lowest `width` bits are set, 0 <= width <= 64.
KOKKOS_INLINE_FUNCTION constexpr std::uint64_t low_bits(int width) {
  return width <= 0 ? 0 : ~std::uint64_t{0} >> (64 - width);
}

/// How many bits are set.
KOKKOS_FORCEINLINE_FUNCTION int count_ones(std::uint32_t word) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return __popc(word);
#else
  word -= word >> 1 & 0x55555555u;
  word = (word & 0x33333333u) + (word >> 2 & 0x33333333u);
  return static_cast<int>(((word + (word >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24);
#endif
}

/// The place of the highest bit that is set; word is not 0.
KOKKOS_FORCEINLINE_FUNCTION int highest_one(std::uint32_t word) {
  int place = 0;
  for (int step = 16; step > 0; step /= 2)
    if (word >> step != 0) {
      word >>= step;
      place += step;
    }
  return place;
}

/// A set of bits of a word, in any places. With it come the six steps that gather or scatter such
/// bits on processors that have no instruction for it (Warren, Hacker's Delight, 2nd ed., sections
/// 7-4 and 7-5).
struct BitMask {
  static constexpr int steps = 6;

  std::uint64_t mask = 0;
  std::uint64_t moved[steps] = {};  // the bits that step k moves by 2^k

  BitMask() = default;
  explicit BitMask(std::uint64_t bits) : mask(bits) {
    std::uint64_t left = bits, zeros = ~bits << 1;
    for (int k = 0; k < steps; ++k) {
      std::uint64_t odd = zeros;  // bit b is set if the number of zeros below b is odd
      for (int shift = 1; shift < 64; shift *= 2) odd ^= odd << shift;
      moved[k] = odd & left;
      left = (left ^ moved[k]) | moved[k] >> (1 << k);
      zeros &= ~odd;
    }
  }

  /// The number of bits.
  int count() const {
    int bits = 0;
    for (std::uint64_t left = mask; left != 0; left &= left - 1) ++bits;
    return bits;
  }
};

/// extract_bits by BitMask's steps, on any processor.
KOKKOS_INLINE_FUNCTION std::uint64_t extract_in_steps(std::uint64_t word, BitMask const& bits) {
  word &= bits.mask;
  for (int k = 0; k < BitMask::steps; ++k) {
    std::uint64_t const moving = word & bits.moved[k];
    word = (word ^ moving) | moving >> (1 << k);
  }
  return word;
}

/// deposit_bits by BitMask's steps, on any processor.
KOKKOS_INLINE_FUNCTION std::uint64_t deposit_in_steps(std::uint64_t value, BitMask const& bits) {
  for (int k = BitMask::steps - 1; k >= 0; --k)
    value = (value & ~bits.moved[k]) | (value << (1 << k) & bits.moved[k]);
  return value & bits.mask;
}

/// The bits of word that the mask names, side by side from bit 0 on (x86's instruction pext).
KOKKOS_FORCEINLINE_FUNCTION std::uint64_t extract_bits(std::uint64_t word, BitMask const& bits) {
#if defined(__BMI2__) && !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  return _pext_u64(word, bits.mask);
#else
  return extract_in_steps(word, bits);
#endif
}

/// The lowest bits of value at the places that the mask names, zeros elsewhere (x86's pdep).
KOKKOS_FORCEINLINE_FUNCTION std::uint64_t deposit_bits(std::uint64_t value, BitMask const& bits) {
#if defined(__BMI2__) && !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  return _pdep_u64(value, bits.mask);
#else
  return deposit_in_steps(value, bits);
#endif
}

}  // namespace sporades::detail
