// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <sporades/core/detail/sort.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <tuple>
#include <vector>

namespace {

using sporades::Position;
using sporades::detail::Key128;
using sporades::detail::SortAlgorithm;

template <class Exec>
std::vector<sporades::detail::SortAlgorithm> algorithms() {
  std::vector<sporades::detail::SortAlgorithm> all{sporades::detail::SortAlgorithm::automatic,
                                                   sporades::detail::SortAlgorithm::tiles};
  if (!sporades::detail::is_gpu<Exec>) all.push_back(sporades::detail::SortAlgorithm::chunks);
  if (sporades::detail::has_cub<Exec>) all.push_back(sporades::detail::SortAlgorithm::cub);
  return all;
}

template <class Exec, class T>
auto to_device(Exec const& exec, std::vector<T> const& host) {
  Kokkos::View<T*, typename Exec::memory_space> device("sporades::test::keys", host.size());
  auto const mirror = Kokkos::create_mirror_view(device);
  std::copy(host.begin(), host.end(), mirror.data());
  Kokkos::deep_copy(exec, device, mirror);
  exec.fence();
  return device;
}

template <class Exec, class View>
auto to_host(Exec const& exec, View const& device) {
  exec.fence();
  auto const mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, device);
  return std::vector<typename View::non_const_value_type>(mirror.data(),
                                                          mirror.data() + mirror.extent(0));
}

std::tuple<std::uint64_t, std::uint64_t> kept(std::uint64_t key, int bits) {
  return {0, bits == 64 ? key : key & ((std::uint64_t{1} << bits) - 1)};
}
std::tuple<std::uint64_t, std::uint64_t> kept(sporades::detail::Key128 const& key, int bits) {
  if (bits <= 64) return kept(key.low, bits);
  return {std::get<1>(kept(key.high, bits - 64)), key.low};
}

/// The definition: a stable sort of the places by the key's low bits.
template <class Key>
std::vector<Position> expected(std::vector<Key> const& keys, int bits) {
  std::vector<Position> order(keys.size());
  std::iota(order.begin(), order.end(), Position{0});
  std::stable_sort(order.begin(), order.end(), [&](Position a, Position b) {
    return kept(keys[a], bits) < kept(keys[b], bits);
  });
  return order;
}

std::vector<std::uint64_t> random_keys(std::size_t n, std::uint64_t values = 0) {
  std::mt19937_64 random(n + 1);
  std::vector<std::uint64_t> keys(n);
  for (auto& key : keys) key = values ? random() % values : random();
  return keys;
}

#ifdef NDEBUG
constexpr std::size_t large = 3000000;
#else
constexpr std::size_t large = 200000;
#endif

}  // namespace

TEMPLATE_LIST_TEST_CASE("sort_permutation equals a stable sort, 64-bit keys", "[core][sort]",
                        sporades::test::ExecutionSpaces) {
  TestType const exec{};
  std::size_t const n =
      GENERATE(0u, 1u, 2u, 3u, 255u, 256u, 257u, 2047u, 2048u, 2049u, 9000u, 70000u);
  int const bits = GENERATE(0, 1, 7, 8, 9, 31, 33, 47, 63, 64);
  auto const keys = random_keys(n);
  auto const device = to_device(exec, keys);
  auto const order = expected(keys, bits);
  for (auto algorithm : algorithms<TestType>()) {
    INFO("n " << n << ", bits " << bits << ", algorithm " << static_cast<int>(algorithm));
    CHECK((to_host(exec, sporades::detail::sort_permutation(exec, device, bits, algorithm)) ==
           order));
  }
  CHECK(to_host(exec, device) == keys);
}

TEMPLATE_LIST_TEST_CASE("sort_permutation equals a stable sort, 128-bit keys", "[core][sort]",
                        sporades::test::ExecutionSpaces) {
  TestType const exec{};
  std::size_t const n = GENERATE(0u, 1u, 2u, 257u, 30000u);
  int const bits = GENERATE(0, 1, 33, 49, 63, 64, 65, 90, 127, 128);
  auto const words = random_keys(2 * n, n % 2 ? 0 : 5);  // few values: the high word decides little
  std::vector<sporades::detail::Key128> keys(n);
  for (std::size_t p = 0; p < n; ++p)
    keys[p] = {words[2 * p], words[2 * p + 1] << (p % 3 == 0 ? 62 : 0)};
  auto const device = to_device(exec, keys);
  auto const order = expected(keys, bits);
  for (auto algorithm : algorithms<TestType>()) {
    INFO("n " << n << ", bits " << bits << ", algorithm " << static_cast<int>(algorithm));
    CHECK((to_host(exec, sporades::detail::sort_permutation(exec, device, bits, algorithm)) ==
           order));
  }
}

