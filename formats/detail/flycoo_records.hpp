// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstring>
#include <sporades/core/detail/bits.hpp>
#include <sporades/core/types.hpp>

/// Records of a FlycooTensor: how they are read, written and moved.

namespace sporades::detail {

/// Units past the last record that loads of 64 bits may touch.
inline constexpr Position spare_units = 8;

/// 64 bits from a unit of 16 bits on.
KOKKOS_FORCEINLINE_FUNCTION std::uint64_t load_units(std::uint16_t const* from) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return from[0] | std::uint64_t{from[1]} << 16 | std::uint64_t{from[2]} << 32 |
         std::uint64_t{from[3]} << 48;
#else
  std::uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
#endif
}

/// Where in a record an index is.
struct RecordField {
  int unit, shift;
  std::uint64_t mask;

  RecordField() = default;
  RecordField(int first_bit, int bits)
      : unit(first_bit / 16), shift(first_bit % 16), mask(low_bits(bits)) {}

  /// Of at most 48 bits where Index has 32.
  template <class Index>
  KOKKOS_FORCEINLINE_FUNCTION Index of(std::uint16_t const* record) const {
    std::uint64_t index = load_units(record + unit) >> shift;
    if constexpr (sizeof(Index) == 8)
      if (shift > 0) index |= std::uint64_t{record[unit + 4]} << (64 - shift);
    return static_cast<Index>(index & mask);
  }
};

/// A record's value, which is first in it.
template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION Scalar record_value(std::uint16_t const* record) {
  std::uint64_t const bits = load_units(record);
  Scalar value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Units of a record that are copied as one number.
template <class Number>
KOKKOS_FORCEINLINE_FUNCTION void copy_number(std::uint16_t const* from, std::uint16_t* to) {
  Number number;
  std::memcpy(&number, from, sizeof number);
  std::memcpy(to, &number, sizeof number);
}

/// units: of the record, a constant or not.
template <class Units>
KOKKOS_FORCEINLINE_FUNCTION void copy_record(std::uint16_t const* from, std::uint16_t* to,
                                             Units units) {
  int k = 0;
#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  for (; k + 4 <= units; k += 4) copy_number<std::uint64_t>(from + k, to + k);
  if (k + 2 <= units) {
    copy_number<std::uint32_t>(from + k, to + k);
    k += 2;
  }
#endif
  for (; k < units; ++k) to[k] = from[k];
}

/// Numbers of `bits` bits each, side by side in words of 32.
template <class MemorySpace>
struct PackedNumbers {
  std::uint32_t const* words;
  int bits;  // at most 64; the words go on for two past the last number

  KOKKOS_FORCEINLINE_FUNCTION Position operator()(Position p) const {
    Position const first = p * static_cast<Position>(bits);
    std::uint32_t const* const from = words + first / 32;
    int const shift = static_cast<int>(first % 32);
    std::uint64_t number = (from[0] | std::uint64_t{from[1]} << 32) >> shift;
    if (bits + shift > 64) number |= std::uint64_t{from[2]} << (64 - shift);
    return number & low_bits(bits);
  }
};

/// Words of 32 bits that PackedNumbers needs.
inline Position packed_number_words(Position count, int bits) {
  return (count * static_cast<Position>(bits) + 31) / 32 + 2;
}

/// words(w) <- the bits of the numbers that are in it.
template <class Numbers, class Packed>
struct PackNumbers {
  Numbers numbers;  // n
  Packed words;
  int bits;

  KOKKOS_FUNCTION void operator()(Position w) const {
    std::uint32_t word = 0;
    Position const count = numbers.extent(0);
    for (Position p = 32 * w / bits; p < count && p * bits < 32 * (w + 1); ++p) {
      auto const at = static_cast<std::int64_t>(p * bits) - static_cast<std::int64_t>(32 * w);
      word |= static_cast<std::uint32_t>(at >= 0 ? numbers(p) << at : numbers(p) >> -at);
    }
    words(w) = word;
  }
};

/// Moves records to their places in another order.
template <class MemorySpace>
struct MoveRecords {
  std::uint16_t const* from;
  std::uint16_t* to;
  PackedNumbers<MemorySpace> place;
  int units;

  template <class Units>
  KOKKOS_FORCEINLINE_FUNCTION void move(Position p, Units constant) const {
    copy_record(from + p * constant, to + place(p) * constant, constant);
  }
  /// Every `step`-th record from `begin` to end - 1.
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Position begin, Position end, Position step) const {
    auto const local = *this;  // which stores cannot change
    auto const move_all = [&](auto constant) {
      for (Position p = begin; p < end; p += step) local.move(p, constant);
    };
    switch (units) {
      case 4:
        return move_all(std::integral_constant<int, 4>{});
      case 5:
        return move_all(std::integral_constant<int, 5>{});
      case 6:
        return move_all(std::integral_constant<int, 6>{});
      case 7:
        return move_all(std::integral_constant<int, 7>{});
      case 8:
        return move_all(std::integral_constant<int, 8>{});
      case 9:
        return move_all(std::integral_constant<int, 9>{});
      default:
        return move_all(units);
    }
  }
};

/// Moves records length i to length (i + 1) - 1.
template <class MemorySpace>
struct MoveSegments {
  MoveRecords<MemorySpace> move;
  Position count, length;

  KOKKOS_FUNCTION void operator()(Position i) const {
    Position const end = length * (i + 1);
    move(length * i, end < count ? end : count, 1);
  }
};

}  // namespace sporades::detail
