// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/launch.hpp>
#include <sporades/core/matrix.hpp>

namespace sporades {
namespace detail {

/// One step of the SplitMix64 generator: a bijection of the 64-bit numbers that scatters its input.
/// Steele, Lea & Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
KOKKOS_INLINE_FUNCTION constexpr std::uint64_t splitmix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// Entry (i, r) of the random factor of mode n, in [0, 1). It is the same number on every backend,
/// number of threads and machine. In float it is the double, rounded, so it may be 1.
template <class Scalar>
KOKKOS_INLINE_FUNCTION constexpr Scalar random_entry(std::uint64_t seed, std::uint64_t n,
                                                     std::uint64_t i, std::uint64_t r) {
  auto const bits = splitmix64(seed ^ (n << 56) ^ (i << 16) ^ r) >> 11;
  return static_cast<Scalar>(static_cast<double>(bits) * 0x1p-53);
}

}  // namespace detail

/// The seed of start k when a method tries several starts from one seed; start 0 has the seed
/// itself. The seeds seed + k would not do: if two seeds differ by less than the rank, random
/// factors can have the same columns in another order. So the other seeds are scattered over 53
/// bits. (Every reader of JSON keeps integers of 53 bits.)
constexpr std::uint64_t seed_of_start(std::uint64_t seed, int k) {
  return k == 0
             ? seed
             : detail::splitmix64(detail::splitmix64(seed) + static_cast<std::uint64_t>(k)) >> 11;
}

namespace detail {

template <class Scalar, class MemorySpace>
struct FillRandom {
  Matrix<Scalar, MemorySpace> A;  // rows x R
  std::uint64_t seed, n;
  std::uint64_t first = 0;  // A's first row is this one of the factor

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    for (std::uint64_t r = 0; r < A.extent(1); ++r)
      A(i, r) = random_entry<Scalar>(seed, n, first + i, r);
  }
};

/// A padded rows x R matrix (see make_matrix) with the entries random_entry(seed, n, first + i, r).
/// Enqueued on exec, does not fence. Throws Error if R is not in 1 to 65535: the generator has 16
/// bits for r.
template <class Scalar, class ExecutionSpace>
Matrix<Scalar, typename ExecutionSpace::memory_space> random_factor(ExecutionSpace const& exec,
                                                                    std::string const& label,
                                                                    std::uint64_t rows, int R,
                                                                    std::uint64_t seed, int n,
                                                                    std::uint64_t first = 0) {
  expects(R > 0 && R < 65536, "random_factor: rank ", R, " is not in 1 to 65535");
  auto const A = make_matrix<Scalar>(exec, label, rows, static_cast<std::size_t>(R));
  launch_items(exec, "sporades::random::factor", rows,
               FillRandom<Scalar, typename ExecutionSpace::memory_space>{
                   A, seed, static_cast<std::uint64_t>(n), first});
  return A;
}

}  // namespace detail

/// One random factor a mode, A[n]: dims[n] x R, uniform in [0, 1). The entries depend on the seed,
/// n, the row and the column only. Enqueued on exec, does not fence. Throws Error if R is not in 1
/// to 65535.
template <class Scalar, class ExecutionSpace>
Factors<Scalar, typename ExecutionSpace::memory_space> random_factors(ExecutionSpace const& exec,
                                                                      Dims const& dims, int R,
                                                                      std::uint64_t seed) {
  Factors<Scalar, typename ExecutionSpace::memory_space> A;
  for (std::size_t n = 0; n < dims.size(); ++n)
    A.push_back(detail::random_factor<Scalar>(exec, "sporades::random::factor" + std::to_string(n),
                                              dims[n], R, seed, static_cast<int>(n)));
  return A;
}

}  // namespace sporades
