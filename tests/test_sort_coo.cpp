// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <numeric>
#include <random>
#include <sporades/formats/sort_coo.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/same_bits.hpp>
#include <type_traits>
#include <vector>

namespace {

using sporades::CooTensor;
using sporades::Dims;
using sporades::Position;

template <class Index>
using HostTensor = CooTensor<double, Index, Kokkos::HostSpace>;

/// nnz random nonzeros with values 1, 2, 3...; skew > 1 favours small indices and so makes
/// duplicates.
template <class Index>
HostTensor<Index> random_tensor(Dims const& dims, Position nnz, double skew = 1) {
  Kokkos::Serial const host{};
  auto X = sporades::detail::allocate_coo<double, Index>(host, dims, nnz);
  std::mt19937_64 random(nnz + dims.size());
  for (Position p = 0; p < nnz; ++p) {
    for (std::size_t n = 0; n < dims.size(); ++n) {
      auto const u = std::generate_canonical<double, 53>(random);
      auto const index =
          skew == 1 ? random() % dims[n] : static_cast<std::uint64_t>(std::pow(u, skew) * dims[n]);
      X.coordinates(n, p) = static_cast<Index>(index);
    }
    X.values(p) = static_cast<double>(p + 1);
  }
  return X;
}

template <class MemorySpace, class Index>
HostTensor<Index> to_host(CooTensor<double, Index, MemorySpace> const& X) {
  Kokkos::fence();
  return sporades::copy_to(Kokkos::Serial{}, X);
}

template <class Index>
std::vector<Index> listed(HostTensor<Index> const& X, std::vector<int> const& modes, Position p) {
  std::vector<Index> indices;
  for (int mode : modes) indices.push_back(X.coordinates(mode, p));
  return indices;
}

std::vector<int> all_modes(int order) {
  std::vector<int> modes(order);
  std::iota(modes.begin(), modes.end(), 0);
  return modes;
}

/// The definition: a stable sort of the nonzeros by the listed indices.
template <class Index>
std::vector<Position> expected(HostTensor<Index> const& X, std::vector<int> const& modes) {
  std::vector<std::pair<std::vector<Index>, Position>> keys;
  for (Position p = 0; p < X.nnz(); ++p) keys.emplace_back(listed(X, modes, p), p);
  std::sort(keys.begin(), keys.end());  // places break ties, which makes it stable
  std::vector<Position> order;
  for (auto const& key : keys) order.push_back(key.second);
  return order;
}

template <class Index>
void check_is_permuted(HostTensor<Index> const& Y, HostTensor<Index> const& X,
                       std::vector<Position> const& order) {
  REQUIRE(Y.dims == X.dims);
  REQUIRE(Y.nnz() == order.size());
  bool same = true;
  for (Position p = 0; p < order.size(); ++p) {
    same = same && Y.values(p) == X.values(order[p]);
    for (int n = 0; n < X.order(); ++n)
      same = same && Y.coordinates(n, p) == X.coordinates(n, order[p]);
  }
  CHECK(same);
}

template <class Exec, class Index>
void check_all_of(Exec const& exec, HostTensor<Index> const& X, std::vector<int> const& modes) {
  auto const order = expected(X, modes);
  auto const device = sporades::copy_to(exec, X);
  for (auto algorithm :
       {sporades::detail::SortAlgorithm::automatic, sporades::detail::SortAlgorithm::tiles}) {
    auto const permutation = sporades::detail::sort_permutation(exec, device, modes, algorithm);
    exec.fence();
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, permutation);
    CHECK(std::equal(order.begin(), order.end(), host.data(), host.data() + host.extent(0)));
    auto const moved = sporades::detail::permuted(exec, device, permutation);
    CHECK(moved.sorted_modes.empty());
    check_is_permuted(to_host(moved), X, order);
    auto const Y = sporades::detail::sorted_by(exec, device, modes, algorithm);
    CHECK(std::equal(modes.begin(), modes.end(), Y.sorted_modes.begin()));
    CHECK(sporades::is_sorted(exec, Y, modes));
    CHECK(sporades::is_sorted(exec, Y, Y.sorted_modes));
    check_is_permuted(to_host(Y), X, order);
  }
}

