// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <limits>
#include <sporades/formats/scoo_tensor.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/same_bits.hpp>
#include <support/semi_sparse.hpp>
#include <support/tools.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

struct Problem {
  Dims dims;
  Position nnz;
  std::vector<int> dense;
};

std::vector<Problem> problems() {
  return {{{6}, 4, {}},
          {{6}, 4, {0}},
          {{7, 4}, 15, {0}},
          {{7, 4}, 15, {1}},
          {{7, 4}, 15, {1, 0}},  // dense, and transposed
          {{30, 5, 20}, 900, {1}},
          {{30, 5, 20}, 900, {2, 1}},
          {{3, 1, 40, 6}, 500, {1, 3}},
          {{4, 3, 5, 2, 3}, 200, {3, 0, 4}},
          {{2, 3, 4, 2, 3, 2}, 300, {}},
          {{2, 3, 4, 2, 3, 2}, 300, {5, 4, 3, 2, 1, 0}},
          {{300, 4}, 1000, {1}},  // most coordinates are there several times
          {{4, 3}, 0, {1}},       // nothing in it
          {{4, 3}, 0, {0, 1}},
          {{0, 3, 2}, 0, {0}}};
}

/// On the host.
template <class Tensor>
auto fetch(Tensor const& X) {
  return copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
}

template <class Scoo>
std::string describe(Scoo const& Y) {
  std::string text = to_string(Y.dims) + ", dense:";
  for (int mode : Y.dense_modes) text += " " + std::to_string(mode);
  return text;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a semi-sparse tensor holds the nonzeros that it was made of",
                        "[formats][scoo]", IndexCases) {
  using Exec = typename TestType::ExecutionSpace;
  using Scalar = typename TestType::Scalar;
  Exec const exec{};
  for (auto const& problem : problems()) {
    auto const X = random_coo<Scalar, typename TestType::Index>(exec, problem.dims, problem.nnz);
    auto const Y = make_scoo(exec, X, problem.dense);
    INFO(describe(Y));
    auto expected = sum_duplicates(exec, X).tensor;
    auto order = Y.sparse_modes;
    order.insert(order.end(), problem.dense.begin(), problem.dense.end());
    auto const back = to_coo(exec, Y);
    CHECK(back.sorted_modes == order);
    check_same_nonzeros(fetch(back), fetch(sorted(exec, expected, order)));

    // each block where its coordinates say, each entry at its row-major place
    auto const places = places_of(Y);
    auto const host = fetch(expected);
    auto const values = matrix_on_host(Y.values);
    std::vector<std::vector<double>> block(Y.fibers(), std::vector<double>(Y.block_size()));
    for (Position p = 0; p < host.nnz(); ++p) {
      Place place(Y.dims.size());
      for (int mode : Y.sparse_modes) place[mode] = host.coordinates(mode, p);
      std::size_t at = 0;
      for (int mode : Y.dense_modes) at = at * Y.dims[mode] + host.coordinates(mode, p);
      block.at(places.at(place)).at(at) = static_cast<double>(host.values(p));
    }
    Position wrong = 0;
    for (Position f = 0; f < Y.fibers(); ++f)
      for (Position k = 0; k < Y.block_size(); ++k) wrong += values(f, k) != block[f][k];
    CHECK(wrong == 0);
    CHECK(is_in_order(Y));
    CHECK(Y.storage_words() ==
          Y.fibers() * (Y.dims.size() - problem.dense.size() + Y.block_size()));
  }
}

TEMPLATE_LIST_TEST_CASE("a semi-sparse tensor comes back from its entries", "[formats][scoo]",
                        Cases) {
  using Exec = typename TestType::ExecutionSpace;
  using Scalar = typename TestType::Scalar;
  Exec const exec{};
  for (auto const& problem : problems()) {
    auto const X = random_coo<Scalar, std::uint32_t>(exec, problem.dims, problem.nnz);
    auto const Y = make_scoo(exec, X, problem.dense);
    INFO(describe(Y));
    if (Y.fibers() > 2)  // a block of zeros must come back, too
      Kokkos::deep_copy(Kokkos::subview(Y.values, 1, Kokkos::ALL), Scalar(0));
    auto const entries = to_coo(exec, Y, BlockZeros::keep);
    CHECK(entries.nnz() == Y.fibers() * Y.block_size());
    auto const Z = make_scoo(exec, entries, problem.dense);
    CHECK(Z.sparse_modes == Y.sparse_modes);
    CHECK(Z.dense_modes == Y.dense_modes);
    REQUIRE(Z.fibers() == Y.fibers());
    CHECK(places_of(Z) == places_of(Y));
    CHECK(hash_bits(Z.values) == hash_bits(Y.values));
    if (Y.fibers() > 2 && Y.block_size() > 0)
      CHECK(places_of(make_scoo(exec, to_coo(exec, Y), problem.dense)).size() == Y.fibers() - 1);
  }
}

