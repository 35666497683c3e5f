// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/sort.hpp>

/// A cell's coordinate as one key of 64 or 128 bits.
namespace sporades::detail {

KOKKOS_INLINE_FUNCTION bool key_less(std::uint64_t a, std::uint64_t b) {
  return a < b;
}
KOKKOS_INLINE_FUNCTION bool key_less(Key128 const& a, Key128 const& b) {
  return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/// A coordinate packed into one key, mode 0 highest, so that keys sort as coordinates do.
struct KeyFields {
  int order = 0;
  int shift[max_order] = {};
  int bits[max_order] = {};

  KeyFields() = default;
  explicit KeyFields(Dims const& dims) : order(static_cast<int>(dims.size())) {
    for (int n = order - 1, total = 0; n >= 0; total += bits[n--]) {
      bits[n] = index_bits(dims[n]);
      shift[n] = total;
    }
  }
  int total_bits() const { return shift[0] + bits[0]; }

  KOKKOS_INLINE_FUNCTION void put(std::uint64_t& key, int n, std::uint64_t index) const {
    if (bits[n] != 0) key |= index << shift[n];
  }
  KOKKOS_INLINE_FUNCTION std::uint64_t get(std::uint64_t key, int n) const {
    return bits[n] == 0 ? 0 : key >> shift[n] & ~std::uint64_t{0} >> (64 - bits[n]);
  }
  KOKKOS_INLINE_FUNCTION void put(Key128& key, int n, std::uint64_t index) const {
    if (bits[n] == 0) return;
    if (shift[n] >= 64) {
      key.high |= index << (shift[n] - 64);
    } else {
      key.low |= index << shift[n];
      if (shift[n] > 0) key.high |= index >> (64 - shift[n]);
    }
  }
  KOKKOS_INLINE_FUNCTION std::uint64_t get(Key128 const& key, int n) const {
    if (bits[n] == 0) return 0;
    std::uint64_t const mask = ~std::uint64_t{0} >> (64 - bits[n]);
    if (shift[n] >= 64) return key.high >> (shift[n] - 64) & mask;
    std::uint64_t const low = key.low >> shift[n];
    return (shift[n] == 0 ? low : low | key.high << (64 - shift[n])) & mask;
  }
};

}  // namespace sporades::detail
