// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// First the front door, which includes this file where it belongs: hence a guard.
#include <sporades/formats/flycoo_tensor.hpp>

#ifndef SPORADES_FORMATS_FLYCOO_RECORDS
#define SPORADES_FORMATS_FLYCOO_RECORDS

#include <cstring>
#include <sporades/core/detail/bits.hpp>

/// Records of a FlycooTensor: how they are read, written and moved.

namespace sporades::detail {

/// Units past the last record that loads of 64 bits may touch.
inline constexpr Position spare_units = 8;

template <class Unit>
inline constexpr int unit_bits = 8 * sizeof(Unit);

/// 64 bits from a unit on.
template <class Unit>
KOKKOS_FORCEINLINE_FUNCTION std::uint64_t load_units(Unit const* from) {
  if constexpr (sizeof(Unit) == 4) {
    return from[0] | std::uint64_t{from[1]} << 32;
  } else {
    std::uint64_t word;
    std::memcpy(&word, from, sizeof word);
    return word;
  }
}

/// Where in a record an index is.
template <class Unit>
struct RecordField {
  int unit, shift;
  std::uint64_t mask;

  RecordField() = default;
  RecordField(int first_bit, int bits)
      : unit(first_bit / unit_bits<Unit>),
        shift(first_bit % unit_bits<Unit>),
        mask(low_bits(bits)) {}

  template <class Index>
  KOKKOS_FORCEINLINE_FUNCTION Index of(Unit const* record) const {
    std::uint64_t index = load_units(record + unit) >> shift;
    if constexpr (sizeof(Index) == 8)
      if (shift > 0) index |= std::uint64_t{record[unit + 64 / unit_bits<Unit>]} << (64 - shift);
    return static_cast<Index>(index & mask);
  }
};

/// A record's value, which is first in it.
template <class Scalar, class Unit>
KOKKOS_FORCEINLINE_FUNCTION Scalar record_value(Unit const* record) {
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

/// The number that a constant or a variable is. (nvcc takes the conversion of std's constants for a
/// function of the host.)
template <class Number>
KOKKOS_FORCEINLINE_FUNCTION constexpr Number number_of(Number number) {
  return number;
}
template <class Number, Number number>
KOKKOS_FORCEINLINE_FUNCTION constexpr Number number_of(std::integral_constant<Number, number>) {
  return number;
}

/// length: units of the record, a constant or not.
template <class Length>
KOKKOS_FORCEINLINE_FUNCTION void copy_record(std::uint16_t const* from, std::uint16_t* to,
                                             Length length) {
  int const units = number_of(length);
  int k = 0;
  for (; k + 4 <= units; k += 4) copy_number<std::uint64_t>(from + k, to + k);
  if (k + 2 <= units) {
    copy_number<std::uint32_t>(from + k, to + k);
    k += 2;
  }
  if (k < units) to[k] = from[k];
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
    if (bits > 32 && bits + shift > 64) number |= std::uint64_t{from[2]} << (64 - shift);
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
  using Unit = FlycooUnit<MemorySpace>;

  Unit const* from;  // where the records are
  Unit* to;
  PackedNumbers<MemorySpace> place;
  int units;

  /// Records begin to end - 1, one after the other.
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Position begin, Position end) const {
    auto const local = *this;  // which stores cannot change
    auto const move_all = [&](auto length) {
      int const size = number_of(length);
      for (Position p = begin; p < end; ++p)
        copy_record(local.from + p * size, local.to + local.place(p) * size, length);
    };
    switch (local.units) {
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
        return move_all(local.units);
    }
  }

  /// Record p, by one thread.
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Position p) const {
    if constexpr (std::is_same_v<MemorySpace, Kokkos::HostSpace>) {
      (*this)(p, p + 1);
    } else {
      Unit const* const source = from + p * static_cast<Position>(units);
      Unit* const target = to + place(p) * static_cast<Position>(units);
      for (int k = 0; k < units; ++k) target[k] = source[k];
    }
  }

  /// Records begin to end - 1, no more than there are lanes, by all of them: each lane reads where
  /// one record goes, and neighbouring lanes move neighbouring units.
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Position begin, Position end,
                                              VectorLanes const& lanes) const {
    switch (units) {
      case 3:
        return move_units(begin, end, lanes, std::integral_constant<std::uint32_t, 3>{});
      case 4:
        return move_units(begin, end, lanes, std::integral_constant<std::uint32_t, 4>{});
      case 5:
        return move_units(begin, end, lanes, std::integral_constant<std::uint32_t, 5>{});
      default:
        return move_units(begin, end, lanes, static_cast<std::uint32_t>(units));
    }
  }

 private:
  template <class Length>
  KOKKOS_FORCEINLINE_FUNCTION void move_units(Position begin, Position end,
                                              VectorLanes const& lanes, Length length) const {
    auto const lane = static_cast<std::uint32_t>(lanes.mine());
    auto const count = static_cast<std::uint32_t>(lanes.count());
    auto const records = static_cast<std::uint32_t>(end - begin);
    std::uint32_t const size = number_of(length);
    Unit const* const source = from + begin * size;
    Position const target = place(begin + (lane < records ? lane : 0));
    for (std::uint32_t step = 0; step < size; ++step) {
      std::uint32_t const at = step * count + lane, record = at / size;
      Position const own = lanes.of(static_cast<int>(record), target);
      if (record < records) to[own * size + (at - record * size)] = source[at];
    }
  }
};

/// Moves all records, in segments of neighbours.
template <class MemorySpace>
struct MoveSegments {
  static constexpr bool on_host = std::is_same_v<MemorySpace, Kokkos::HostSpace>;
  static constexpr Position lanes = on_host ? 1 : 32, length = on_host ? 256 : 32;

  MoveRecords<MemorySpace> move;
  Position count;

  Position items() const { return (count + length - 1) / length * lanes; }
  KOKKOS_FUNCTION void operator()(Position i) const {
    Position const begin = i / lanes * length;
    Position const end = begin + length < count ? begin + length : count;
    if constexpr (on_host)
      move(begin, end);
    else
      move(begin, end, VectorLanes::of_items(lanes));
  }
};

}  // namespace sporades::detail

#endif
