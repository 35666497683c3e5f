// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cstring>
#include <sporades/algorithms/generate.hpp>
#include <support/mttkrp.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

std::vector<MttkrpStrategy> strategies() {
  std::vector<MttkrpStrategy> all;
  for (auto const& name : names_of<MttkrpStrategy>())
    all.push_back(from_name<MttkrpStrategy>(name));
  return all;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("mttkrp equals its definition", "[kernels][mttkrp]", Cases) {
  for (auto const& problem : mttkrp_problems())
    for (auto strategy : strategies())
      for (std::size_t R : {1, 3, 16, 17, 33, 61})
        check_all_modes<TestType>(problem, R, {strategy, 4}, R != 3 && R != 33);
}

TEMPLATE_LIST_TEST_CASE("mttkrp along a curve and with atomic flushes equals its definition",
                        "[kernels][mttkrp]", Cases) {
  using Strategy = MttkrpStrategy;
  for (auto const& problem : mttkrp_problems())
    for (auto const& options :
         {MttkrpOptions{Strategy::sorted, 16, {RowOrder::morton, false}},
          MttkrpOptions{Strategy::sorted, 16, {RowOrder::morton, true}},
          MttkrpOptions{Strategy::fibers, 16, {RowOrder::lexicographic, true}},
          MttkrpOptions{Strategy::csf, 16, {RowOrder::lexicographic, true}},
          MttkrpOptions{Strategy::automatic, 16, {RowOrder::morton, false}}})
      check_all_modes<TestType>(problem, 17, options, true);
}

TEMPLATE_LIST_TEST_CASE("mttkrp with every split equals its definition", "[kernels][mttkrp]",
                        Cases) {
  using Wide = Case<typename TestType::ExecutionSpace, typename TestType::Scalar, std::uint64_t>;
  for (auto const& problem :
       {Problem{{30, 2, 20, 10}, 5000, 2}, Problem{{3, 4, 2, 3, 2, 4}, 600, 1}})
    for (int split = 0; split <= static_cast<int>(problem.dims.size()) - 2; ++split) {
      MttkrpOptions const options{MttkrpStrategy::fibers, 17, {RowOrder::automatic, false, split}};
      check_all_modes<TestType>(problem, 17, options, true);
      if (sizeof(typename TestType::Scalar) == 8) check_all_modes<Wide>(problem, 17, options, true);
    }
}

TEMPLATE_LIST_TEST_CASE("mttkrp in slices of the longest mode equals its definition",
                        "[kernels][mttkrp]", Cases) {
  using Wide = Case<typename TestType::ExecutionSpace, typename TestType::Scalar, std::uint64_t>;
  Problem const over63{Dims(6, 8000), 20000, 2};
  for (int slices : {2, 3, 64}) {
    MttkrpOptions options{MttkrpStrategy::sorted, 5};
    options.slices.count = slices;
    for (auto strategy : {MttkrpStrategy::automatic, MttkrpStrategy::sorted}) {
      options.strategy = strategy;
      options.rows.order = RowOrder::lexicographic;
      check_all_modes<TestType>(over63, 5, options, true);
    }
    for (auto strategy : {MttkrpStrategy::sorted, MttkrpStrategy::fibers})
      for (auto const& problem : mttkrp_problems()) {
        options.strategy = strategy;
        check_all_modes<TestType>(problem, 5, options, true);
        if (slices == 3) check_all_modes<Wide>(problem, 17, options, true);
      }
  }
}

TEMPLATE_LIST_TEST_CASE("plans with slices keep their nonzeros", "[kernels][mttkrp]", Cases) {
  typename TestType::ExecutionSpace const exec{};
  using Scalar = typename TestType::Scalar;
  auto const X = generate<Scalar, std::uint32_t>(exec, {40, 900, 7, 30}, 8000, 0.5);
  MttkrpOptions options{MttkrpStrategy::sorted, 4};
  options.slices.count = 5;
  auto const plan = make_mttkrp_plan(exec, X, options);
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const Y = copy_to(host, sum_duplicates(exec, to_coo(exec, plan)).tensor);
  auto const Z = copy_to(host, sum_duplicates(exec, X).tensor);
  check_same_nonzeros(Y, Z);
  for (int n = 0; n < 4; ++n) {
    CHECK(describe(plan.choices[n]) == (n == 1 ? "sorted" : "sorted in 5 slices"));
    CHECK(plan.work.parts[n].count() >= plan.work.parts[n].rows());
    CHECK((n == 1 || plan.work.parts[n].rows() == X.dims[n]));
    CHECK(mttkrp_cost(exec, plan, 4, n).bytes > 0);
  }
  for (int slices : {0, 65}) {
    options.slices.count = slices;
    CHECK_THROWS_AS(make_mttkrp_plan(exec, X, options), Error);
  }
}

TEMPLATE_LIST_TEST_CASE("mttkrp with indices of more than 31 and 63 bits equals its definition",
                        "[kernels][mttkrp]", Cases) {
  Problem const over31{{70000, 60000, 50000}, 20000, 3}, over63{Dims(6, 8000), 20000, 2};
  for (auto strategy : {MttkrpStrategy::automatic, MttkrpStrategy::sorted, MttkrpStrategy::fibers,
                        MttkrpStrategy::alto, MttkrpStrategy::alto_atomic}) {
    MttkrpOptions const options{strategy, 5};
    check_all_modes<TestType>(over31, 5, options, true);
    if (strategy != MttkrpStrategy::fibers) check_all_modes<TestType>(over63, 5, options, true);
  }
}

TEMPLATE_LIST_TEST_CASE("mttkrp takes any number of columns", "[kernels][mttkrp]", Cases) {
  for (std::size_t R = 1; R <= 70; ++R)
    for (auto strategy :
         {MttkrpStrategy::sorted, MttkrpStrategy::fibers, MttkrpStrategy::alto_atomic})
      check_all_modes<TestType>({{6, 5, 4}, 200, 1}, R, {strategy, 4}, R % 2 == 0);
}

TEST_CASE("mttkrp with 64-bit indices equals its definition", "[kernels][mttkrp]") {
  using Wide = Case<Kokkos::DefaultExecutionSpace, double, std::uint64_t>;
  for (auto const& problem : mttkrp_problems())
    for (auto strategy : strategies()) check_all_modes<Wide>(problem, 17, {strategy, 4}, true);
}

TEST_CASE("mttkrp of order 16 equals its definition", "[kernels][mttkrp]") {
  using Plain = Case<Kokkos::DefaultExecutionSpace, double>;
  for (auto strategy : strategies())
    check_all_modes<Plain>({Dims(16, 3), 500, 1}, 5, {strategy, 4}, true);
}

// The published numbers of GenTen's mixed-format test.
TEMPLATE_LIST_TEST_CASE("mttkrp of a tensor with one and two nonzeros", "[kernels][mttkrp]",
                        Cases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  Kokkos::DefaultHostExecutionSpace const host{};
  auto X = sporades::detail::allocate_coo<Scalar, std::uint32_t>(host, {2, 3, 4}, 2);
  host.fence();
  for (int n = 0; n < 3; ++n) {
    X.coordinates(n, 0) = 0;
    X.coordinates(n, 1) = static_cast<std::uint32_t>(n + 1);
  }
  X.values(0) = X.values(1) = 1;
  Factors<Scalar, typename Exec::memory_space> A;
  for (int n = 0; n < 3; ++n) {
    int const base[] = {10, 12, 15};
    Matrix<Scalar, Kokkos::HostSpace> const a("a", 2 + n, 3);
    for (int i = 0; i < 2 + n; ++i)
      for (int j = 0; j < 3; ++j) a(i, j) = static_cast<Scalar>((base[n] + i) * (j + 1));
    A.push_back(copy_matrix(exec, a));
  }
  int const first_row[] = {180, 150, 120};
  int const last_row[] = {252, 198, 154};
  for (auto strategy : strategies()) {
    auto plan = make_mttkrp_plan(exec, copy_to(exec, X), {strategy, 3});
    for (int n = 0; n < 3; ++n) {
      auto const V = make_matrix<Scalar>(exec, "V", 2 + n, 3);
      mttkrp(exec, plan, A, n, V);
      auto const v = matrix_on_host(V);
      for (int j = 0; j < 3; ++j) {
        CHECK(v(0, j) == static_cast<Scalar>(first_row[n] * (j + 1) * (j + 1)));
        CHECK(v(n + 1, j) == static_cast<Scalar>(last_row[n] * (j + 1) * (j + 1)));
        if (n == 1) CHECK(v(1, j) == 0);
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("mttkrp gives the same bits on every run and number of threads",
                        "[kernels][mttkrp][threads]", AllCases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  Dims const dims{40, 2, 3000, 50};
  auto const X = random_coo<Scalar, std::uint32_t>(exec, dims, 60000, 3, 2);
  auto const A = random_factor_list<Exec, Scalar>(exec, dims, 17, true);
  for (auto strategy : {MttkrpStrategy::permuted, MttkrpStrategy::sorted, MttkrpStrategy::fibers,
                        MttkrpStrategy::alto, MttkrpStrategy::csf, MttkrpStrategy::flycoo,
                        MttkrpStrategy::automatic}) {
    auto plan = make_mttkrp_plan(exec, X, {strategy, 17});
    for (int n = 0; n < 4; ++n) {
      auto const V = make_matrix<Scalar>(exec, "V", dims[n], 17);
      mttkrp(exec, plan, A, n, V);
      auto const once = matrix_on_host(V);
      mttkrp(exec, plan, A, n, V);
      auto const twice = matrix_on_host(V);
      CHECK(std::memcmp(once.data(), twice.data(), once.span() * sizeof(Scalar)) == 0);
      check_same_bits(std::string("mttkrp ") + to_string(strategy) + " " + Exec::name() + " mode " +
                          std::to_string(n) + " bytes " + std::to_string(sizeof(Scalar)),
                      hash_bits(once));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("mttkrp by copies of some columns has the same bits, and allocates nothing",
                        "[kernels][mttkrp]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  if (sporades::detail::is_gpu<Exec>) return;
  Exec const exec{};
  auto& caches = sporades::detail::host_caches();
  auto const before = caches;
  for (auto const& dims : {Dims{60, 50, 40}, Dims{60, 50, 7, 40}})
    for (int R : {32, 50, 64, 100}) {
      INFO(to_string(dims) << ", R " << R);
      auto const X = random_coo<Scalar, std::uint32_t>(exec, dims, 30000, 3, 2);
      auto const A = random_factor_list<Exec, Scalar>(exec, dims, R, true);
      for (std::size_t n = 0; n < dims.size(); ++n) {
        auto const whole = make_matrix<Scalar>(exec, "V", dims[n], R);
        auto const copied = make_matrix<Scalar>(exec, "V", dims[n], R);
        auto const copies = [&](double bytes, auto const& V) {
          caches.second_level = bytes;
          auto plan = make_mttkrp_plan(exec, X, {MttkrpStrategy::alto, R});
          auto const bytes_before = plan.storage_bytes();
          auto const recording =
              check_launches(exec, [&] { mttkrp(exec, plan, A, static_cast<int>(n), V); });
          CHECK(recording.allocations.empty());
          CHECK(plan.storage_bytes() == bytes_before);
          auto const& all = recording.launches;
          return std::count_if(all.begin(), all.end(), [](Launch const& launch) {
            return launch.label == "sporades::mttkrp::copy_columns";
          });
        };
        CHECK(copies(1 << 30, whole) == 0);
        int const widest = 128 / sizeof(Scalar), passes = (R + widest - 1) / widest;
        CHECK(copies(4096, copied) ==
              (4 * R < 7 * widest ? 0 : passes * static_cast<int>(dims.size() - 1)));
        CHECK(hash_bits(whole) == hash_bits(copied));
      }
    }
  caches = before;
}

TEMPLATE_LIST_TEST_CASE("mttkrp labels its kernels and runs them on its instance",
                        "[kernels][mttkrp]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  auto const exec = new_instance<Exec>();
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {30, 20, 10}, 5000);
  auto const A = random_factor_list<Exec, Scalar>(exec, X.dims, 8, true);
  auto const V = make_matrix<Scalar>(exec, "V", 30, 8);
  for (auto strategy : strategies()) {
    if (strategy == MttkrpStrategy::duplicated) continue;  // ScatterView names its own kernels
    check_launches(exec, [&] {
      auto plan = make_mttkrp_plan(exec, X, {strategy, 8});
      mttkrp(exec, plan, A, 0, V);
    });
  }
}

TEMPLATE_LIST_TEST_CASE("alto is refused where it needs atomics, which alto-atomic takes",
                        "[kernels][mttkrp]", Cases) {
  using Catch::Matchers::ContainsSubstring;
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  Dims const dims{20000, 300, 200};
  auto const X = random_coo<Scalar, std::uint32_t>(exec, dims, 60000);  // three nonzeros a row
  char const* const sentence = sporades::detail::is_gpu<Exec>
                                   ? "strategy alto needs atomics on mode 0, as on every mode on "
                                     "GPUs (20000 rows, 60000 nonzeros): alto-atomic allows them"
                                   : "strategy alto needs atomics on mode 0, whose rows are used "
                                     "too seldom (20000 rows, 60000 nonzeros): alto-atomic allows "
                                     "them, sorted, fibers, csf and permuted work without";
  if (sporades::detail::is_gpu<Exec>)
    check_all_modes<TestType>({dims, 60000, 1}, 3, {MttkrpStrategy::alto, 3}, true);
  else
    CHECK_THROWS_WITH(make_mttkrp_plan(exec, X, {MttkrpStrategy::alto, 3}),
                      ContainsSubstring(sentence));
  auto const linear = make_alto(exec, X);
  auto const A = random_factor_list<Exec, Scalar>(exec, dims, 3, true);
  auto const V = make_matrix<Scalar>(exec, "V", dims[0], 3);
  for (auto strategy : {MttkrpStrategy::alto, MttkrpStrategy::automatic})
    CHECK_THROWS_WITH(mttkrp(exec, linear, A, 0, V, strategy), ContainsSubstring(sentence));
  if (!sporades::detail::is_gpu<Exec>)
    CHECK_NOTHROW(mttkrp(exec, linear, A, 1, make_matrix<Scalar>(exec, "V", 300, 3)));
  check_all_modes<TestType>({dims, 60000, 1}, 3, {MttkrpStrategy::alto_atomic, 3}, true);
  for (auto const& choice : make_mttkrp_plan(exec, X, {}).choices)
    CHECK(choice.strategy != MttkrpStrategy::alto_atomic);
}

TEST_CASE("mttkrp refuses what does not fit", "[kernels][mttkrp]") {
  using Exec = Kokkos::DefaultExecutionSpace;
  using Catch::Matchers::ContainsSubstring;
  Exec const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, {6, 5, 4}, 10);
  auto const A = random_factor_list<Exec, double>(exec, X.dims, 3, true);
  auto const V = make_matrix<double>(exec, "V", 6, 3);
  auto run = [&](auto const& factors, int n, auto const& output, MttkrpStrategy strategy) {
    mttkrp(exec, X, factors, n, output, strategy);
  };
  auto const automatic = MttkrpStrategy::automatic;
  CHECK_THROWS_WITH(run(A, 3, V, automatic), ContainsSubstring("mode 3 of a tensor of order 3"));
  CHECK_THROWS_WITH(run(A, -1, V, automatic), ContainsSubstring("mode -1"));
  CHECK_THROWS_WITH(run(A, 1, V, automatic), ContainsSubstring("V has 6 rows, mode 1 has 5"));
  CHECK_THROWS_WITH(run(A, 0, make_matrix<double>(exec, "V", 6, 4), automatic),
                    ContainsSubstring("has 3 columns, V has 4"));
  auto fewer = A;
  fewer.pop_back();
  CHECK_THROWS_WITH(run(fewer, 0, V, automatic), ContainsSubstring("2 factors for order 3"));
  auto wrong = A;
  wrong[1] = A[0];
  CHECK_THROWS_WITH(run(wrong, 0, V, automatic),
                    ContainsSubstring("A[1] has 6 rows, mode 1 has 5"));
  CHECK_THROWS_WITH(run(A, 0, V, MttkrpStrategy::sorted), ContainsSubstring("sorted by mode 0"));
  CHECK_THROWS_WITH(run(A, 0, V, MttkrpStrategy::csf),
                    ContainsSubstring("csf does not work on a CooTensor"));
  auto const tree = make_csf(exec, X, {1, 0, 2});
  CHECK_THROWS_WITH(mttkrp(exec, tree, A, 0, V), ContainsSubstring("root is mode 1"));
  CHECK_THROWS_WITH(make_mttkrp_plan(exec, X, {automatic, 0}), ContainsSubstring("rank 0"));
  auto const split = [&](MttkrpStrategy strategy, int modes) {
    make_mttkrp_plan(exec, X, {strategy, 3, {RowOrder::automatic, false, modes}});
  };
  CHECK_THROWS_WITH(split(MttkrpStrategy::fibers, 2),
                    ContainsSubstring("split 2 of a tensor of order 3: -1 to 1"));
  CHECK_THROWS_WITH(split(MttkrpStrategy::fibers, -2), ContainsSubstring("split -2"));
  CHECK_THROWS_WITH(split(MttkrpStrategy::sorted, 1),
                    ContainsSubstring("split 1 is for strategy fibers, not sorted"));
  auto const wide = random_coo<double, std::uint32_t>(exec, Dims(6, 8000), 10);
  CHECK_THROWS_WITH(make_mttkrp_plan(exec, wide, {MttkrpStrategy::fibers, 3}),
                    ContainsSubstring("all modes but 0 take 65 bits, a word has 63"));
  auto const wider = random_coo<double, std::uint32_t>(exec, Dims(10, 8000), 10);
  CHECK_THROWS_WITH(make_mttkrp_plan(exec, wider, {MttkrpStrategy::alto, 3}),
                    ContainsSubstring("130 bits, two words have 128"));
  CHECK_THROWS_WITH(from_name<MttkrpStrategy>("best"),
                    ContainsSubstring("no MTTKRP strategy best"));
  CHECK_THROWS_WITH(make_csf(exec, X, {0, 1}), ContainsSubstring("names 2 modes of 3"));
}
