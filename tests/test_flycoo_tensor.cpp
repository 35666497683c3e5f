// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <sporades/formats/flycoo_tensor.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>
#include <support/tools.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

template <class Tensor>
auto to_host(Tensor const& X) {
  return copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
}

template <class HostTensor>
std::vector<std::vector<double>> nonzeros(HostTensor const& X) {
  std::vector<std::vector<double>> list;
  for (Position p = 0; p < X.nnz(); ++p) {
    std::vector<double> nonzero;
    for (int n = 0; n < X.order(); ++n) nonzero.push_back(X.coordinates(n, p));
    nonzero.push_back(X.values(p));
    list.push_back(nonzero);
  }
  return list;
}

template <class List>
List in_order(List list) {
  std::sort(list.begin(), list.end());
  return list;
}

/// The fullest of `count` boxes in the best division of these weights, by trying all of them.
Position best_division(std::vector<Position> const& weights, std::size_t count) {
  std::vector<Position> loads(count, 0);
  Position best = std::accumulate(weights.begin(), weights.end(), Position{0});
  auto const place = [&](auto const& self, std::size_t item) -> void {
    Position const fullest = *std::max_element(loads.begin(), loads.end());
    if (fullest >= best && item > 0) return;
    if (item == weights.size()) {
      best = fullest;
      return;
    }
    std::set<Position> tried;
    for (auto& load : loads) {
      if (!tried.insert(load).second) continue;
      load += weights[item];
      self(self, item + 1);
      load -= weights[item];
    }
  };
  place(place, 0);
  return best;
}

/// A matrix whose row i holds degrees[i] nonzeros.
CooTensor<double, std::uint32_t> with_degrees(std::vector<Position> const& degrees) {
  Kokkos::DefaultHostExecutionSpace const host{};
  Position const nnz = std::accumulate(degrees.begin(), degrees.end(), Position{0});
  auto const X =
      sporades::detail::allocate_coo<double, std::uint32_t>(host, {degrees.size(), 40}, nnz);
  Position p = 0;
  for (std::size_t i = 0; i < degrees.size(); ++i)
    for (Position k = 0; k < degrees[i]; ++k, ++p) {
      X.coordinates(0, p) = static_cast<std::uint32_t>(i);
      X.coordinates(1, p) = static_cast<std::uint32_t>(k % 40);
      X.values(p) = static_cast<double>(p);
    }
  return X;
}

template <class Modes>
Position fullest(Modes const& mode) {
  Position most = 0;
  auto const partitions = on_host(mode.partitions);
  for (std::size_t k = 0; k + 1 < partitions.extent(0); ++k)
    most = std::max(most, partitions(k + 1) - partitions(k));
  return most;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("flycoo tensors hold every nonzero in the order of each mode",
                        "[formats][flycoo_tensor]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  for (Dims const& dims :
       {Dims{9}, Dims{7, 4}, Dims{6, 1, 4}, Dims{300, 200, 100, 50}, Dims{70000, 60000, 50000},
        Dims{3, 4, 2, 3, 2}, Dims(16, 3), Dims{1, 1}, Dims{5, 0}})
    for (int partitions : {0, 1, 7}) {
      auto const nnz = Position(dims.back() == 0 ? 0 : 3000);
      auto const X = random_coo<Scalar, Index>(exec, dims, nnz, 5, 2);
      auto const expected = in_order(nonzeros(to_host(X)));
      auto flycoo = make_flycoo(exec, X, {partitions, 0});
      INFO(to_string(dims) << ", " << partitions << " partitions");
      auto const first = nonzeros(to_host(to_coo(exec, flycoo)));
      for (int n = 0; n < X.order(); ++n) {
        REQUIRE(flycoo.mode == n);
        auto const list = nonzeros(to_host(to_coo(exec, flycoo)));
        REQUIRE(in_order(list) == expected);
        auto const& mode = flycoo.modes[n];
        auto const begins = on_host(mode.partitions);
        REQUIRE(begins(begins.extent(0) - 1) == nnz);
        std::set<double> rows;  // each begins once, and rises in a partition
        for (std::size_t k = 0; k + 1 < begins.extent(0); ++k)
          for (Position p = begins(k); p < begins(k + 1); ++p) {
            bool const opens = p == begins(k) || list[p][n] != list[p - 1][n];
            if (opens) REQUIRE(rows.insert(list[p][n]).second);
            if (opens && p > begins(k)) REQUIRE(list[p][n] > list[p - 1][n]);
          }
        CHECK(rows.size() == mode.rows);
        remap(exec, flycoo);
      }
      CHECK(flycoo.mode == 0);
      CHECK(nonzeros(to_host(to_coo(exec, flycoo))) == first);
    }
}

