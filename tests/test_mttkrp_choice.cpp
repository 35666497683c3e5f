// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstring>
#include <sporades/kernels/mttkrp.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>

using namespace sporades;
using namespace sporades::test;

TEST_CASE("a plan does what is asked for, and says why", "[kernels][mttkrp]") {
  Kokkos::DefaultExecutionSpace const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, {30, 4, 2000}, 40000);
  auto const chosen = make_mttkrp_plan(exec, X, {MttkrpStrategy::automatic, 16});
  CHECK(chosen.choices[0].strategy == MttkrpStrategy::fibers);  // 120 fibers of 333 nonzeros
  CHECK(chosen.choices[0].split == 1);
  CHECK_THAT(chosen.choices[0].reason, Catch::Matchers::ContainsSubstring("agree in 1 of 2 modes"));
  auto const curve = make_mttkrp_plan(exec, X, {MttkrpStrategy::automatic, 16, {RowOrder::morton}});
  for (auto const& choice : curve.choices) CHECK(choice.order == RowOrder::morton);
  auto const plain = make_mttkrp_plan(exec, X, {MttkrpStrategy::sorted, 16});
  for (auto const& choice : plain.choices) CHECK(choice.strategy == MttkrpStrategy::sorted);
}

// A split decides the order in which factor rows are multiplied, so that bits tell which one ran.
TEMPLATE_LIST_TEST_CASE("automatic runs the split that it chose", "[kernels][mttkrp]", IndexCases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  int const R = 16;
  std::vector<Dims> trials{{20, 20, 20, 50, 50}};
  if (sizeof(Index) == 8) trials.push_back({20, 20, 50, 50});
  for (auto const& dims : trials) {
    auto const X = random_coo<Scalar, Index>(exec, dims, 100000, 3);
    auto const A = random_factor_list<Exec, Scalar>(exec, dims, R, true);
    auto const product = [&](MttkrpOptions const& options, int split) {
      auto plan = make_mttkrp_plan(exec, X, options);
      if (split >= 0) CHECK(plan.choices[0].split == split);
      auto const V = make_matrix<Scalar>(exec, "V", dims[0], R);
      mttkrp(exec, plan, A, 0, V);
      return std::make_pair(matrix_on_host(V), plan.choices[0].split);
    };
    auto const [chosen, split] = product({MttkrpStrategy::automatic, R}, -1);
    int const deepest = X.order() - 2;
    INFO(to_string(dims) << ", split " << split);
    CHECK(0 < split);
    REQUIRE(split < deepest);
    for (int other = 1; other <= deepest; ++other) {
      auto const asked =
          product({MttkrpStrategy::fibers, R, {RowOrder::automatic, false, other}}, other).first;
      bool const same =
          std::memcmp(chosen.data(), asked.data(), chosen.span() * sizeof(Scalar)) == 0;
      CHECK(same == (other == split));
    }
  }
}

TEST_CASE("the model of rows in order", "[kernels][mttkrp]") {
  using Host = Kokkos::DefaultHostExecutionSpace;
  CHECK(sporades::detail::choose_split<Host>({1, 1, 1}, {1, 20, 1.5}).modes == 1);
  CHECK(sporades::detail::choose_split<Host>({1, 1, 1}, {1, 900, 90}).modes == 2);
  CHECK(sporades::detail::choose_split<Host>({1, 1}, {1, 1.3}).modes == 0);
  CHECK(sporades::detail::choose_split<Host>({1, 1, 1, 1, 1}, {1, 47, 2.7, 1.1, 1}).modes == 1);
  CHECK(sporades::detail::choose_split<Host>({1, 1, 1, 1, 1}, {1, 1.2, 4, 1.1, 1}).modes == 2);
}

TEST_CASE("a tree is walked to its choice", "[kernels][selector]") {
  using sporades::detail::Feature;
  sporades::detail::TreeNode const tree[] = {{Feature::order, 3.5, 4, nullptr},
                                             {Feature::run_length, 2, 3, nullptr},
                                             {Feature::count, 0, 0, "short"},
                                             {Feature::count, 0, 0, "long"},
                                             {Feature::count, 0, 0, "high"}};
  auto const walk = [&](double order, double length) {
    sporades::detail::Features features;
    features[Feature::order] = order;
    features[Feature::run_length] = length;
    return sporades::detail::decide(tree, features);
  };
  CHECK(walk(3, 2).choice == "short");
  CHECK(walk(3, 2.5).choice == "long");
  CHECK(walk(3, 2.5).path == "order 3 <= 3.5, nonzeros a run 2.5 > 2");
  CHECK(walk(4, 0).choice == "high");
  sporades::detail::TreeNode const leaf[] = {{Feature::count, 0, 0, "all"}};
  CHECK(sporades::detail::decide(leaf, {}).choice == "all");
  CHECK(sporades::detail::decide(leaf, {}).path == "the fastest of all that were measured");
}

