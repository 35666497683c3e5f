// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <sporades/core/detail/lapack.hpp>
#include <sporades/core/error.hpp>
#include <sporades/core/random.hpp>
#include <sporades/core/timer.hpp>
#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/same_bits.hpp>

namespace {

using HostMatrix = std::vector<double>;

/// Y^T Y of a random rows x n matrix Y: positive semidefinite of rank min(rows, n).
HostMatrix gram_of_random(int n, int rows) {
  HostMatrix G(static_cast<std::size_t>(n) * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < rows; ++k)
        G[static_cast<std::size_t>(i) * n + j] +=
            (sporades::detail::random_entry<double>(1, 0, k, i) - 0.5) *
            (sporades::detail::random_entry<double>(1, 0, k, j) - 0.5);
  return G;
}

HostMatrix product(HostMatrix const& A, HostMatrix const& B, int n) {
  HostMatrix C(A.size());
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j)
        C[static_cast<std::size_t>(i) * n + j] +=
            A[static_cast<std::size_t>(i) * n + k] * B[static_cast<std::size_t>(k) * n + j];
  return C;
}

double largest_difference(HostMatrix const& A, HostMatrix const& B) {
  REQUIRE(A.size() == B.size());
  double largest = 0;
  for (std::size_t k = 0; k < A.size(); ++k) largest = std::max(largest, std::abs(A[k] - B[k]));
  return largest;
}

TEST_CASE("the inverse of a regular matrix comes from Cholesky", "[core][lapack]") {
  auto const n = GENERATE(1, 2, 3, 16, 33, 100);
  auto const ridge = GENERATE(0.0, 0.5);
  auto H = gram_of_random(n, 3 * n + 5);
  auto const result = sporades::detail::inverse_or_pseudo_inverse(H, n, ridge);
  CHECK_FALSE(result.is_pseudo);
  CHECK(result.rank == n);
  CHECK(result.reciprocal_condition > 0);
  for (int i = 0; i < n; ++i) H[static_cast<std::size_t>(i) * n + i] += ridge;
  auto identity = HostMatrix(H.size());
  for (int i = 0; i < n; ++i) identity[static_cast<std::size_t>(i) * n + i] = 1;
  CHECK(largest_difference(product(H, result.inverse, n), identity) <
        1e-14 * n / result.reciprocal_condition);
  CHECK(largest_difference(product(result.inverse, H, n), identity) <
        1e-14 * n / result.reciprocal_condition);
}

TEST_CASE("a singular matrix gets the Moore-Penrose inverse", "[core][lapack]") {
  auto const [n, rank] = GENERATE(table<int, int>({{2, 1}, {16, 3}, {33, 32}, {5, 0}}));
  auto const H = gram_of_random(n, rank);
  auto const result = sporades::detail::inverse_or_pseudo_inverse(H, n);
  CHECK(result.is_pseudo);
  CHECK(result.rank == rank);
  auto const& P = result.inverse;
  auto const HP = product(H, P, n);
  CHECK(largest_difference(product(HP, H, n), H) < 1e-9);
  CHECK(largest_difference(product(P, HP, n), P) < 1e-6);
  HostMatrix transposed(HP.size());
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      transposed[static_cast<std::size_t>(j) * n + i] = HP[static_cast<std::size_t>(i) * n + j];
  CHECK(largest_difference(transposed, HP) < 1e-9);
}

TEST_CASE("a small eigenvalue is kept or dropped by epsilon; a ridge makes it regular",
          "[core][lapack]") {
  HostMatrix const H{1, 0, 0, 1e-10};
  CHECK_FALSE(sporades::detail::inverse_or_pseudo_inverse(H, 2).is_pseudo);
  auto const coarse = sporades::detail::inverse_or_pseudo_inverse(H, 2, 0, 1e-7);
  CHECK(coarse.is_pseudo);
  CHECK(coarse.inverse == HostMatrix{1, 0, 0, 0});
  HostMatrix const ones{1, 1, 1, 1};
  CHECK(sporades::detail::inverse_or_pseudo_inverse(ones, 2).is_pseudo);
  CHECK_FALSE(sporades::detail::inverse_or_pseudo_inverse(ones, 2, 1e-3).is_pseudo);
}

TEST_CASE("eigenvectors belong to their eigenvalues", "[core][lapack]") {
  auto const n = GENERATE(1, 2, 17, 64);
  auto const H = gram_of_random(n, n);
  auto const eigen = sporades::detail::symmetric_eigen(H, n);
  for (int k = 0; k < n; ++k) {
    if (k > 0) CHECK(eigen.values[k - 1] <= eigen.values[k]);
    double const* const v = &eigen.vectors[static_cast<std::size_t>(k) * n];
    double worst = 0, length = 0;
    for (int i = 0; i < n; ++i) {
      double sum = 0;
      for (int j = 0; j < n; ++j) sum += H[static_cast<std::size_t>(i) * n + j] * v[j];
      worst = std::max(worst, std::abs(sum - eigen.values[k] * v[i]));
      length += v[i] * v[i];
    }
    CHECK(worst < 1e-12 * n);
    CHECK(length == Approx(1).epsilon(1e-12));
  }
}