TEMPLATE_LIST_TEST_CASE("flycoo tensors keep values to the last bit", "[formats][flycoo_tensor]",
                        Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const X = to_host(random_coo<Scalar, std::uint32_t>(exec, {11, 7, 5}, 6));
  Scalar const values[] = {std::numeric_limits<Scalar>::denorm_min(),
                           -Scalar(0),
                           std::numeric_limits<Scalar>::max(),
                           -std::numeric_limits<Scalar>::min(),
                           Scalar(1) / 3,
                           std::numeric_limits<Scalar>::infinity()};
  for (int p = 0; p < 6; ++p) X.values(p) = values[p];
  auto flycoo = make_flycoo(exec, copy_to(exec, X));
  for (int moves = 0; moves < 4; ++moves) {
    auto const back = to_host(to_coo(exec, flycoo));
    int found = 0;
    for (Scalar value : values)
      for (Position p = 0; p < 6; ++p)
        found += std::memcmp(&back.values(p), &value, sizeof value) == 0;
    CHECK(found == 6);
    remap(exec, flycoo);
  }
}

TEST_CASE("the partitions of flycoo tensors are those of Algorithm 1, within 4/3 of the best",
          "[formats][flycoo_tensor]") {
  Kokkos::DefaultHostExecutionSpace const host{};
  std::mt19937 engine(3);
  for (int trial = 0; trial < 300; ++trial) {
    std::size_t const rows = 1 + engine() % 11, partitions = 1 + engine() % 4;
    std::vector<Position> degrees(rows);
    int const most = trial % 3 == 0 ? 2 : trial % 3 == 1 ? 9 : 60;
    for (auto& degree : degrees) degree = engine() % (most + 1);
    degrees[0] += 1;
    auto const X = make_flycoo(host, with_degrees(degrees), {static_cast<int>(partitions), 0});
    auto falling = degrees;  // the algorithm as the paper has it, row by row
    std::sort(falling.rbegin(), falling.rend());
    std::vector<Position> loads(partitions, 0);
    for (auto degree : falling) *std::min_element(loads.begin(), loads.end()) += degree;
    CAPTURE(degrees, partitions);
    std::vector<Position> own;
    auto const begins = on_host(X.modes[0].partitions);
    for (std::size_t k = 0; k < partitions; ++k) own.push_back(begins(k + 1) - begins(k));
    CHECK(in_order(own) == in_order(loads));
    CHECK(3 * fullest(X.modes[0]) <= 4 * best_division(falling, partitions));
  }
}

TEST_CASE("the example of the paper's figure 2: each partition of a mode has two nonzeros",
          "[formats][flycoo_tensor]") {
  Kokkos::DefaultExecutionSpace const exec{};
  Kokkos::DefaultHostExecutionSpace const host{};
  // Four hyperedges over three vertices a mode, and two partitions. In mode 0 vertex 2 has two
  // nonzeros, vertices 0 and 1 one each. The text tells no more of the figure; modes 1 and 2 have
  // their heaviest vertex elsewhere.
  auto const X = sporades::detail::allocate_coo<double, std::uint32_t>(host, {3, 3, 3}, 4);
  std::uint32_t const indices[4][3] = {{0, 0, 1}, {2, 0, 0}, {1, 1, 1}, {2, 2, 2}};
  for (int p = 0; p < 4; ++p) {
    for (int m = 0; m < 3; ++m) X.coordinates(m, p) = indices[p][m];
    X.values(p) = p + 1;
  }
  auto flycoo = make_flycoo(exec, copy_to(exec, X), {2, 1});
  std::uint32_t const heaviest[3] = {2, 0, 1};
  for (int n = 0; n < 3; ++n) {
    auto const begins = on_host(flycoo.modes[n].partitions);
    REQUIRE(begins.extent(0) == 3);
    CHECK(begins(0) == 0);
    CHECK(begins(1) == 2);
    CHECK(begins(2) == 4);
    auto const now = to_host(to_coo(exec, flycoo));
    CHECK(now.coordinates(n, 0) == heaviest[n]);  // B_(n,0) is that vertex
    CHECK(now.coordinates(n, 1) == heaviest[n]);
    remap(exec, flycoo);
  }
}

