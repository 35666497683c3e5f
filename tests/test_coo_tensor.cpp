// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <functional>
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/algorithms/detail/hosvd.hpp>
#include <sporades/algorithms/tucker.hpp>
#include <sporades/kernels/log_likelihood.hpp>
#include <sporades/kernels/mttkrp.hpp>
#include <sporades/kernels/phi.hpp>
#include <sporades/kernels/spttm.hpp>
#include <sporades/kernels/ttm_chain.hpp>
#include <support/backends.hpp>
#include <support/files.hpp>
#include <support/tools.hpp>

using namespace sporades;
using namespace sporades::test;

TEMPLATE_LIST_TEST_CASE("coordinates past their mode are found in one pass", "[coo]", IndexCases) {
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  auto const message = [&](CooTensor<Scalar, Index> const& X) {
    auto const there = copy_to(exec, X);
    return message_of([&] { check_coordinates(exec, there, "here"); });
  };
  auto const X =
      make_coo<Scalar, Index>({4, 4, 4}, {{{3, 3, 3}, 1}, {{2, 2, 3}, 1}, {{0, 0, 0}, 1}});
  CHECK(message(X) == "no error");
  auto const there = copy_to(exec, X);
  check_launches(exec, [&] { check_coordinates(exec, there, "here"); });
  X.coordinates(0, 2) = 9;
  X.coordinates(2, 1) = 4;
  CHECK(message(X) == "here: nonzero 1, mode 2: the index 4 (from 0) is past the mode's length 4");
  X.coordinates(2, 1) = 0;
  CHECK(message(X) == "here: nonzero 2, mode 0: the index 9 (from 0) is past the mode's length 4");
  CHECK(message(make_coo<Scalar, Index>({4, 0}, {{{1, 0}, 1}})) ==
        "here: nonzero 0, mode 1: the index 0 (from 0) is past the mode's length 0");
  CHECK(message(make_coo<Scalar, Index>({4, 0}, {})) == "no error");
  auto few = make_coo<Scalar, Index>({4, 4}, {{{1, 0}, 1}});
  few.dims.push_back(4);
  CHECK(message_of([&] { check_coordinates(Kokkos::DefaultHostExecutionSpace(), few, "here"); }) ==
        "here: coordinates are 2 x 1, expected 3 x 1");
}

TEST_CASE("plans and problems refuse coordinates past their mode", "[coo][bad_input]") {
  using Space = Kokkos::DefaultExecutionSpace;
  Space const exec{};
  auto const X = copy_to(exec, make_coo<double>({4, 4, 4}, {{{0, 1, 2}, 1}, {{2, 2, 5}, 1}}));
  KruskalTensor<double, typename Space::memory_space> model;
  model.weights = decltype(model.weights)("weights", 2);
  for (int n = 0; n < 3; ++n)
    model.factors.push_back(make_matrix<double>(exec, "factor", 4, std::size_t{2}));
  CpAlsOptions als;
  als.init = CpAlsInit::random;
  als.rank = 2;
  CpAprOptions apr;
  apr.rank = 2;
  TuckerOptions tucker;
  tucker.ranks = {2, 2, 2};
  PhiOptions stored, atomic;
  stored.pi = Pi::stored;
  atomic.strategy = PhiStrategy::atomic;
  std::vector<std::pair<std::string, std::function<void()>>> const calls = {
      {"make_mttkrp_plan", [&] { make_mttkrp_plan(exec, X); }},
      {"make_mttkrp_plan", [&] { make_phi_plan(exec, X); }},
      {"make_phi_plan", [&] { make_phi_plan(exec, X, stored); }},
      {"make_phi_plan", [&] { make_phi_plan(exec, X, atomic); }},
      {"make_spttm_plan", [&] { make_spttm_plan(exec, X); }},
      {"make_ttm_chain_plan",
       [&] {
         make_ttm_chain_plan(exec, X, {2, 2, 2});
       }},
      {"log_likelihood", [&] { log_likelihood(exec, X, model); }},
      {"leading_singular_vectors",
       [&] { sporades::detail::leading_singular_vectors({}, exec, X, 1, 2); }},
      {"cp_als", [&] { make_cp_als_problem(exec, X, als); }},
      {"cp_apr", [&] { make_cp_apr_problem(exec, X, apr); }},
      {"tucker", [&] { make_tucker_problem(exec, X, tucker); }},
  };
  for (auto const& [name, call] : calls)
    CHECK(message_of(call) ==
          name + ": nonzero 1, mode 2: the index 5 (from 0) is past the mode's length 4");
}

TEST_CASE("a part of a larger View is copied to the device as it is", "[coo]") {
  auto const all = make_coo<double>({3, 4}, {{{2, 3}, 9}, {{0, 1}, 2}, {{1, 3}, 3}, {{1, 1}, 8}});
  auto const places = std::make_pair(1, 3);
  CooTensor<double> const part{all.dims,
                               Kokkos::subview(all.coordinates, Kokkos::ALL, places),
                               Kokkos::subview(all.values, places),
                               {}};
  auto const there = copy_to(Kokkos::DefaultExecutionSpace(), part);
  CHECK(entries(copy_to(Kokkos::DefaultHostExecutionSpace(), there)) ==
        Entries<double>{{{0, 1}, 2}, {{1, 3}, 3}});
}