TEST_CASE("the orthonormalizer takes columns of any length", "[core][lapack]") {
  // Lengths 1e20, 1, and one for which single precision has no scale beside the longest.
  std::vector<double> const G{1e40, 0, 0, 0, 1, 0, 0, 0, 1e-26};
  auto const S = sporades::detail::orthonormalizer(G, 3);
  double found = 0;
  for (double const entry : S) {
    CHECK(std::abs(entry) <= 1.0001);
    found += entry != 0;
  }
  CHECK(found == 2);
}

TEST_CASE("the orthonormalizer makes columns orthonormal and drops what they lack",
          "[core][lapack]") {
  auto const [n, rank] = GENERATE(table<int, int>({{1, 1}, {6, 6}, {16, 5}, {3, 0}}));
  auto const G = gram_of_random(n, rank);
  auto const S = sporades::detail::orthonormalizer(G, n);
  HostMatrix transposed(S.size()), expected(S.size());
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      transposed[static_cast<std::size_t>(j) * n + i] = S[static_cast<std::size_t>(i) * n + j];
  for (int i = 0; i < rank; ++i) expected[static_cast<std::size_t>(i) * n + i] = 1;
  CHECK(largest_difference(product(product(transposed, G, n), S, n), expected) < 1e-8);
}

TEST_CASE("matrices of other sizes or with NaN are refused", "[core][lapack]") {
  CHECK_THROWS_AS(sporades::detail::inverse_or_pseudo_inverse({1, 2, 3}, 2), sporades::Error);
  double const nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(sporades::detail::inverse_or_pseudo_inverse({nan}, 1), sporades::RunError);
  CHECK_THROWS_AS(sporades::detail::symmetric_eigen({nan}, 1), sporades::RunError);
}

TEST_CASE("LAPACK gives the same bits on any number of threads", "[core][lapack][threads]") {
  auto const n = GENERATE(16, 70, 200);  // OpenBLAS uses threads from 64 on
  auto const bits = [](HostMatrix const& A) {
    return sporades::test::hash_bytes(A.data(), A.size() * sizeof(double));
  };
  auto const name = " of order " + std::to_string(n);
  auto const H = gram_of_random(n, 2 * n);
  sporades::test::check_same_bits("inverse" + name,
                                  bits(sporades::detail::inverse_or_pseudo_inverse(H, n).inverse));
  auto const eigen = sporades::detail::leading_eigen(H, n, n / 4);
  sporades::test::check_same_bits("eigenvalues" + name, bits(eigen.values));
  sporades::test::check_same_bits("eigenvectors" + name, bits(eigen.vectors));
  auto const singular = gram_of_random(n, n / 2);
  sporades::test::check_same_bits(
      "pseudo-inverse" + name,
      bits(sporades::detail::inverse_or_pseudo_inverse(singular, n).inverse));
}

TEST_CASE("leading eigenpairs are those of the whole", "[core][lapack]") {
  auto const n = GENERATE(1, 2, 5, 40);
  auto const H = gram_of_random(n, n + 3);
  auto const all = sporades::detail::symmetric_eigen(H, n);
  for (int count : {0, 1, (n + 1) / 2, n}) {
    auto const some = sporades::detail::leading_eigen(H, n, count);
    REQUIRE(some.values.size() == static_cast<std::size_t>(count));
    REQUIRE(some.vectors.size() == static_cast<std::size_t>(count) * n);
    for (int k = 0; k < count; ++k) {
      CHECK(std::abs(some.values[k] - all.values[n - 1 - k]) < 1e-12 * n);
      double inner = 0;
      for (int i = 0; i < n; ++i)
        inner += some.vectors[static_cast<std::size_t>(k) * n + i] *
                 all.vectors[static_cast<std::size_t>(n - 1 - k) * n + i];
      CHECK(std::abs(std::abs(inner) - 1) < 1e-9);
    }
  }
  auto const refused = [&](int count) {
    return sporades::test::message_of([&] { sporades::detail::leading_eigen(H, n, count); });
  };
  auto const of_n = " of " + std::to_string(n) + " eigenvalues";
  CHECK(refused(n + 1) == "leading_eigen: " + std::to_string(n + 1) + of_n);
  CHECK(refused(-1) == "leading_eigen: -1" + of_n);
  CHECK_THROWS_AS(sporades::detail::leading_eigen({std::nan("")}, 1, 1), sporades::RunError);
}

