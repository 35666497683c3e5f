// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/kernels/spttm.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>

using namespace sporades;
using namespace sporades::test;

TEST_CASE("spmm_library refuses what the library is not compiled for", "[kernels][spttm]") {
  using Catch::Matchers::ContainsSubstring;
  auto const product = [](auto exec, auto index) {
    using Index = decltype(index);
    auto const X = random_coo<double, Index>(exec, {6, 5, 4}, 10);
    auto plan = make_spttm_plan(exec, X, {SpttmStrategy::spmm_library, 3});
    auto const U = random_matrix<double>(exec, 5, 3, 1);
    spttm(exec, plan, U, 1, make_spttm_output(exec, plan, 1, 3));
    exec.fence();
  };
  using Host = Kokkos::DefaultHostExecutionSpace;
  CHECK_NOTHROW(product(Kokkos::DefaultExecutionSpace{}, std::uint32_t{}));
  CHECK_NOTHROW(product(Host{}, std::uint32_t{}));
  CHECK_THROWS_WITH(product(Host{}, std::uint64_t{}),
                    ContainsSubstring("64-bit") && ContainsSubstring("spmm_library"));
#if defined(KOKKOS_ENABLE_SERIAL)
  if (!std::is_same_v<Host, Kokkos::Serial>)
    CHECK_THROWS_WITH(product(Kokkos::Serial{}, std::uint32_t{}), ContainsSubstring("Serial"));
#endif
}

TEST_CASE("a plan chooses by the fibers of each mode", "[kernels][spttm]") {
  Kokkos::DefaultExecutionSpace const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, {6, 5, 4}, 10);
  for (auto const& choice : make_spttm_plan(exec, X).choices) {
    CHECK(choice.strategy == SpttmStrategy::lanes);
    CHECK(choice.reason != "");
  }
  auto const asked = make_spttm_plan(exec, X, {SpttmStrategy::naive, 1}).choices;
  REQUIRE(asked.size() == 3);
  CHECK(asked[2].strategy == SpttmStrategy::naive);
  CHECK(asked[2].reason == "asked for");
  CHECK(sporades::detail::spttm_mode_order({3, 5, 4}, 2) == std::vector<int>{1, 0, 2});
  // On GPUs a group of lanes a fiber is faster where fibers are long and alike.
  auto const even =
      make_spttm_plan(exec, random_coo<double, std::uint32_t>(exec, {100, 90, 80}, 400000));
  bool const is_gpu = sporades::detail::is_gpu<Kokkos::DefaultExecutionSpace>;
  CHECK(even.choices[0].strategy == (is_gpu ? SpttmStrategy::spmm_rows : SpttmStrategy::lanes));
}

TEST_CASE("the spread of fibers", "[kernels][spttm]") {
  Kokkos::DefaultHostExecutionSpace const host{};
  using Begin = Kokkos::View<Position*, Kokkos::HostSpace>;
  auto const spread = [&](std::vector<Position> const& begin) {
    auto const fibers = begin.size() - 1;
    Begin const view("begin", begin.size());
    std::copy(begin.begin(), begin.end(), view.data());
    return sporades::detail::fiber_spread(
        host, view, fibers, static_cast<double>(begin.back()) / static_cast<double>(fibers));
  };
  CHECK(spread({0, 3, 6, 9}) == 0);
  CHECK_THAT(spread({0, 1, 4}), Catch::Matchers::WithinRel(0.5, 1e-12));  // 1 and 3
  std::vector<Position> many{0};
  for (int f = 0; f < 200000; ++f) many.push_back(many.back() + (f / 2 % 2 == 0 ? 1 : 3));
  CHECK_THAT(spread(many), Catch::Matchers::WithinRel(0.5, 0.01));
}
