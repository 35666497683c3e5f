// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstring>
#include <sporades/core/detail/tile.hpp>

#if defined(__AVX2__) || defined(__F16C__)
#include <immintrin.h>
#endif

/// Numbers that are stored in fewer bits than sums have: float, and two formats of 16 bits. They
/// are rounded to nearest, ties to even. A number too large for half becomes infinite.

namespace sporades::detail {

/// 8 bits of exponent, and 8 of precision.
struct BFloat16 {
  std::uint16_t bits;
};

/// IEEE 754 binary16: 5 bits of exponent, and 11 of precision.
struct Half {
  std::uint16_t bits;
};

template <class To, class From>
KOKKOS_FORCEINLINE_FUNCTION To same_bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From), "Bits are neither lost nor added.");
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

/// 2^16, from which numbers are past half's range without being rounded first, and its smallest
/// normal number.
inline constexpr std::uint32_t half_overflow = 0x47800000u, half_normal = 0x38800000u;
inline constexpr std::uint32_t half_subnormal_magic = 0x3f000000u;  // 0.5, whose unit is 2^-24

KOKKOS_FORCEINLINE_FUNCTION void round_to(float value, float& result) {
  result = value;
}
KOKKOS_FORCEINLINE_FUNCTION void round_to(float value, BFloat16& result) {
  auto const bits = same_bits_as<std::uint32_t>(value);
  bool const is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  result.bits = static_cast<std::uint16_t>(is_nan ? bits >> 16 | 0x40u
                                                  : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
KOKKOS_FORCEINLINE_FUNCTION void round_to(float value, Half& result) {
  auto const bits = same_bits_as<std::uint32_t>(value);
  std::uint32_t const sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  std::uint32_t rounded;
  if (magnitude >= half_overflow)
    rounded = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  else if (magnitude < half_normal)
    rounded = same_bits_as<std::uint32_t>(same_bits_as<float>(magnitude) +
                                          same_bits_as<float>(half_subnormal_magic)) -
              half_subnormal_magic;
  else
    rounded = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  result.bits = static_cast<std::uint16_t>(rounded | sign);
}

KOKKOS_FORCEINLINE_FUNCTION float to_float(float value) {
  return value;
}
KOKKOS_FORCEINLINE_FUNCTION float to_float(BFloat16 value) {
  return same_bits_as<float>(static_cast<std::uint32_t>(value.bits) << 16);
}
KOKKOS_FORCEINLINE_FUNCTION float to_float(Half value) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
  return result;
#else
  std::uint32_t const magnitude = (value.bits & 0x7fffu) << 13;
  std::uint32_t const bits = magnitude >= 0x0f800000u
                                 ? magnitude | 0x7f800000u
                                 : same_bits_as<std::uint32_t>(same_bits_as<float>(magnitude) *
                                                               same_bits_as<float>(0x77800000u));
  return same_bits_as<float>(bits | (value.bits & 0x8000u) << 16);
#endif
}

/// Vectors of numbers in float, by the vector types of g++ and clang.
#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
template <int entries>
struct FloatVector {
  using Float = typename Register<float, entries>::Type;
  using Bits = typename Register<std::uint32_t, entries>::Type;
  using Short = typename Register<std::uint16_t, entries>::Type;

  static KOKKOS_FORCEINLINE_FUNCTION void load(float const* from, Float& to) {
    to = *reinterpret_cast<Float const*>(from);
  }
  static KOKKOS_FORCEINLINE_FUNCTION void load(BFloat16 const* from, Float& to) {
    Bits bits;
    load_bits(from, bits);
    to = (Float)(bits << 16);
  }
  static KOKKOS_FORCEINLINE_FUNCTION void load(Half const* from, Float& to) {
#if defined(__AVX512F__)
    if constexpr (entries == 16) {
      to = (Float)_mm512_maskz_cvtph_ps(0xffff, halves(from));
      return;
    }
#endif
#if defined(__F16C__)
    if constexpr (entries == 8) {
      to = (Float)_mm256_cvtph_ps(shorts(from));
      return;
    }
#endif
    Bits bits;
    load_bits(from, bits);
    Bits const magnitude = (bits & 0x7fffu) << 13;
    Bits const is_past = (Bits)(magnitude >= 0x0f800000u);
    Bits const finite = (Bits)((Float)magnitude * same_bits_as<float>(0x77800000u));
    to = (Float)((is_past & (magnitude | 0x7f800000u)) | (~is_past & finite) |
                 (bits & 0x8000u) << 16);
  }

 private:
  // What g++ 12 makes several instructions of for vector types. (It warns of intrinsics without a
  // mask for vectors of 64 bytes, which are the same ones.)
#if defined(__AVX512F__)
  static KOKKOS_FORCEINLINE_FUNCTION __m256i halves(void const* from) {
    return _mm256_loadu_si256(static_cast<__m256i const*>(from));
  }
#endif
#if defined(__AVX2__) || defined(__F16C__)
  static KOKKOS_FORCEINLINE_FUNCTION __m128i shorts(void const* from) {
    return _mm_loadu_si128(static_cast<__m128i const*>(from));
  }
#endif
  template <class From>
  static KOKKOS_FORCEINLINE_FUNCTION void load_bits(From const* from, Bits& to) {
#if defined(__AVX512F__)
    if constexpr (entries == 16) {
      to = (Bits)_mm512_maskz_cvtepu16_epi32(0xffff, halves(from));
      return;
    }
#endif
#if defined(__AVX2__)
    if constexpr (entries == 8) {
      to = (Bits)_mm256_cvtepu16_epi32(shorts(from));
      return;
    }
#endif
    to = __builtin_convertvector(*reinterpret_cast<Short const*>(from), Bits);
  }
};
#endif

/// A tile of numbers that are stored as From. If `packed`, they are loaded at once, from an address
/// that is a multiple of their size.
template <class Scalar, int width, bool packed, class From>
KOKKOS_FORCEINLINE_FUNCTION Tile<Scalar, width> load_tile_of(From const* from) {
  Tile<Scalar, width> tile;
  if constexpr (packed) {
    struct alignas(width * sizeof(From)) Numbers {
      From entry[width];
    };
    auto const numbers = *reinterpret_cast<Numbers const*>(from);
    for (int j = 0; j < width; ++j) tile.set(j, static_cast<Scalar>(to_float(numbers.entry[j])));
  } else {
    using Part = typename Tile<Scalar, width>::Part;
#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
    for (int k = 0; k < tile.parts; ++k) {
      typename FloatVector<Part::size>::Float numbers;
      FloatVector<Part::size>::load(from + k * Part::size, numbers);
      Register<float, Part::size>::template convert<Scalar>(numbers, tile.part[k]);
    }
#else
    for (int j = 0; j < width; ++j) tile.set(j, static_cast<Scalar>(to_float(from[j])));
#endif
  }
  return tile;
}

}  // namespace sporades::detail