// Ma et al. 2018, Figure 2: a 3 x 3 x 2 tensor whose last mode is dense.
TEST_CASE("sCOO stores a coordinate pair a fiber, where COO stores three a nonzero",
          "[formats][scoo]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto const X = sporades::detail::allocate_coo<float, std::uint32_t>(exec, {3, 3, 2}, 8);
  exec.fence();
  std::uint32_t const fibers[][2] = {{0, 0}, {0, 1}, {1, 1}, {2, 2}};
  for (int p = 0; p < 8; ++p) {
    X.coordinates(0, p) = fibers[p / 2][0];
    X.coordinates(1, p) = fibers[p / 2][1];
    X.coordinates(2, p) = p % 2;
    X.values(p) = static_cast<float>(p + 1);
  }
  auto const Y = make_scoo(exec, X, {2});
  REQUIRE(Y.fibers() == 4);
  CHECK(X.storage_words() == 32);
  CHECK(Y.storage_words() == 16);            // half, as the paper says
  CHECK(Y.storage_bytes() == 4 * (8 + 16));  // rows of two, padded to four
  for (int f = 0; f < 4; ++f) {
    CHECK(Y.coordinates(0, f) == fibers[f][0]);
    CHECK(Y.coordinates(1, f) == fibers[f][1]);
    for (int k = 0; k < 2; ++k) CHECK(Y.values(f, k) == static_cast<float>(2 * f + k + 1));
  }
}

TEST_CASE("zeros of blocks are dropped or kept, NaN always kept", "[formats][scoo]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto const X = sporades::detail::allocate_coo<double, std::uint32_t>(exec, {4, 3}, 3);
  exec.fence();
  double const values[] = {0, std::numeric_limits<double>::quiet_NaN(), 5};
  for (std::uint32_t p = 0; p < 3; ++p) {
    X.coordinates(0, p) = p;
    X.coordinates(1, p) = p;
    X.values(p) = values[p];
  }
  auto const Y = make_scoo(exec, X, {1});
  CHECK(Y.fibers() == 3);  // an explicit zero makes a block
  auto const dropped = to_coo(exec, Y);
  REQUIRE(dropped.nnz() == 2);
  CHECK(std::isnan(dropped.values(0)));
  CHECK(dropped.values(1) == 5);
  CHECK(to_coo(exec, Y, BlockZeros::keep).nnz() == 9);
}

TEMPLATE_LIST_TEST_CASE("sCOO labels its kernels and runs them on its instance", "[formats][scoo]",
                        Cases) {
  using Exec = typename TestType::ExecutionSpace;
  auto const exec = new_instance<Exec>();
  auto const X = random_coo<typename TestType::Scalar, std::uint32_t>(exec, {30, 20, 10}, 500);
  check_launches(exec, [&] { to_coo(exec, make_scoo(exec, X, {2})); });
}

TEST_CASE("sCOO refuses what does not fit", "[formats][scoo]") {
  using Catch::Matchers::ContainsSubstring;
  Kokkos::DefaultExecutionSpace const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, {6, 5, 4}, 10);
  CHECK_THROWS_WITH(make_scoo(exec, X, {3}), ContainsSubstring("mode 3 of a tensor of order 3"));
  CHECK_THROWS_WITH(make_scoo(exec, X, {-1}), ContainsSubstring("mode -1"));
  CHECK_THROWS_WITH(make_scoo(exec, X, {1, 1}), ContainsSubstring("mode 1 is listed twice"));
  auto const two = make_scoo(exec, X, {2}).coordinates;
  auto const allocate = [&](std::vector<int> const& sparse, std::vector<int> const& dense) {
    sporades::detail::allocate_scoo<double>(exec, X.dims, sparse, dense, two);
  };
  CHECK_THROWS_WITH(allocate({0, 1}, {}), ContainsSubstring("2 modes of 3"));
  CHECK_THROWS_WITH(allocate({0, 1}, {1}), ContainsSubstring("mode 1 is listed twice"));
  CHECK_THROWS_WITH(allocate({0}, {2, 1}), ContainsSubstring("2 rows of coordinates for 1"));
  auto wide = X;
  wide.dims = {6, 1u << 31, 1u << 31};
  CHECK_THROWS_WITH(make_scoo(exec, wide, {1, 2}), ContainsSubstring("overflows 64 bits"));
}
