// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/matrix.hpp>

namespace sporades {
namespace detail {

/// One step of the SplitMix64 generator: a bijection of 64 bits that scatters its input.
/// Steele, Lea & Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
KOKKOS_INLINE_FUNCTION constexpr std::uint64_t splitmix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// Entry (i, r) of the random factor of mode n, in [0, 1): the same number on every backend, thread
/// count and machine. In float it is the double rounded, so it may be 1.
template <class Scalar>
KOKKOS_INLINE_FUNCTION constexpr Scalar random_entry(std::uint64_t seed, std::uint64_t n,
                                                     std::uint64_t i, std::uint64_t r) {
  auto const bits = splitmix64(seed ^ (n << 56) ^ (i << 16) ^ r) >> 11;
  return static_cast<Scalar>(static_cast<double>(bits) * 0x1p-53);
}

}  // namespace detail

/// The seed of start k of several, start 0 being the seed's own. Neighbouring seeds will not do:
/// where two differ in their lowest bits alone, below the rank, random factors have the same
/// columns in another order. So the others are scattered over 53 bits, which every reader of JSON
/// keeps, and are others for another seed.
constexpr std::uint64_t seed_of_start(std::uint64_t seed, int k) {
  return k == 0
             ? seed
             : detail::splitmix64(detail::splitmix64(seed) + static_cast<std::uint64_t>(k)) >> 11;
}

namespace detail {

template <class Scalar, class MemorySpace>
struct FillRandom {
  Matrix<Scalar, MemorySpace> A;  // I_n x R
  std::uint64_t seed, n;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    for (std::uint64_t r = 0; r < A.extent(1); ++r) A(i, r) = random_entry<Scalar>(seed, n, i, r);
  }
};

/// A padded rows x R matrix (see make_matrix) of random_entry(seed, n, i, r). Enqueued on exec.
/// Throws Error if R is past the 16 bits that the generator gives it.
template <class Scalar, class ExecutionSpace>
Matrix<Scalar, typename ExecutionSpace::memory_space> random_factor(ExecutionSpace const& exec,
                                                                    std::string const& label,
                                                                    std::uint64_t rows, int R,
                                                                    std::uint64_t seed, int n) {
  expects(R > 0 && R < 65536, "random_factor: rank ", R, " is not in 1 to 65535");
  auto const A = make_matrix<Scalar>(exec, label, rows, static_cast<std::size_t>(R));
  Kokkos::parallel_for(
      "sporades::random::factor",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::uint64_t>>(exec, 0, rows),
      FillRandom<Scalar, typename ExecutionSpace::memory_space>{A, seed,
                                                                static_cast<std::uint64_t>(n)});
  return A;
}

}  // namespace detail

/// One random factor a mode, A[n]: dims[n] x R. Enqueued on exec.
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
