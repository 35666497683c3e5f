// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <sporades/core/detail/dense.hpp>

namespace sporades::detail {

/// The numbers of CP-ALS that do not grow with the tensor, side by side in one allocation, so that
/// one copy takes them all between host and device. P: R with padding, which is zeros.
template <class MemorySpace>
struct SmallMatrices {
  template <class DataType>
  using Part = Kokkos::View<DataType, Kokkos::LayoutRight, MemorySpace, Kokkos::MemoryUnmanaged>;

  Kokkos::View<double*, MemorySpace> all;
  Part<double***> grams;  // N x P x P: A[n]^T A[n]
  Part<double*> weights;  // P
  Part<double*> inner;    // P: column r's part of <X, M>
  Part<double*> squares;  // P: column r's part of ||M||^2
  Part<double*> kinds;    // N: of mode n's last system

  static std::size_t size(std::size_t N, std::size_t P) { return N * P * P + 3 * P + N; }

  SmallMatrices(Kokkos::View<double*, MemorySpace> const& memory, std::size_t N, std::size_t P)
      : all(memory),
        grams(memory.data(), N, P, P),
        weights(grams.data() + grams.size(), P),
        inner(weights.data() + P, P),
        squares(inner.data() + P, P),
        kinds(squares.data() + P, N) {}
};

/// H(i, j) = the product of all Gram matrices' (i, j) but mode skip's, of i, j < rank: the Gram
/// matrix of the Khatri-Rao product. All ones for a tensor of order 1.
template <class MemorySpace>
struct HadamardOfGrams {
  typename SmallMatrices<MemorySpace>::template Part<double***> grams;
  Kokkos::View<double**, Kokkos::LayoutRight, MemorySpace> H;
  std::uint64_t skip, rank;

  KOKKOS_FUNCTION void operator()(std::uint64_t item) const {
    std::uint64_t const i = item / H.extent(1), j = item % H.extent(1);
    double product = i < rank && j < rank ? 1 : 0;
    for (std::uint64_t n = 0; n < grams.extent(0); ++n)
      if (n != skip) product *= grams(n, i, j);
    H(i, j) = product;
  }
};

/// system = H + ridge I in Scalar.
template <class Scalar, class MemorySpace>
struct AddRidge {
  Kokkos::View<double const**, Kokkos::LayoutRight, MemorySpace> H;
  Matrix<Scalar, MemorySpace> system;
  double ridge;
  std::uint64_t rank;

  KOKKOS_FUNCTION void operator()(std::uint64_t item) const {
    std::uint64_t const i = item / H.extent(1), j = item % H.extent(1);
    system(i, j) = static_cast<Scalar>(H(i, j) + (i == j && i < rank ? ridge : 0));
  }
};

/// squares(j) = sum_i H(i, j) G(i, j)
template <class MemorySpace>
struct ModelSquares {
  Kokkos::View<double const**, Kokkos::LayoutRight, MemorySpace> H, G;
  typename SmallMatrices<MemorySpace>::template Part<double*> squares;

  KOKKOS_FUNCTION void operator()(std::uint64_t j) const {
    double sum = 0;
    for (std::uint64_t i = 0; i < H.extent(0); ++i) sum += H(i, j) * G(i, j);
    squares(j) = sum;
  }
};

/// H(i, j) *= G(i, j), of H(i, j) = weights(i) weights(j) at first.
template <class MemorySpace>
struct MultiplyByGram {
  Kokkos::View<double const**, Kokkos::LayoutRight, MemorySpace> G;
  Kokkos::View<double**, Kokkos::LayoutRight, MemorySpace> H;
  typename SmallMatrices<MemorySpace>::template Part<double*> weights;
  bool first;

  KOKKOS_FUNCTION void operator()(std::uint64_t item) const {
    std::uint64_t const i = item / H.extent(1), j = item % H.extent(1);
    H(i, j) = (first ? weights(i) * weights(j) : H(i, j)) * G(i, j);
  }
};

/// squares(j) = sum_i H(i, j)
template <class MemorySpace>
struct SumOfColumn {
  Kokkos::View<double const**, Kokkos::LayoutRight, MemorySpace> H;
  typename SmallMatrices<MemorySpace>::template Part<double*> squares;

  KOKKOS_FUNCTION void operator()(std::uint64_t j) const {
    double sum = 0;
    for (std::uint64_t i = 0; i < H.extent(0); ++i) sum += H(i, j);
    squares(j) = sum;
  }
};

/// From G = A^T A of columns that have any length: their lengths, what scales them to length 1, and
/// the Gram matrix that they have then. A column of zeros stays, with length 0; one so short that
/// Scalar has no inverse of its length becomes one.
template <class Scalar, class MemorySpace>
struct NormalizeGram {
  using Small = SmallMatrices<MemorySpace>;
  static constexpr double shortest = 1 / static_cast<double>(std::numeric_limits<Scalar>::max());

  Kokkos::View<double const**, Kokkos::LayoutRight, MemorySpace> G;
  typename Small::template Part<double***> grams;
  typename Small::template Part<double*> lengths;
  Vector<Scalar, MemorySpace> scale;
  std::uint64_t mode;

  KOKKOS_FUNCTION void operator()(std::uint64_t item) const {
    std::uint64_t const i = item / G.extent(1), j = item % G.extent(1);
    double const length = length_of(j);
    double const product = length_of(i) * length;
    grams(mode, i, j) = product > 0 ? G(i, j) / product : 0;
    if (i > 0) return;
    lengths(j) = length;
    scale(j) = static_cast<Scalar>(length > 0 ? 1 / length : 0);
  }

  /// NaN where the column has one.
  KOKKOS_FUNCTION double length_of(std::uint64_t j) const {
    double const length = math::sqrt(G(j, j));
    return length < shortest ? 0 : length;
  }
};

}  // namespace sporades::detail