TEST_CASE("run lengths come from windows of the nonzeros", "[kernels][mttkrp]") {
  Kokkos::DefaultExecutionSpace const exec{};
  // 400,000 nonzeros in fibers of 8, by which windows are chosen and not chosen alike.
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const X = random_coo<double, std::uint32_t>(host, {1000, 50, 8}, 400000);
  for (Position p = 0; p < X.nnz(); ++p) {
    X.coordinates(0, p) = static_cast<std::uint32_t>(p / 400);
    X.coordinates(1, p) = static_cast<std::uint32_t>(p / 8 % 50);
    X.coordinates(2, p) = static_cast<std::uint32_t>(p % 8);
  }
  auto const Y = sorted(exec, copy_to(exec, X), {0, 1, 2});
  auto const packed = make_packed(exec, Y, 0);
  CHECK_THAT(sporades::detail::run_length(exec, packed, 1), Catch::Matchers::WithinRel(8.0, 0.05));
  // Some 160 ends of runs are among the pairs that are sampled.
  CHECK_THAT(sporades::detail::run_length(exec, packed, 0),
             Catch::Matchers::WithinRel(400.0, 0.15));
}

TEST_CASE("the caches of the machine decide", "[kernels][mttkrp]") {
  using Host = Kokkos::DefaultHostExecutionSpace;
  Dims const nell{12092, 9184, 28818}, nips{2482, 2862, 14036, 17}, vast{165427, 11374, 2, 100, 89};
  auto& caches = sporades::detail::host_caches();
  auto const before = caches;
  auto const blocks = [&] { return sporades::detail::cache_block_bits<Host, double>(nell, 16); };
  auto const wide = sporades::detail::copied_width<double>;
  CHECK(blocks() == 12);
  CHECK(wide(nell, 5000000, 32) == 16);
  caches.second_level = 1 << 20;
  CHECK(blocks() == 11);
  CHECK(wide(nell, 5000000, 16) == 0);
  CHECK(wide(nell, 5000000, 27) == 16);
  CHECK(wide(nell, 5000000, 24) == 0);  // two passes would read little at a time
  CHECK(wide(nell, 5000000, 50) == 16);
  CHECK(wide(nell, 5000000, 36) == 12);
  CHECK(wide(nell, 500000, 32) == 0);  // copies would take longer than the products
  CHECK(sporades::detail::copied_width<float>(nell, 5000000, 64) == 32);
  CHECK(wide(nips, 3100000, 32) == 0);
  CHECK(wide(nips, 3100000, 64) == 16);
  CHECK(wide(vast, 3000000, 32) == 0);
  CHECK(wide(vast, 3000000, 64) == 16);
  caches.second_level = 64 << 20;
  CHECK(blocks() == 0);
  CHECK(wide(nell, 5000000, 64) == 0);
  caches = before;
}

TEST_CASE("automatic lays a tensor out by its modes and the cache", "[kernels][mttkrp]") {
  using Host = Kokkos::DefaultHostExecutionSpace;
  Host const host{};
  auto& caches = sporades::detail::host_caches();
  auto const before = caches;
  caches.second_level = 256 << 10;
  auto const layout = [&](Dims const& dims) {
    auto const X = random_coo<double, std::uint32_t>(host, dims, 400000);
    return make_mttkrp_plan(host, X, {MttkrpStrategy::automatic, 32}).choices.back();
  };
  auto const uneven = layout({30, 50, 22000});  // 5.7 MB of factors
  CHECK(uneven.strategy == MttkrpStrategy::alto);
  CHECK_THAT(uneven.reason, Catch::Matchers::EndsWith("longest mode / all modes 0.996 > 0.645"));
  CHECK(layout({7000, 7000, 7000}).strategy != MttkrpStrategy::alto);
  caches.second_level = 64 << 20;
  CHECK(layout({30, 50, 22000}).strategy != MttkrpStrategy::alto);
  caches = before;
}

TEST_CASE("automatic keeps to strategies whose bits do not change", "[kernels][mttkrp]") {
  using Host = Kokkos::DefaultHostExecutionSpace;
  Host const host{};
  // One block of 4096 indices a mode, and one nonzero far from it: mode 0 would need atomics.
  auto const X = random_coo<double, std::uint32_t>(host, {1000, 1000, 1000}, 60000);
  auto Y = X;
  Y.dims = {2000000, 6000, 7000};
  Y.coordinates(0, 5) = 1999999;
  auto const plan = make_mttkrp_plan(host, Y, {MttkrpStrategy::automatic, 16});
  CHECK(plan.formats.as<AltoTensor>(1)->partitions.at(0).parts.extent(0) == 0);
  CHECK(plan.choices[0].strategy == MttkrpStrategy::sorted);
  CHECK(plan.choices[1].strategy == MttkrpStrategy::alto);
  CHECK(plan.choices[2].strategy == MttkrpStrategy::alto);
  // An order that no mode takes is not kept.
  auto const none =
      make_mttkrp_plan(host, random_coo<double, std::uint32_t>(host, {9000, 12000, 60000}, 60000),
                       {MttkrpStrategy::automatic, 128});
  for (auto const& choice : none.choices)
    CHECK_THAT(choice.reason, Catch::Matchers::ContainsSubstring("would need atomics"));
  CHECK_FALSE(none.formats.any<AltoTensor>());
  Dims dims(10, 1 << 13);  // 130 bits, more than a linear order has
  CHECK(make_mttkrp_plan(host, random_coo<double, std::uint64_t>(host, dims, 1000))
            .choices[0]
            .strategy == MttkrpStrategy::sorted);
}
