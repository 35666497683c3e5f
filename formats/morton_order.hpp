// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/sort_coo.hpp>

namespace sporades {
namespace detail {

/// Where each bit of each mode's index goes in a Morton key of at most `width` bits: the lowest
/// bits of all modes side by side, then the next, as far up as each mode has bits; of keys longer
/// than width the lowest bits are left out. Tables of 256 entries for each byte of each index.
struct MortonTables {
  std::vector<int> bytes;             // of each mode: how many tables it has
  std::vector<std::uint64_t> tables;  // 256 entries each, mode by mode, lowest byte first
  int bits = 0;                       // of a key

  MortonTables(Dims const& dims, int width) {
    int const N = static_cast<int>(dims.size());
    std::vector<std::vector<int>> place(N);
    int longest = 0, all = 0;
    for (auto dim : dims) longest = std::max(longest, index_bits(dim));
    for (int b = 0; b < longest; ++b)
      for (int n = 0; n < N; ++n)
        if (b < index_bits(dims[n])) place[n].push_back(all++);
    int const left_out = std::max(0, all - width);
    bits = all - left_out;
    for (int n = 0; n < N; ++n) {
      bytes.push_back((static_cast<int>(place[n].size()) + 7) / 8);
      for (int k = 0; k < bytes[n]; ++k)
        for (unsigned value = 0; value < 256; ++value) {
          std::uint64_t key = 0;
          for (std::size_t b = 8 * k; b < place[n].size() && b < 8 * (k + 1u); ++b)
            if (place[n][b] >= left_out && (value >> (b - 8 * k) & 1))
              key |= std::uint64_t{1} << (place[n][b] - left_out);
          tables.push_back(key);
        }
    }
  }
};

/// keys(p) <- the Morton key of nonzero p.
template <class Coordinates>
struct MortonKeys {
  using Memory = typename Coordinates::memory_space;

  Coordinates coordinates;                            // N x nnz
  Kokkos::View<std::uint64_t*, Memory> keys;          // nnz
  Kokkos::View<std::uint64_t const*, Memory> tables;  // of MortonTables
  int order;
  int bytes[max_order];

  KOKKOS_FUNCTION void operator()(Position p) const {
    std::uint64_t key = 0;
    int table = 0;
    for (int n = 0; n < order; ++n) {
      std::uint64_t index = coordinates(n, p);
      for (int k = 0; k < bytes[n]; ++k, index >>= 8) key |= tables(256 * table++ + (index & 255));
    }
    keys(p) = key;
  }
};

}  // namespace detail

/// X in the order of a space-filling curve: nonzeros near each other in memory are near each other
/// in all modes (Morton 1966; with modes of unequal length as ALTO interleaves them, Helal et al.,
/// ICS 2021). A stable sort by one mode leaves each row in this order of the other modes. The
/// lowest bits of keys past 64 bits less those that number the nonzeros are not compared.
/// Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> morton_sorted(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X) {
  using Coordinates = typename CooTensor<Scalar, Index, MemorySpace>::Coordinates;
  using Keys = Kokkos::View<std::uint64_t*, MemorySpace>;
  detail::MortonTables const tables(X.dims, 64 - index_bits(X.nnz()));
  Keys const device_tables(Kokkos::view_alloc(exec, "sporades::morton::tables"),
                           tables.tables.size());
  auto const host = Kokkos::create_mirror_view(device_tables);
  fence(exec, "sporades::morton::tables");
  std::copy(tables.tables.begin(), tables.tables.end(), host.data());
  Kokkos::deep_copy(exec, device_tables, host);
  auto const keys = uninitialized<Keys>(exec, "sporades::morton::keys", X.nnz());
  detail::MortonKeys<Coordinates> functor{X.coordinates, keys, device_tables, X.order(), {}};
  std::copy(tables.bytes.begin(), tables.bytes.end(), functor.bytes);
  Kokkos::parallel_for(
      "sporades::morton::keys",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>(exec, 0, X.nnz()), functor);
  auto const Y = permuted(exec, X, sort_permutation(exec, keys, tables.bits));
  fence(exec, "sporades::morton::sorted");  // the mirror of the tables may be freed
  return Y;
}

}  // namespace sporades
