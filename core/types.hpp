// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <sporades/core/detail/kokkos.hpp>
#include <sporades/core/detail/memory.hpp>
#include <sporades/core/error.hpp>
#include <string>
#include <vector>

namespace sporades {

/// Highest order of a tensor: kernels carry one small array entry a mode.
inline constexpr int max_order = 16;

/// Number or place of nonzeros, in 64 bits everywhere.
using Position = std::uint64_t;

/// Lengths of the modes, I_0 to I_{N-1}.
using Dims = std::vector<std::uint64_t>;

/// A dense matrix, row-major. A row's stride may exceed the number of columns (see make_matrix).
template <class Scalar, class MemorySpace>
using Matrix = Kokkos::View<Scalar**, Kokkos::LayoutRight, MemorySpace>;

/// One factor matrix a mode: A[n] is I_n x R.
template <class Scalar, class MemorySpace>
using Factors = std::vector<Matrix<Scalar, MemorySpace>>;

/// A dense vector, such as the weights of a model.
template <class Scalar, class MemorySpace>
using Vector = Kokkos::View<Scalar*, MemorySpace>;

/// What a call of an operation costs, as the functions mttkrp_cost, phi_cost and their like say.
/// Bytes are those that must be moved between memory and processors if caches forget nothing:
/// - what the call reads of the nonzeros, in the format that its plan holds, once;
/// - each row of a factor, or entry of a vector, that it reads, once: those that nonzeros use,
///   which are counted, or all of them where the kernel reads all;
/// - the product, written once.
/// Not among them are second reads; what kernels keep for themselves (carries, buffers, partial and
/// intermediate products, weights, rounded or reordered copies of factors); the padding of rows;
/// and where chunks of nonzeros begin, 8 bytes for 128 nonzeros at most.
struct Cost {
  double flops = 0;  // additions and multiplications
  double bytes = 0;
};

/// "183 x 24 x 1140"
inline std::string to_string(Dims const& dims) {
  std::string text;
  for (std::size_t n = 0; n < dims.size(); ++n) text += (n ? " x " : "") + std::to_string(dims[n]);
  return text;
}

namespace detail {

/// Bits that the indices 0 to dim-1 need: ceil(log2 dim), 0 for dim 0 and 1.
KOKKOS_INLINE_FUNCTION constexpr int index_bits(std::uint64_t dim) {
  int bits = 0;
  while (bits < 64 && dim > (std::uint64_t{1} << bits)) ++bits;
  return bits;
}

/// a / b rounded up, for any a: the sum of both, which other ways form, may be past 2^64.
KOKKOS_INLINE_FUNCTION constexpr std::uint64_t quotient_up(std::uint64_t a, std::uint64_t b) {
  return a / b + (a % b != 0);
}

/// a * b, or Error naming what overflowed.
inline std::uint64_t checked_product(std::uint64_t a, std::uint64_t b, char const* what) {
  expects(a == 0 || b <= std::numeric_limits<std::uint64_t>::max() / a, what, ": ", a, " * ", b,
          " overflows 64 bits");
  return a * b;
}

/// Number of entries of a dense tensor of these dims, as a double: it may be far past 2^64.
inline double dense_size(Dims const& dims) {
  double size = 1;
  for (auto dim : dims) size *= static_cast<double>(dim);
  return size;
}

/// Throws Error unless there are 1 to max_order modes and every one fits Index.
template <class Index>
void check_dims(Dims const& dims, char const* where) {
  expects(!dims.empty() && dims.size() <= max_order, where, ": order ", dims.size(),
          " is not in 1 to ", max_order);
  for (std::size_t n = 0; n < dims.size(); ++n)
    expects(dims[n] == 0 || dims[n] - 1 <= std::numeric_limits<Index>::max(), where, ": mode ", n,
            " has length ", dims[n], ", past its ", 8 * sizeof(Index), "-bit indices");
}

}  // namespace detail
}  // namespace sporades
