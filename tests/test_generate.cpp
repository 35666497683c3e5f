// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <limits>
#include <sporades/algorithms/generate.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>
#include <vector>

namespace {

using namespace sporades;
using Exec = Kokkos::DefaultHostExecutionSpace;

/// A tensor made on exec, to read on the host.
template <class Scalar, class ExecutionSpace>
CooTensor<Scalar> like_on_host(ExecutionSpace const& exec, std::string const& name,
                               std::optional<Position> nnz = {},
                               std::uint64_t seed = default_generate_seed) {
  return copy_to(Exec{}, generate_like<Scalar>(exec, name, nnz, seed));
}

template <class Scalar, class Index, class ExecutionSpace>
CooTensor<Scalar, Index> skewed_on_host(ExecutionSpace const& exec, Dims const& dims, Position nnz,
                                        double skew, std::uint64_t seed = default_generate_seed) {
  return copy_to(Exec{}, generate<Scalar, Index>(exec, dims, nnz, skew, seed));
}

/// FNV-1a of the coordinate arrays, mode by mode, and the values.
template <class Tensor>
std::uint64_t hash_of(Tensor const& X) {
  using Index = typename Tensor::Index;
  using Scalar = typename Tensor::Scalar;
  auto hash = test::hash_bytes(nullptr, 0);
  for (int n = 0; n < X.order(); ++n)
    hash = test::hash_bytes(&X.coordinates(n, 0), sizeof(Index) * X.nnz(), hash);
  return test::hash_bytes(X.values.data(), sizeof(Scalar) * X.nnz(), hash);
}

/// Coordinates strictly rising in lexicographic order are sorted and distinct.
template <class Tensor>
void check_well_formed(Tensor const& X) {
  Position wrong = 0;
  for (Position p = 0; p < X.nnz(); ++p) {
    bool rises = p == 0;
    for (int n = 0; n < X.order(); ++n) {
      wrong += X.coordinates(n, p) >= X.dims[n];
      if (!rises && X.coordinates(n, p) < X.coordinates(n, p - 1)) break;
      rises = rises || X.coordinates(n, p) > X.coordinates(n, p - 1);
    }
    wrong += !rises;
    wrong += !(X.values(p) >= 1) || X.values(p) != std::floor(X.values(p));
  }
  CHECK(wrong == 0);
  CHECK(static_cast<int>(X.sorted_modes.size()) == X.order());
}

template <class Tensor>
std::vector<Position> slice_sizes(Tensor const& X, int n) {
  std::vector<Position> sizes(X.dims[n]);
  for (Position p = 0; p < X.nnz(); ++p) ++sizes[X.coordinates(n, p)];
  return sizes;
}

}  // namespace

// The constants are hashes of what the tool wrote that the published figures were measured with.
TEMPLATE_LIST_TEST_CASE("generate_like gives the bits of the reference tool", "[generate][threads]",
                        test::ExecutionSpaces) {
  TestType const exec;
  struct Known {
    char const* name;
    std::uint64_t hash;
    Dims dims;
  };
  std::vector<Known> const all = {
      {"nell-2", 0x3197ed080ab87503, {12092, 9184, 28818}},
      {"nell-2s", 0x59f2b8ba057818b0, {12092, 9184, 28818}},
      {"nell-1", 0xcf188acb0dbf44c6, {2902330, 2143368, 25495389}},
      {"delicious-4d", 0x8b9c7aaf57f92a1d, {532924, 17262471, 2480308, 1443}},
      {"vast-2015", 0x92b67e5c5fa6c2ff, {165427, 11374, 2, 100, 89}},
      {"uber", 0x62a3acdb0f933c8f, {183, 24, 1140, 1717}},
  };
  for (auto const& known : all) {
    INFO(known.name);
    auto const X = like_on_host<float>(exec, known.name, 300000);
    CHECK(X.nnz() == 300000);
    CHECK(X.dims == known.dims);
    CHECK(hash_of(X) == known.hash);
    check_well_formed(X);
  }
}