struct Shape {
  Dims dims;
  Position nnz;
};

std::vector<Shape> shapes() {
  return {{{7}, 20},
          {{1}, 5},
          {{40, 30}, 0},
          {{40, 30}, 1},
          {{183, 24, 1140, 1717}, 9000},
          {{5, 1, 3, 1, 2}, 3000},
          {{65536, 65536, 65536, 65536}, 5000},
          {{4000000000u, 4000000000u, 4000000000u}, 5000},
          {{1000, 1000, 1000, 1000, 1000, 1000}, 2500},
          {{2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3}, 4000},
          {Dims(16, 4000000000u), 4100}};
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("sorting a tensor equals a stable sort of its nonzeros",
                        "[formats][sort_coo]", sporades::test::ExecutionSpaces) {
  TestType const exec{};
  auto const shape = GENERATE(from_range(shapes()));
  INFO(sporades::to_string(shape.dims) << ", " << shape.nnz << " nonzeros");
  auto const X = random_tensor<std::uint32_t>(shape.dims, shape.nnz);
  auto modes = all_modes(X.order());
  std::mt19937 random(7);
  for (int repeat = 0; repeat < 3; ++repeat) {
    check_all_of(exec, X, modes);
    check_all_of(exec, X, {modes.back()});  // one mode only
    check_all_of(exec, X, {modes.begin(), modes.begin() + (modes.size() + 1) / 2});
    std::shuffle(modes.begin(), modes.end(), random);
  }
  check_all_of(exec, X, {});
}

TEMPLATE_LIST_TEST_CASE("sorting takes 64-bit indices of any length", "[formats][sort_coo]",
                        sporades::test::ExecutionSpaces) {
  TestType const exec{};
  auto const longest = ~std::uint64_t{0};
  auto const dims =
      GENERATE_COPY(Dims{longest}, Dims{longest, longest}, Dims{3, longest, 9}, Dims(16, longest));
  auto const X = random_tensor<std::uint64_t>(dims, 3000);
  for (Position p = 0; p < X.nnz(); p += 2)  // half of them differ in their last modes only
    for (std::size_t n = 0; n + 1 < dims.size(); ++n) X.coordinates(n, p) = p % 3;
  check_all_of(exec, X, all_modes(X.order()));
  auto reversed = all_modes(X.order());
  std::reverse(reversed.begin(), reversed.end());
  check_all_of(exec, X, reversed);
}

TEMPLATE_LIST_TEST_CASE("a known order is used and kept", "[formats][sort_coo]",
                        sporades::test::ExecutionSpaces) {
  TestType const exec{};
  auto const dims = GENERATE(Dims{183, 24, 1140, 1717}, Dims{9, 3000000, 2, 3000000},
                             Dims{1u << 31, 1u << 31, 1u << 31, 5});
  auto const X = sporades::copy_to(exec, random_tensor<std::uint32_t>(dims, 4000, 4));
  auto const first = std::vector<int>{2, 0, 3, 1};
  auto const Y = sporades::sorted(exec, X, first);
  CHECK(Y.sorted_modes == first);
  CHECK(sporades::sorted(exec, Y, {2, 0}).values.data() == Y.values.data());  // nothing to do
  CHECK(sporades::sorted(exec, Y, {0}).sorted_modes == std::vector<int>{0, 2, 3, 1});
  CHECK(sporades::sorted(exec, Y, {1, 2, 0, 3}).sorted_modes == std::vector<int>{1, 2, 0, 3});
  CHECK_FALSE(sporades::is_sorted(exec, Y, {0, 1, 2, 3}));
  auto const Z = to_host(Y);
  auto modes = all_modes(4);
  do check_all_of(exec, Z, modes);
  while (std::next_permutation(modes.begin(), modes.end()));
  check_all_of(exec, Z, {3});
  check_all_of(exec, Z, {3, 2});
}

TEMPLATE_LIST_TEST_CASE("sum_duplicates adds in input order", "[formats][sort_coo][threads]",
                        sporades::test::ExecutionSpaces) {
  TestType const exec{};
  auto const dims = GENERATE(Dims{30, 4, 17}, Dims{2}, Dims{1, 1}, Dims{100000, 100000, 100000});
  Position const nnz = GENERATE(0, 1, 2, 20000);
  auto const X = random_tensor<std::uint32_t>(dims, nnz, 3);
  for (Position p = 0; p < nnz; ++p) X.values(p) = std::sin(1e6 * static_cast<double>(p));
  std::vector<std::vector<std::uint32_t>> coordinates;  // the definition
  std::vector<double> values;
  for (auto p : expected(X, all_modes(X.order()))) {
    auto const own = listed(X, all_modes(X.order()), p);
    if (coordinates.empty() || coordinates.back() != own) {
      coordinates.push_back(own);
      values.push_back(X.values(p));
    } else {
      values.back() += X.values(p);
    }
  }
  auto const summed = sporades::sum_duplicates(exec, sporades::copy_to(exec, X));
  auto const Y = to_host(summed.tensor);
  CHECK(summed.merged == nnz - values.size());
  CHECK(Y.sorted_modes == all_modes(X.order()));
  CHECK(Y.dims == dims);
  REQUIRE(Y.nnz() == values.size());
  bool same = true;
  for (Position p = 0; p < Y.nnz(); ++p)
    same = same && Y.values(p) == values[p] &&  // bit for bit
           listed(Y, all_modes(X.order()), p) == coordinates[p];
  CHECK(same);
  sporades::test::check_same_bits(std::string("sum_duplicates ") + TestType::name() + " " +
                                      sporades::to_string(dims) + " " + std::to_string(nnz),
                                  sporades::test::hash_bits(Y.values));
}

TEMPLATE_LIST_TEST_CASE("duplicates are added in double", "[formats][sort_coo]",
                        sporades::test::ExecutionSpaces) {
  TestType const exec{};
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const X = sporades::detail::allocate_coo<float, std::uint32_t>(host, {2, 2}, 4);
  host.fence();
  float const values[] = {16777216, 1, 1, 0.5};
  for (Position p = 0; p < 4; ++p) {
    X.coordinates(0, p) = X.coordinates(1, p) = p < 3 ? 1 : 0;
    X.values(p) = values[p];
  }
  auto const Y =
      sporades::copy_to(host, sporades::sum_duplicates(exec, sporades::copy_to(exec, X)).tensor);
  REQUIRE(Y.nnz() == 2);
  CHECK(Y.values(0) == 0.5f);
  CHECK(Y.values(1) == 16777218.0f);  // in float 16777216 + 1 is 16777216
}

TEMPLATE_LIST_TEST_CASE("sorting a tensor checks its arguments", "[formats][sort_coo]",
                        sporades::test::ExecutionSpaces) {
  TestType const exec{};
  auto const X = sporades::copy_to(exec, random_tensor<std::uint32_t>({3, 4, 5}, 10));
  for (std::vector<int> const& modes :
       {std::vector<int>{3}, std::vector<int>{-1}, std::vector<int>{0, 1, 0}}) {
    CHECK_THROWS_AS(sporades::detail::sort_permutation(exec, X, modes), sporades::Error);
    CHECK_THROWS_AS(sporades::sorted(exec, X, modes), sporades::Error);
    CHECK_THROWS_AS(sporades::is_sorted(exec, X, modes), sporades::Error);
  }
  sporades::detail::Permutation<typename TestType::memory_space> const shorter("shorter", 9);
  CHECK_THROWS_AS(sporades::detail::permuted(exec, X, shorter), sporades::Error);
}
