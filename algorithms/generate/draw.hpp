// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// One random coordinate, as plain data and device functions. On a device the last bits of exp and
/// pow may differ from the host's, and with them, once in very many draws, an index.

#include <cmath>
#include <numeric>
#include <sporades/core/sort.hpp>
#include <sporades/core/types.hpp>

namespace sporades::detail {

/// The generator of DESIGN.md §5, spelled out here because the tensors' bits hang on it.
KOKKOS_INLINE_FUNCTION std::uint64_t generate_mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// 64 random bits for the draw number `counter` of one lane (one use) of a seed.
KOKKOS_INLINE_FUNCTION std::uint64_t generate_bits(std::uint64_t seed, std::uint64_t counter,
                                                   std::uint64_t lane) {
  return generate_mix(generate_mix(seed * 0x9e3779b97f4a7c15ull + lane) ^ counter);
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

/// Ranks 0 to n-1 of which rank k comes about (k+1)^-skew as often as rank 0: the inverse of a
/// power law's distribution function.
struct ZipfRank {
  std::uint64_t n = 1;
  double a = 0;
  double exponent = 0;
  bool logarithmic = false;

  ZipfRank() = default;
  ZipfRank(std::uint64_t count, double skew) : n(count), logarithmic(std::fabs(1 - skew) < 1e-9) {
    double const end = static_cast<double>(n) + 1;
    a = logarithmic ? std::log(end) : std::pow(end, 1 - skew) - 1;
    exponent = logarithmic ? 0 : 1 / (1 - skew);
  }

  KOKKOS_INLINE_FUNCTION std::uint64_t operator()(double u) const {
    double const volatile product = u * a;  // rounded: no fused multiply-add changes the tensor
    double const x = logarithmic ? std::exp(product) : std::pow(1 + product, exponent);
    if (!(x >= 2)) return 0;
    if (x - 1 >= static_cast<double>(n)) return n - 1;
    return static_cast<std::uint64_t>(x) - 1;
  }
};

enum class SliceOrder { natural, shuffled, centred };

/// Which index the slice of a rank has.
struct RankToIndex {
  std::uint64_t n = 1;
  std::uint64_t multiplier = 1;
  std::uint64_t offset = 0;
  SliceOrder order = SliceOrder::natural;

  RankToIndex() = default;
  RankToIndex(std::uint64_t count, SliceOrder slices, std::uint64_t seed)
      : n(count), order(slices) {
    if (order != SliceOrder::shuffled || n <= 2) return;
    multiplier = static_cast<std::uint64_t>(0.6180339887498949 * static_cast<double>(n)) | 1;
    offset = generate_mix(seed) % n;
    while (std::gcd(multiplier, n) != 1) multiplier += 2;
    multiplier %= n;
    if (multiplier == 0) multiplier = 1;
  }

  KOKKOS_INLINE_FUNCTION std::uint64_t operator()(std::uint64_t rank) const {
    if (order == SliceOrder::shuffled) return multiply_add_modulo(rank, multiplier, offset, n);
    if (order == SliceOrder::natural) return rank;
    std::uint64_t const half = (rank + 1) / 2;  // 0, +1, -1, +2, -2 ... from the middle
    return (rank & 1) ? (n / 2 + half) % n : (n / 2 + n - half) % n;
  }
};

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

/// Draw number c of a tensor. The modes of pool_modes (a bit each) take their indices together
/// from a pool of fixed tuples, some of them more popular: that makes fibers long.
struct CoordinateDraw {
  KeyFields fields;
  ZipfRank rank[max_order];
  RankToIndex index[max_order];
  std::uint64_t seed = 0;
  bool has_pool = false;
  unsigned pool_modes = 0;
  ZipfRank pool;

  template <class Key>
  KOKKOS_INLINE_FUNCTION Key key(std::uint64_t c) const {
    Key packed{};
    std::uint64_t const tuple = has_pool ? pool(generate_unit(generate_bits(seed, c, 100))) : 0;
    for (int n = 0; n < fields.order; ++n) {
      bool const pooled = has_pool && (pool_modes >> n & 1u) != 0;
      std::uint64_t const bits =
          pooled ? generate_bits(seed ^ 0x5bd1e995u, tuple, 200 + n) : generate_bits(seed, c, n);
      fields.put(packed, n, index[n](rank[n](generate_unit(bits))));
    }
    return packed;
  }
};

}  // namespace sporades::detail