TEST_CASE("generate_like knows the tensors of the papers by their dims and nonzeros",
          "[generate]") {
  struct Known {
    char const* name;
    Dims dims;
    Position nnz;
  };
  for (Known const& known : {Known{"amazon-reviews", {4821207, 1774269, 1805187}, 1741809018},
                             Known{"patents", {46, 239172, 239172}, 3596640708},
                             Known{"reddit-2015", {8211298, 176962, 8116559}, 4687474081},
                             Known{"enron", {6066, 5699, 244268, 1176}, 54202099},
                             Known{"lbnl-network", {1605, 4198, 1631, 4209, 868131}, 1698825},
                             Known{"flickr", {319686, 28153045, 1607191, 731}, 112890310},
                             Known{"nips", {2482, 2862, 14036, 17}, 3101609},
                             Known{"chicago-crime", {6186, 24, 77, 32}, 5330673},
                             Known{"freebase-music", {23344784, 23344784, 166}, 99546551},
                             Known{"freebase-sampled", {39000000, 39000000, 532}, 140000000},
                             Known{"choa", {712000, 10000, 767}, 27000000},
                             Known{"amazon-ratings", {15200000, 43500000, 7800}, 233100000},
                             Known{"twitch", {15500000, 6200000, 783900, 6100, 6100}, 474700000},
                             Known{"delicious-3d", {532924, 17262471, 2480308}, 140126181},
                             Known{"movielens", {71567, 130642, 31}, 1048575}}) {
    INFO(known.name);
    auto const recipe = detail::recipe_like(known.name, {});
    CHECK(recipe.dims() == known.dims);
    CHECK(recipe.nnz == known.nnz);
    auto const X = like_on_host<float>(Kokkos::DefaultExecutionSpace{}, known.name, 100000);
    CHECK(X.nnz() == 100000);
    CHECK(X.dims == known.dims);
    check_well_formed(X);
  }
}

TEST_CASE("multiply_divide is exact for billions", "[generate]") {
  using detail::multiply_divide;
  std::uint64_t const n = (std::uint64_t{1} << 33) - 9;
  for (std::uint64_t a : {std::uint64_t{0}, std::uint64_t{1}, n / 3, n - 1, n})
    for (std::uint64_t b : {std::uint64_t{1}, n / 7, n - 1, (std::uint64_t{1} << 40) - 1})
      CHECK(multiply_divide(a, b, n) ==
            static_cast<std::uint64_t>(static_cast<unsigned __int128>(a) * b / n));
}

TEST_CASE("generate_like gives the whole uber tensor", "[generate]") {
  auto const X = like_on_host<float>(Kokkos::DefaultExecutionSpace{}, "uber");
  CHECK(X.nnz() == 3300000);
  CHECK(hash_of(X) == 0xad85b3c30a9ff24b);
}

TEMPLATE_LIST_TEST_CASE("generate_like holds the same counts in any type", "[generate]",
                        test::Cases) {
  typename TestType::ExecutionSpace const exec;
  using Scalar = typename TestType::Scalar;
  auto const X = generate_like<float>(Exec{}, "uber", 5000);
  auto const Y = like_on_host<Scalar>(exec, "uber", 5000);
  CHECK(test::hash_bits(X.coordinates) == test::hash_bits(Y.coordinates));
  Position different = 0;
  for (Position p = 0; p < X.nnz(); ++p) different += X.values(p) != Y.values(p);
  CHECK(different == 0);
  auto const Z = like_on_host<Scalar>(exec, "uber", 5000, 7);
  CHECK(hash_of(Z) != hash_of(Y));
}

TEMPLATE_LIST_TEST_CASE("generate gives exactly the nonzeros asked for", "[generate][threads]",
                        test::ExecutionSpaces) {
  TestType const exec;
  struct Shape {
    Dims dims;
    Position nnz;
    double skew;
  };
  std::vector<Shape> const shapes = {
      {{183, 24, 1140, 1717}, 100000, 1.5},
      {{10, 10, 10}, 1000, 3},
      {{10, 10, 10}, 999, 0},
      {{100, 100, 50}, 400000, 1},
      {{1}, 1, 0},
      {{7}, 5, 2},
      {{5, 1, 3}, 7, 50},
      {{1000}, 1000, 5},
      {{2, 2, 2, 2, 2, 2}, 63, 1},
      {{3000000, 3000000, 4000000}, 50000, 0.8},
      {{4, 0, 3}, 0, 1},
      {{30, 20}, 0, 0},
      {{1u << 31, 1u << 31, 1u << 31, 1u << 31}, 2000, 0.5},
  };
  for (auto const& shape : shapes) {
    INFO(to_string(shape.dims) << ", " << shape.nnz << " nonzeros, skew " << shape.skew);
    auto const X =
        skewed_on_host<double, std::uint32_t>(exec, shape.dims, shape.nnz, shape.skew, 1);
    CHECK(X.nnz() == shape.nnz);
    CHECK(X.dims == shape.dims);
    check_well_formed(X);
    if (shape.nnz > 0)
      test::check_same_bits(
          "generate " + to_string(shape.dims) + " nnz " + std::to_string(shape.nnz), hash_of(X));
    auto const Y =
        skewed_on_host<double, std::uint64_t>(exec, shape.dims, shape.nnz, shape.skew, 1);
    Position different = 0;
    for (Position p = 0; p < X.nnz(); ++p) {
      different += X.values(p) != Y.values(p);
      for (int n = 0; n < X.order(); ++n) different += X.coordinates(n, p) != Y.coordinates(n, p);
    }
    CHECK(different == 0);
  }
}