TEST_CASE("leading left singular vectors are those of the Gram matrix", "[core][lapack]") {
  using sporades::detail::leading_left_vectors;
  auto const shape = GENERATE(values<std::pair<int, int>>({{1, 1}, {7, 3}, {3, 7}, {40, 40}}));
  auto const [rows, columns] = shape;
  int const least = std::min(rows, columns);
  std::vector<double> A;
  for (int e = 0; e < rows * columns; ++e)
    A.push_back(sporades::detail::random_entry<double>(5, 0, e, 0) - 0.5);
  std::vector<double> G(static_cast<std::size_t>(rows * rows));  // A A^T
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < rows; ++j)
      for (int c = 0; c < columns; ++c) G[i * rows + j] += A[i * columns + c] * A[j * columns + c];
  auto const eigen = sporades::detail::leading_eigen(G, rows, least);
  for (int count : {0, 1, least}) {
    auto const found = leading_left_vectors(A, rows, columns, count);
    REQUIRE(found.values.size() == static_cast<std::size_t>(count));
    REQUIRE(found.vectors.size() == static_cast<std::size_t>(count * rows));
    for (int k = 0; k < count; ++k) {
      CHECK(std::abs(found.values[k] * found.values[k] - eigen.values[k]) < 1e-12 * rows);
      double inner = 0;
      for (int i = 0; i < rows; ++i)
        inner += found.vectors[k * rows + i] * eigen.vectors[k * rows + i];
      CHECK(std::abs(std::abs(inner) - 1) < 1e-9);
    }
  }
  // A small value keeps its digits, which those of squares lose.
  auto const small = leading_left_vectors({1, 0, 0, 1e-12}, 2, 2, 2);
  CHECK(small.values[1] == Approx(1e-12).epsilon(1e-10));
  CHECK(sporades::test::message_of([&, rows = rows, columns = columns] {
          leading_left_vectors(A, rows, columns, least + 1);
        }) == "leading_left_vectors: " + std::to_string(least + 1) + " of " +
                  std::to_string(least) + " singular values");
  CHECK_THROWS_AS(leading_left_vectors({std::nan("")}, 1, 1, 1), sporades::RunError);
}

TEST_CASE("Gram-Schmidt keeps the order of columns and drops dependent ones", "[core][lapack]") {
  // Y = [a, b, a + b, c] for independent a, b, c: G of it from G of [a, b, c].
  auto const base = gram_of_random(3, 9);
  double const mix[3][4] = {{1, 0, 1, 0}, {0, 1, 1, 0}, {0, 0, 0, 1}};
  HostMatrix G(16);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) G[i * 4 + j] += mix[a][i] * base[a * 3 + b] * mix[b][j];
  auto const S = sporades::detail::gram_schmidt(G, 4, 1e-12);
  HostMatrix transposed(16);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      transposed[j * 4 + i] = S[i * 4 + j];
      if (i > j || j == 2) CHECK(S[i * 4 + j] == 0);
    }
  HostMatrix expected(16);
  for (int i : {0, 1, 3}) expected[i * 4 + i] = 1;
  CHECK(largest_difference(product(product(transposed, G, 4), S, 4), expected) < 1e-13);
  CHECK(S[0] > 0);
  CHECK(S[5] > 0);
}

TEST_CASE("gram_schmidt of a thousand columns ends soon", "[core][lapack]") {
  std::size_t const n = 1000, zero = 7;
  HostMatrix G(n * n);
  auto const weight = [](std::size_t i) { return i == zero ? 0.0 : 1.0 + 0.01 * double(i % 17); };
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      G[i * n + j] = 0.25 * weight(i) * weight(j) + (i == j && i != zero ? 2.0 : 0.0);
  sporades::detail::Timer const timer;
  auto const S = sporades::detail::gram_schmidt(G, static_cast<int>(n), 1e-10);
  CHECK(timer.seconds() < 20);  // minutes where every projection multiplies by G anew
  REQUIRE(S.size() == n * n);
  for (std::size_t j : {std::size_t{0}, zero, std::size_t{8}, std::size_t{500}, n - 1}) {
    HostMatrix image(n);  // G S e_j
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b) image[a] += G[a * n + b] * S[b * n + j];
    for (std::size_t i = 0; i < n; ++i) {
      double product = 0;
      for (std::size_t a = 0; a < n; ++a) product += S[a * n + i] * image[a];
      CHECK(std::abs(product - (i == j && j != zero ? 1 : 0)) < 1e-10);
      if (i > j) CHECK(S[i * n + j] == 0);
    }
  }
}

}  // namespace