TEST_CASE("rows of one degree are given out at once as they are one by one",
          "[formats][flycoo_tensor]") {
  std::mt19937 engine(4);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Position> loads(1 + engine() % 20), counts(loads.size());
    for (auto& load : loads) load = engine() % 1000;
    sporades::detail::RowGroup const group{0, engine() % 3000, 1 + engine() % 40};
    auto expected = loads;
    std::vector<Position> expected_counts(loads.size(), 0);
    for (Position row = 0; row < group.count; ++row) {
      auto const least = std::min_element(expected.begin(), expected.end());
      *least += group.degree;
      ++expected_counts[least - expected.begin()];
    }
    sporades::detail::give_out(group, loads, counts);
    CHECK(loads == expected);
    CHECK(counts == expected_counts);
  }
}

TEST_CASE("flycoo tensors cut long rows into pieces of about the mean",
          "[formats][flycoo_tensor]") {
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const X = make_flycoo(host, with_degrees({4000, 3, 500, 500, 497}), {5, 0});
  auto const& mode = X.modes[0];  // 5500 nonzeros, a mean of 1100
  CHECK(fullest(mode) == 4000);
  CHECK(mode.shares_rows);
  auto const pieces = on_host(mode.pieces);
  REQUIRE(pieces.extent(0) == 9);
  CHECK(pieces(0) == 0);
  CHECK(pieces(8) == 5500);
  for (std::size_t k = 0; k < 8; ++k) CHECK(3 * (pieces(k + 1) - pieces(k)) <= 4 * 1100);
  CHECK_FALSE(make_flycoo(host, with_degrees({100, 100, 100, 90}), {4, 0}).modes[0].shares_rows);
}

TEST_CASE("flycoo tensors take the bits of the paper and the bytes that they say",
          "[formats][flycoo_tensor]") {
  Kokkos::DefaultHostExecutionSpace const host{};
  // [Wij24], section 3.5.1: 12 bits a remap id; 8 + 5 + 11 bits of indices, 64 of the value.
  auto const X =
      make_flycoo(host, random_coo<double, std::uint32_t>(host, {183, 24, 1140}, 3000), {4, 0});
  CHECK(X.storage_bits() == 3000 * (3 * 12 + 8 + 5 + 11 + 64));
  CHECK(X.storage_words() == 3000 * 2 * 7);
  CHECK(X.layout.units == 6);  // 88 bits
  std::uint64_t pieces = 0;
  for (auto const& mode : X.modes) pieces += mode.pieces.extent(0);
  CHECK(X.storage_bytes() ==
        2 * (2 * 6 * 3000 + 2 * 8) + 3 * 4 * (1125 + 2) + 8 * (pieces + 3 * 5));
}

TEST_CASE("make_flycoo refuses options out of range", "[formats][flycoo_tensor]") {
  using Catch::Matchers::ContainsSubstring;
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const X = random_coo<double, std::uint32_t>(host, {6, 5, 4}, 10);
  CHECK_THROWS_WITH(make_flycoo(host, X, {-1, 0}), ContainsSubstring("-1 partitions"));
  CHECK_THROWS_WITH(make_flycoo(host, X, {65537, 0}), ContainsSubstring("65537 partitions"));
  CHECK_THROWS_WITH(make_flycoo(host, X, {0, 65}), ContainsSubstring("65 nonzeros at once"));
}

TEST_CASE("make_flycoo and remap label their kernels and run them on their instance",
          "[formats][flycoo_tensor]") {
  auto const exec = new_instance<Kokkos::DefaultExecutionSpace>();
  auto const X = random_coo<double, std::uint32_t>(exec, {30, 20, 10}, 500);
  check_launches(exec, [&] {
    auto flycoo = make_flycoo(exec, X);
    remap(exec, flycoo);
    to_coo(exec, flycoo);
  });
}