TEST_CASE("generate follows the skew and the seed", "[generate]") {
  Exec const exec;
  Dims const dims = {1000, 2000, 3000};
  auto const heaviest = [&](double skew) {
    auto const X = generate<float, std::uint32_t>(exec, dims, 50000, skew, 3);
    auto const sizes = slice_sizes(X, 0);
    return *std::max_element(sizes.begin(), sizes.end());
  };
  CHECK(heaviest(0) < 110);  // 50 on average: eight standard deviations
  CHECK(heaviest(0.8) > 1000);
  CHECK(heaviest(1.2) > 2 * heaviest(0.8));
  auto const a = generate<float, std::uint32_t>(exec, dims, 50000, 0.8, 1);
  auto const b = generate<float, std::uint32_t>(exec, dims, 50000, 0.8, 2);
  CHECK(hash_of(a) != hash_of(b));
}

TEMPLATE_LIST_TEST_CASE("generate makes indices past 32 bits", "[generate]",
                        test::ExecutionSpaces) {
  std::uint64_t const longest = std::numeric_limits<std::uint64_t>::max();
  auto const X = skewed_on_host<double, std::uint64_t>(
      TestType{}, {longest, std::uint64_t{1} << 40}, 3000, 0.3, 1);
  CHECK(X.nnz() == 3000);
  check_well_formed(X);
  Position past = 0;
  for (Position p = 0; p < X.nnz(); ++p) past += X.coordinates(0, p) > 0xffffffffu;
  CHECK(past > 2900);
}

TEST_CASE("generate refuses what cannot be", "[generate]") {
  Exec const exec;
  using Catch::Matchers::ContainsSubstring;
  auto const make = [&](Dims const& dims, Position nnz, double skew) {
    return generate<double, std::uint32_t>(exec, dims, nnz, skew);
  };
  CHECK_THROWS_WITH(make({3, 4}, 13, 0),
                    ContainsSubstring("13 nonzeros") && ContainsSubstring("3 x 4 has 12 cells"));
  CHECK_THROWS_WITH(make({3, 0}, 1, 0), ContainsSubstring("has 0 cells"));
  CHECK_THROWS_AS(make({}, 1, 0), Error);
  CHECK_THROWS_AS(make(Dims(17, 2), 1, 0), Error);
  CHECK_THROWS_WITH(make({3, std::uint64_t{1} << 33}, 1, 0), ContainsSubstring("mode 1"));
  CHECK_THROWS_WITH(make({3, 4}, 2, -1), ContainsSubstring("skew is -1"));
  CHECK_THROWS_AS(make({3, 4}, 2, std::numeric_limits<double>::quiet_NaN()), Error);
  CHECK_THROWS_AS(make({3, 4}, 2, std::numeric_limits<double>::infinity()), Error);
  CHECK_THROWS_WITH(make(Dims(5, 1u << 31), 2, 0), ContainsSubstring("155 bits"));
  CHECK_THROWS_AS(make(Dims(4, 1u << 31), Position{1} << 40, 0), Error);
  CHECK_THROWS_WITH(generate_like<double>(exec, "ubr"), ContainsSubstring("'ubr'") &&
                                                            ContainsSubstring("nell-2, ") &&
                                                            ContainsSubstring("uber"));
  CHECK_THROWS_AS(generate_like<double>(exec, "uber", Position{1} << 40), Error);
}

TEST_CASE("multiply_add_modulo is exact for long modes", "[generate]") {
  using sporades::detail::multiply_add_modulo;
  std::uint64_t const n = 18446744073709551557u;  // the largest prime of 64 bits
  CHECK(multiply_add_modulo(n - 1, n - 1, 0, n) == 1);
  CHECK(multiply_add_modulo(n - 1, n - 1, n - 1, n) == 0);
  CHECK(multiply_add_modulo(123456789012345, 987654321098765, 42, n) ==
        static_cast<std::uint64_t>(
            (static_cast<unsigned __int128>(123456789012345) * 987654321098765 + 42) % n));
}

TEMPLATE_LIST_TEST_CASE("generate's launches and Views are labelled and on its instance",
                        "[generate]", test::ExecutionSpaces) {
  auto const exec = test::new_instance<TestType>();
  test::check_launches(exec, [&] { generate_like<float>(exec, "uber", 1000); });
  test::check_launches(exec, [&] { generate_like<float>(exec, "nell-1", 1000); });
  test::check_launches(exec, [&] { generate<float, std::uint32_t>(exec, {30, 20, 10}, 5000, 2); });
}
