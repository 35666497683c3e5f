// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <sporades/kernels/mttkrp_all_modes.hpp>
#include <support/mttkrp.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

template <class Exec, class Scalar>
Factors<Scalar, typename Exec::memory_space> products_for(Exec const& exec, Dims const& dims,
                                                          std::size_t R) {
  Factors<Scalar, typename Exec::memory_space> V;
  for (auto dim : dims) V.push_back(make_matrix<Scalar>(exec, "V", dim, R));
  return V;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("mttkrp of all modes equals its definition as factors are updated",
                        "[kernels][mttkrp_all_modes]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  int trees = 0;
  auto const R = static_cast<std::size_t>(GENERATE(9, 16));
  for (auto const& dims : {Dims{5}, Dims{7, 4}, Dims{20, 30, 1000}, Dims{40, 5, 6, 30},
                           Dims{70, 400, 3, 5, 9}, Dims{3, 4, 2, 3, 2, 4}})
    for (auto strategy : {MttkrpStrategy::automatic, MttkrpStrategy::flycoo}) {
      auto const X = random_coo<Scalar, std::uint32_t>(exec, dims, 4000, 3);
      MttkrpAllModesOptions const options{{strategy, 9}, true};  // more columns work, too
      auto plan = make_mttkrp_all_modes_plan(exec, X, options);
      trees += !plan.fused.empty();
      auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
      auto const A = random_factor_list<Exec, Scalar>(exec, dims, R, true);
      auto const V = products_for<Exec, Scalar>(exec, dims, R);
      INFO(to_string(dims) << ", " << to_string(strategy));
      int modes = 0;
      auto const on_host_now = [&] {
        Factors<Scalar, Kokkos::HostSpace> list;
        for (auto const& a : A) list.push_back(matrix_on_host(a));
        return list;
      };
      for (int sweep = 0; sweep < 2; ++sweep)
        mttkrp_all_modes(exec, plan, A, V, [&](int n) {
          exec.fence();
          CHECK(n == modes % X.order());
          CHECK(wrong_entries<Scalar>(host, on_host_now(), n, R, matrix_on_host(V[n])) == 0);
          Kokkos::deep_copy(
              exec, A[n],
              random_matrix<Scalar>(exec, dims[n], R, 900 + static_cast<unsigned>(modes)));
          exec.fence();
          ++modes;
        });
      CHECK(modes == 2 * X.order());
      for (auto const& a : A)  // all of them, which the plan is told
        Kokkos::deep_copy(exec, a, random_matrix<Scalar>(exec, a.extent(0), R, 7));
      factors_changed(plan);
      mttkrp_all_modes(exec, plan, A, V);
      exec.fence();
      for (int n = 0; n < X.order(); ++n)
        CHECK(wrong_entries<Scalar>(host, on_host_now(), n, R, matrix_on_host(V[n])) == 0);
    }
  CHECK(trees > 1);
}

TEST_CASE("mttkrp of all modes without a dimension tree has the bits of single products",
          "[kernels][mttkrp_all_modes]") {
  using Exec = Kokkos::DefaultExecutionSpace;
  Exec const exec{};
  Dims const dims{40, 5, 6, 30};
  auto const X = random_coo<double, std::uint32_t>(exec, dims, 5000, 3);
  auto const A = random_factor_list<Exec, double>(exec, dims, 16, true);
  auto const V = products_for<Exec, double>(exec, dims, 16);
  for (auto strategy :
       {MttkrpStrategy::automatic, MttkrpStrategy::fibers, MttkrpStrategy::flycoo}) {
    MttkrpOptions const options{strategy, 16};
    auto plan = make_mttkrp_plan(exec, X, options);
    auto all = make_mttkrp_all_modes_plan(exec, X, {options, false});
    CHECK(all.fused.empty());
    mttkrp_all_modes(exec, all, A, V);
    for (int n = 0; n < 4; ++n) {
      auto const W = make_matrix<double>(exec, "W", dims[n], 16);
      mttkrp(exec, plan, A, n, W);
      CHECK(hash_bits(V[n]) == hash_bits(W));
    }
  }
}

TEST_CASE("mttkrp of all modes labels its kernels and runs them on its instance",
          "[kernels][mttkrp_all_modes]") {
  using Exec = Kokkos::DefaultExecutionSpace;
  auto const exec = new_instance<Exec>();
  Dims const dims{40, 5, 6, 30};
  auto const X = random_coo<double, std::uint32_t>(exec, dims, 5000, 3);
  auto const A = random_factor_list<Exec, double>(exec, dims, 8, true);
  auto const V = products_for<Exec, double>(exec, dims, 8);
  check_launches(exec, [&] {
    auto plan = make_mttkrp_all_modes_plan(exec, X, {{MttkrpStrategy::automatic, 8}});
    CHECK(!plan.fused.empty());
    mttkrp_all_modes(exec, plan, A, V);
  });
}

TEST_CASE("mttkrp of all modes refuses what does not fit", "[kernels][mttkrp_all_modes]") {
  using Exec = Kokkos::DefaultExecutionSpace;
  using Catch::Matchers::ContainsSubstring;
  Exec const exec{};
  Dims const dims{40, 5, 6, 30};
  auto X = random_coo<double, std::uint32_t>(exec, dims, 5000, 3);
  auto plan = make_mttkrp_all_modes_plan(exec, X, {{MttkrpStrategy::automatic, 8}});
  auto const A = random_factor_list<Exec, double>(exec, dims, 8, true);
  auto V = products_for<Exec, double>(exec, dims, 8);
  V.pop_back();
  CHECK_THROWS_WITH(mttkrp_all_modes(exec, plan, A, V),
                    ContainsSubstring("4 factors and 3 products for order 4"));
  CHECK_THROWS_WITH(mttkrp(exec, plan, A, 4, V[0]),
                    ContainsSubstring("mode 4 of a tensor of order 4"));
  CHECK_THROWS_WITH(mttkrp(exec, plan, V, 0, V[0]), ContainsSubstring("3 factors for order 4"));
  CHECK_THROWS_WITH(make_mttkrp_all_modes_plan(exec, X, {{MttkrpStrategy::automatic, 0}}),
                    ContainsSubstring("rank 0"));
  X.dims[0] = 3;
  CHECK_THROWS_WITH(make_mttkrp_all_modes_plan(exec, X, {{MttkrpStrategy::automatic, 8}}),
                    ContainsSubstring("is past the mode's length 3"));
}