TEMPLATE_LIST_TEST_CASE("sort_permutation sorts millions of keys", "[core][sort]",
                        sporades::test::ExecutionSpaces) {
  TestType const exec{};
  int const bits = 40;
  auto const keys = random_keys(large);
  auto const device = to_device(exec, keys);
  auto const order = expected(keys, bits);
  for (auto algorithm : algorithms<TestType>()) {
    INFO("bits " << bits << ", algorithm " << static_cast<int>(algorithm));
    CHECK((to_host(exec, sporades::detail::sort_permutation(exec, device, bits, algorithm)) ==
           order));
  }
}

TEMPLATE_LIST_TEST_CASE("sort_permutation is stable and takes sorted, reversed and equal keys",
                        "[core][sort]", sporades::test::ExecutionSpaces) {
  TestType const exec{};
  std::size_t const n = 70000;
  std::vector<std::vector<std::uint64_t>> inputs{random_keys(n, 1), random_keys(n, 2),
                                                 random_keys(n, 300), random_keys(n)};
  inputs.push_back(inputs.back());
  std::sort(inputs.back().begin(), inputs.back().end());
  inputs.push_back(inputs.back());
  std::reverse(inputs.back().begin(), inputs.back().end());
  inputs.emplace_back(n, std::numeric_limits<std::uint64_t>::max());
  for (auto const& keys : inputs)
    for (auto algorithm : algorithms<TestType>()) {
      auto const result =
          sporades::detail::sort_permutation(exec, to_device(exec, keys), 64, algorithm);
      CHECK((to_host(exec, result) == expected(keys, 64)));
    }
}

TEMPLATE_LIST_TEST_CASE("keys and payload are gathered in their new order", "[core][sort]",
                        sporades::test::ExecutionSpaces) {
  TestType const exec{};
  auto const keys = random_keys(5000, 700);
  auto const payload = random_keys(5000);
  auto const device_keys = to_device(exec, keys);
  auto const device_payload = to_device(exec, payload);
  auto const permutation = sporades::detail::sort_permutation(exec, device_keys, 10);
  sporades::detail::gather_in_place(exec, device_keys, permutation);
  sporades::detail::gather_in_place(exec, device_payload, permutation);
  auto const sorted_keys = to_host(exec, device_keys);
  auto const sorted_payload = to_host(exec, device_payload);
  auto const order = expected(keys, 10);
  for (std::size_t p = 0; p < order.size(); ++p) {
    REQUIRE(sorted_keys[p] == keys[order[p]]);
    REQUIRE(sorted_payload[p] == payload[order[p]]);
  }
}

TEMPLATE_LIST_TEST_CASE("sorting checks its arguments", "[core][sort]",
                        sporades::test::ExecutionSpaces) {
  TestType const exec{};
  auto const keys = to_device(exec, random_keys(3));
  CHECK_THROWS_AS(sporades::detail::sort_permutation(exec, keys, -1), sporades::Error);
  CHECK_THROWS_AS(sporades::detail::sort_permutation(exec, keys, 65), sporades::Error);
  if (!sporades::detail::has_cub<TestType>)
    CHECK_THROWS_AS(
        sporades::detail::sort_permutation(exec, keys, 3, sporades::detail::SortAlgorithm::cub),
        sporades::Error);
  if (sporades::detail::is_gpu<TestType>)
    CHECK_THROWS_AS(
        sporades::detail::sort_permutation(exec, keys, 3, sporades::detail::SortAlgorithm::chunks),
        sporades::Error);
}

TEMPLATE_LIST_TEST_CASE("exclusive_scan equals its definition", "[core][scan]",
                        sporades::test::ExecutionSpaces) {
  TestType const exec{};
  std::size_t const n = GENERATE(0u, 1u, 2u, 1000u, 100001u);
  auto const values = random_keys(n, 1000);
  auto sums = values;
  std::uint64_t sum = 0;
  for (auto& entry : sums) sum += std::exchange(entry, sum);
  auto const device = to_device(exec, values);
  sporades::detail::exclusive_scan(exec, device);
  CHECK(to_host(exec, device) == sums);
  auto const again = to_device(exec, values);
  CHECK(sporades::detail::exclusive_scan_total(exec, again) == sum);
  CHECK(to_host(exec, again) == sums);
}
