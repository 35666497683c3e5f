// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <support/mttkrp.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

MttkrpOptions flycoo_options(int partitions, int parallel, int rank = 17,
                             MttkrpStrategy strategy = MttkrpStrategy::flycoo) {
  MttkrpOptions options{strategy, rank};
  options.flycoo = {partitions, parallel};
  return options;
}

MttkrpOptions block_options(int partitions, int parallel) {
  return flycoo_options(partitions, parallel, 17, MttkrpStrategy::flycoo_blocks);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("flycoo equals the definition for any partitions and nonzeros at once",
                        "[kernels][mttkrp]", Cases) {
  for (auto const& problem : mttkrp_problems())
    for (int partitions : {1, 3, 64, 1000})
      for (int parallel : {1, 2, 7, 64})
        for (std::size_t R : {1, 17, 61}) {
          if (R == 1 && parallel != 2) continue;  // the loops over partitions are the same
          if (R == 61 && parallel != 7) continue;
          check_all_modes<TestType>(problem, R, flycoo_options(partitions, parallel), R != 17);
        }
}

TEMPLATE_LIST_TEST_CASE("flycoo equals the definition for orders 1 to 16 and all indices",
                        "[kernels][mttkrp]", Cases) {
  using Wide = Case<typename TestType::ExecutionSpace, typename TestType::Scalar, std::uint64_t>;
  for (auto strategy : {MttkrpStrategy::flycoo, MttkrpStrategy::flycoo_blocks}) {
    auto const options = [&](int partitions, int parallel) {
      return flycoo_options(partitions, parallel, 17, strategy);
    };
    for (std::size_t order = 1; order <= 16; ++order)
      check_all_modes<TestType>({Dims(order, order < 4 ? 20 : 3), 700, 1}, 5, options(4, 3), true);
    for (auto const& problem :
         {Problem{{70000, 60000, 50000}, 20000, 3}, Problem{Dims(6, 8000), 20000, 2},
          Problem{Dims(10, 8000), 5000, 1}}) {
      check_all_modes<TestType>(problem, 5, options(0, 0), true);
      check_all_modes<Wide>(problem, 5, options(9, 2), true);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("flycoo takes modes in any order, with the same bits", "[kernels][mttkrp]",
                        Cases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  Dims const dims{40, 2, 300, 50};
  auto const X = random_coo<Scalar, std::uint32_t>(exec, dims, 20000, 3, 2);
  auto const A = random_factor_list<Exec, Scalar>(exec, dims, 17, true);
  for (int parallel : {1, 5}) {
    auto plan = make_mttkrp_plan(exec, X, flycoo_options(7, parallel));
    std::vector<std::uint64_t> bits(4);
    auto const product = [&](int n) {
      auto const V = make_matrix<Scalar>(exec, "V", dims[n], 17);
      mttkrp(exec, plan, A, n, V);
      return hash_bits(V);
    };
    for (int n = 0; n < 4; ++n) bits[n] = product(n);
    for (int n : {0, 1, 2, 3, 3, 1, 0, 0, 2, 1, 3, 2}) {
      INFO("mode " << n << ", P " << parallel);
      CHECK(product(n) == bits[n]);
    }
    auto const alone = make_flycoo(exec, X, {7, parallel});
    auto const once = make_matrix<Scalar>(exec, "once", dims[0], 17);
    auto const twice = make_matrix<Scalar>(exec, "twice", dims[0], 17);
    mttkrp(exec, alone, A, 0, once);
    mttkrp(exec, alone, A, 0, twice);
    CHECK(hash_bits(once) == hash_bits(twice));
    if (plan.choices[0].split == 0) CHECK(hash_bits(once) == bits[0]);
  }
}

TEMPLATE_LIST_TEST_CASE("flycoo gives the same bits on every run and number of threads",
                        "[kernels][mttkrp][threads]", AllCases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  Dims const dims{40, 2, 3000, 50};
  auto const X = random_coo<Scalar, std::uint32_t>(exec, dims, 60000, 3, 2);
  auto const A = random_factor_list<Exec, Scalar>(exec, dims, 17, true);
  for (int parallel : {1, 8}) {
    auto plan = make_mttkrp_plan(exec, X, flycoo_options(20, parallel));
    for (int n = 0; n < 4; ++n) {
      auto const V = make_matrix<Scalar>(exec, "V", dims[n], 17);
      mttkrp(exec, plan, A, n, V);
      check_same_bits("mttkrp flycoo, P " + std::to_string(parallel) + " " + Exec::name() +
                          " mode " + std::to_string(n) + " bytes " + std::to_string(sizeof(Scalar)),
                      hash_bits(V));
    }
  }
}

TEST_CASE("flycoo moves nonzeros once a product, and allocates nothing", "[kernels][mttkrp]") {
  auto const exec = new_instance<Kokkos::DefaultExecutionSpace>();
  auto const X = random_coo<double, std::uint32_t>(exec, {300, 2, 100}, 50000, 1, 2);
  auto const A = random_factor_list<Kokkos::DefaultExecutionSpace, double>(exec, X.dims, 8, true);
  auto plan = make_mttkrp_plan(exec, X, {MttkrpStrategy::flycoo, 8});
  for (int n : {0, 1, 2, 0}) {
    auto const V = make_matrix<double>(exec, "V", X.dims[n], 8);
    auto const recording = check_launches(exec, [&] { mttkrp(exec, plan, A, n, V); });
    for (auto const& label : recording.allocations)  // Kokkos' own, of teams
      CHECK(label == "Kokkos::CudaSpace::TeamScratchMemory");
    auto const remaps = std::count_if(
        recording.launches.begin(), recording.launches.end(),
        [](Launch const& launch) { return launch.label == "sporades::flycoo::remap"; });
    CHECK(remaps == 1);
  }
}

TEMPLATE_LIST_TEST_CASE("flycoo_blocks equals the definition for any partitions, P and R",
                        "[kernels][mttkrp]", Cases) {
  for (auto const& problem : mttkrp_problems())
    for (int partitions : {0, 1, 3, 1000})
      for (int parallel : {0, 1, 32, 64})
        for (std::size_t R : {1, 8, 17, 32}) {
          if (R != 17 && (partitions == 1 || parallel == 1)) continue;
          check_all_modes<TestType>(problem, R, block_options(partitions, parallel), R != 17);
        }
  // More columns than a team has threads.
  check_all_modes<TestType>({{7, 6, 5}, 60, 1}, 1030, block_options(2, 3), true);
}

TEMPLATE_LIST_TEST_CASE("flycoo_blocks moves the nonzeros as it multiplies, as remap does",
                        "[kernels][mttkrp]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  auto const exec = new_instance<Exec>();
  Dims const dims{40, 2, 300, 50};
  auto const X = random_coo<Scalar, std::uint32_t>(exec, dims, 20000, 3, 2);
  auto const A = random_factor_list<Exec, Scalar>(exec, dims, 17, true);
  auto plan = make_mttkrp_plan(exec, X, block_options(7, 5));
  auto moved = make_flycoo(exec, X, {7, 5});
  auto const& own = *plan.formats.template as<FlycooTensor>(0);
  CHECK(plan.choices[0].strategy == MttkrpStrategy::flycoo_blocks);
  auto const same_records = [&] {
    Kokkos::DefaultHostExecutionSpace const host{};
    auto const a = copy_to(host, to_coo(exec, own)), b = copy_to(host, to_coo(exec, moved));
    return hash_bits(a.coordinates) == hash_bits(b.coordinates) &&
           hash_bits(a.values) == hash_bits(b.values);
  };
  for (int n : {0, 1, 2, 3, 0, 1}) {
    INFO("mode " << n);
    CHECK(own.mode == n);
    CHECK(same_records());
    auto const V = make_matrix<Scalar>(exec, "V", dims[n], 17);
    auto const recording = check_launches(exec, [&] { mttkrp(exec, plan, A, n, V); });
    for (auto const& launch : recording.launches) CHECK(launch.label != "sporades::flycoo::remap");
    for (auto const& label : recording.allocations)  // Kokkos' own, of teams
      CHECK(label == "Kokkos::CudaSpace::TeamScratchMemory");
    remap(exec, moved);
  }
  CHECK(own.mode == 2);
  CHECK(same_records());
  mttkrp(exec, plan, A, 0, make_matrix<Scalar>(exec, "V", dims[0], 17));  // by way of mode 3
  CHECK(own.mode == 1);

  auto const alone = make_flycoo(exec, X, {7, 5});
  auto const still = make_matrix<Scalar>(exec, "still", dims[0], 17),
             taken = make_matrix<Scalar>(exec, "taken", dims[0], 17);
  mttkrp(exec, alone, A, 0, still, MttkrpStrategy::flycoo_blocks);
  CHECK(alone.mode == 0);
  auto again = make_mttkrp_plan(exec, X, block_options(7, 5));
  mttkrp(exec, again, A, 0, taken);
  if (!sporades::detail::is_gpu<Exec>) CHECK(hash_bits(still) == hash_bits(taken));
}

TEST_CASE("flycoo_blocks on hosts gives the same bits on every run and number of threads",
          "[kernels][mttkrp][threads]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  Dims const dims{40, 2, 3000, 50};
  auto const X = random_coo<double, std::uint32_t>(exec, dims, 60000, 3, 2);
  auto const A =
      random_factor_list<Kokkos::DefaultHostExecutionSpace, double>(exec, dims, 17, true);
  auto plan = make_mttkrp_plan(exec, X, block_options(20, 0));
  for (int n = 0; n < 4; ++n) {
    auto const V = make_matrix<double>(exec, "V", dims[n], 17);
    mttkrp(exec, plan, A, n, V);
    check_same_bits("mttkrp flycoo-blocks mode " + std::to_string(n), hash_bits(V));
  }
}

TEST_CASE("flycoo refuses what it cannot do", "[kernels][mttkrp]") {
  using Catch::Matchers::ContainsSubstring;
  Kokkos::DefaultExecutionSpace const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, {6, 5, 4}, 10);
  auto const A = random_factor_list<Kokkos::DefaultExecutionSpace, double>(exec, X.dims, 3, true);
  auto const flycoo = make_flycoo(exec, X);
  CHECK_THROWS_WITH(mttkrp(exec, flycoo, A, 1, make_matrix<double>(exec, "V", 5, 3)),
                    ContainsSubstring("in the order of mode 0, the product is on mode 1"));
  CHECK_THROWS_WITH(
      mttkrp(exec, flycoo, A, 0, make_matrix<double>(exec, "V", 6, 3), MttkrpStrategy::sorted),
      ContainsSubstring("sorted does not work on a FlycooTensor"));
  auto options = flycoo_options(0, 0);
  options.rows.atomic_flush = true;
  CHECK_THROWS_WITH(make_mttkrp_plan(exec, X, options),
                    ContainsSubstring("not for strategy flycoo,"));
  CHECK_THROWS_WITH(make_mttkrp_plan(exec, X, flycoo_options(-2, 0)),
                    ContainsSubstring("-2 partitions"));
  CHECK_THROWS_WITH(make_mttkrp_plan(exec, X, flycoo_options(0, 65)),
                    ContainsSubstring("65 nonzeros at once"));
}
