// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/kernels/update_values.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/same_bits.hpp>
#include <support/tensors.hpp>
#include <support/tools.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using sporades::Dims;
using sporades::MttkrpStrategy;
using sporades::Position;
using sporades::update_values;
using sporades::test::new_instance;
using sporades::test::random_coo;
using sporades::test::random_factor_list;

Dims any_dims() {
  return GENERATE(Dims{7}, Dims{5, 6}, Dims{30, 20, 10}, Dims{3, 4, 2, 5}, Dims{3, 2, 3, 2, 4},
                  Dims{2, 3, 2, 3, 2, 3});
}

/// X with other values: those of a tensor of another seed.
template <class ExecutionSpace, class Tensor>
Tensor with_values(ExecutionSpace const& exec, Tensor X, unsigned seed) {
  X.values =
      random_coo<typename Tensor::Scalar, typename Tensor::Index>(exec, X.dims, X.nnz(), seed)
          .values;
  return X;
}

/// Numbers of two Views that differ by more than the bound.
template <class First, class Second>
Position differences(First const& first, Second const& second, double bound) {
  auto const a = sporades::test::on_host(first), b = sporades::test::on_host(second);
  REQUIRE(a.size() == b.size());
  Position wrong = 0;
  if constexpr (int(First::rank) == 1) {
    for (std::size_t i = 0; i < a.extent(0); ++i)
      wrong += !(std::abs(double{a(i)} - double{b(i)}) <= bound);
  } else {
    for (std::size_t i = 0; i < a.extent(0); ++i)
      for (std::size_t r = 0; r < a.extent(1); ++r)
        wrong += !(std::abs(double{a(i, r)} - double{b(i, r)}) <= bound);
  }
  return wrong;
}

/// A matrix for products, without padding.
template <class Scalar, class Memory>
auto room(std::uint64_t rows, std::size_t R) {
  return sporades::Matrix<Scalar, Memory>("sporades::test::V", rows, R);
}

TEMPLATE_LIST_TEST_CASE("plans of MTTKRP take new values", "[kernels][update_values]",
                        sporades::test::IndexCases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = any_dims();
  auto const nnz = GENERATE(0, 1, 3000);
  int const N = static_cast<int>(dims.size());
  auto const X = random_coo<Scalar, typename TestType::Index>(exec, dims, nnz);
  auto const before = sporades::test::hash_bits(X.values);
  auto const A = random_factor_list<decltype(exec), Scalar>(exec, dims, 3, true);
  for (auto const& name : sporades::names_of<MttkrpStrategy>()) {
    CAPTURE(name);
    sporades::MttkrpOptions options;
    options.strategy = sporades::from_name<MttkrpStrategy>(name);
    options.rank = 3;
    bool const is_atomic = options.strategy == MttkrpStrategy::atomic ||
                           options.strategy == MttkrpStrategy::duplicated ||
                           options.strategy == MttkrpStrategy::alto_atomic ||
                           options.strategy == MttkrpStrategy::flycoo_blocks;
    double const bound = is_atomic ? 1e3 * double{std::numeric_limits<Scalar>::epsilon()} : 0;
    if (options.strategy == MttkrpStrategy::alto) options.strategy = MttkrpStrategy::automatic;
    options.updatable = true;
    auto plan = make_mttkrp_plan(exec, X, options);
    options.updatable = false;
    auto const check = [&](auto const& Y, int first, int end) {
      auto expected = make_mttkrp_plan(exec, Y, options);
      for (int n = first; n < end; ++n) {
        auto const V = room<Scalar, Memory>(dims[n], 3), W = room<Scalar, Memory>(dims[n], 3);
        mttkrp(exec, plan, A, n, V);
        mttkrp(exec, expected, A, n, W);
        exec.fence();
        CHECK(differences(V, W, bound) == 0);
      }
    };
    check(X, 0, N);
    for (unsigned const seed : {7u, 8u}) {  // the second update comes in the midst of the modes
      auto const Y = with_values(exec, X, seed);
      update_values(exec, plan, Y.values);
      check(Y, 0, seed == 7 ? 1 : N);
    }
  }
  CHECK(sporades::test::hash_bits(X.values) == before);
}

TEMPLATE_LIST_TEST_CASE("plans in other orders, with slices and rounded factors take new values",
                        "[kernels][update_values]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {300, 200, 100}, 20000);
  auto const A = random_factor_list<decltype(exec), Scalar>(exec, X.dims, 4, true);
  std::vector<sporades::MttkrpOptions> all(4);
  all[0].rows.order = sporades::RowOrder::morton;
  all[1].slices.count = 4;
  all[2].gather = sporades::GatherPrecision::bfloat16;
  all[3].strategy = MttkrpStrategy::sorted;
  for (auto& options : all) {
    options.rank = 4;
    options.updatable = true;
    // An X in order, whose Views a plan shares otherwise.
    auto const given = options.strategy == MttkrpStrategy::sorted ? sorted(exec, X, {0, 2, 1}) : X;
    auto plan = make_mttkrp_plan(exec, given, options);
    auto const Y = with_values(exec, given, 7);
    auto const before = sporades::test::hash_bits(given.values);
    update_values(exec, plan, Y.values);
    options.updatable = false;
    auto expected = make_mttkrp_plan(exec, Y, options);
    for (int n = 0; n < 3; ++n) {
      auto const V = room<Scalar, Memory>(X.dims[n], 4), W = room<Scalar, Memory>(X.dims[n], 4);
      mttkrp(exec, plan, A, n, V);
      mttkrp(exec, expected, A, n, W);
      exec.fence();
      CHECK(differences(V, W, 0) == 0);
    }
    CHECK(sporades::test::hash_bits(given.values) == before);
  }
}

TEMPLATE_LIST_TEST_CASE("a plan of all modes takes new values", "[kernels][update_values]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {200, 300, 4, 3}, 20000);
  auto const A = random_factor_list<decltype(exec), Scalar>(exec, X.dims, 8, true);
  sporades::MttkrpAllModesOptions options;
  options.products.rank = 8;
  options.products.updatable = true;
  auto plan = make_mttkrp_all_modes_plan(exec, X, options);
  options.products.updatable = false;
  sporades::Factors<Scalar, Memory> V, W;
  for (auto const dim : X.dims) {
    V.push_back(sporades::make_matrix<Scalar>(exec, "sporades::test::V", dim, 8));
    W.push_back(sporades::make_matrix<Scalar>(exec, "sporades::test::W", dim, 8));
  }
  for (unsigned const seed : {7u, 8u}) {
    auto const Y = with_values(exec, X, seed);
    auto expected = make_mttkrp_all_modes_plan(exec, Y, options);
    update_values(exec, plan, Y.values);
    mttkrp_all_modes(exec, plan, A, V);
    mttkrp_all_modes(exec, expected, A, W);
    exec.fence();
    for (std::size_t n = 0; n < 4; ++n)
      CHECK(differences(sporades::test::matrix_on_host(V[n]), sporades::test::matrix_on_host(W[n]),
                        0) == 0);
  }
}

TEMPLATE_LIST_TEST_CASE("products that fused modes share are of the new values",
                        "[kernels][update_values]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {200, 300, 4, 3}, 20000);
  auto const A = random_factor_list<decltype(exec), Scalar>(exec, X.dims, 8, true);
  sporades::MttkrpOptions options;
  options.strategy = MttkrpStrategy::sorted;
  options.rank = 8;
  options.updatable = true;
  auto plan = sporades::detail::make_dimension_tree({}, exec, X, {2, 3}, options);
  REQUIRE(plan.fused.size() == 2);
  options.updatable = false;
  for (unsigned const seed : {7u, 8u})  // no other mode comes between, which would forget T
    for (int const n : {2, 3}) {
      auto const Y = with_values(exec, X, seed + static_cast<unsigned>(n));
      update_values(exec, plan, Y.values);
      auto expected = sporades::detail::make_dimension_tree({}, exec, Y, {2, 3}, options);
      auto const V = sporades::make_matrix<Scalar>(exec, "sporades::test::V", X.dims[n], 8);
      auto const W = sporades::make_matrix<Scalar>(exec, "sporades::test::W", X.dims[n], 8);
      mttkrp(exec, plan, A, n, V);
      mttkrp(exec, expected, A, n, W);
      exec.fence();
      CHECK(differences(sporades::test::matrix_on_host(V), sporades::test::matrix_on_host(W), 0) ==
            0);
    }
}

TEMPLATE_LIST_TEST_CASE("plans of Phi take new values", "[kernels][update_values]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  using sporades::PhiStrategy;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const nnz = GENERATE(0, 20000);
  bool const is_stored = GENERATE(true, false);
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {30, 20, 10}, nnz);
  auto const A = sporades::random_factors<Scalar>(exec, X.dims, 3, 4);
  for (auto const& name : sporades::names_of<PhiStrategy>()) {
    CAPTURE(name, is_stored);
    sporades::PhiOptions options;
    options.strategy = sporades::from_name<PhiStrategy>(name);
    options.rank = 3;
    options.pi = is_stored ? sporades::Pi::stored : sporades::Pi::on_the_fly;
    bool const is_linear = name.find("alto") != std::string::npos;
    if (is_stored && is_linear) continue;
    bool const is_exact = name == "automatic" || name == "pull";
    options.updatable = true;
    auto plan = make_phi_plan(exec, X, options);
    auto const Y = with_values(exec, X, 7);
    update_values(exec, plan, Y.values);
    options.updatable = false;
    auto expected = make_phi_plan(exec, Y, options);
    for (int n = 0; n < 3; ++n) {
      auto const V = room<Scalar, Memory>(X.dims[n], 3), W = room<Scalar, Memory>(X.dims[n], 3);
      update_pi(exec, plan, A, n);
      update_pi(exec, expected, A, n);
      phi(exec, plan, A, A[n], n, V);
      phi(exec, expected, A, A[n], n, W);
      exec.fence();
      CHECK(differences(V, W,
                        is_exact ? 0 : 1e6 * double{std::numeric_limits<Scalar>::epsilon()}) == 0);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("plans of SpTTM and SpTV take new values", "[kernels][update_values]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = GENERATE(Dims{7}, Dims{5, 6}, Dims{30, 20, 10}, Dims{3, 4, 2, 5});
  auto const nnz = GENERATE(0, 3000);
  auto const X = random_coo<Scalar, std::uint32_t>(exec, dims, nnz);
  auto const Y = with_values(exec, X, 7);
  for (int n = 0; n < static_cast<int>(dims.size()); ++n) {
    auto const U = sporades::test::random_matrix<Scalar>(exec, dims[n], 5, 3);
    sporades::SpttmOptions options;
    options.rank = 5;
    options.updatable = true;
    auto plan = make_spttm_plan(exec, X, options);
    update_values(exec, plan, Y.values);
    options.updatable = false;
    auto expected = make_spttm_plan(exec, Y, options);
    auto const P = make_spttm_output(exec, plan, n, 5), Q = make_spttm_output(exec, expected, n, 5);
    spttm(exec, plan, U, n, P);
    spttm(exec, expected, U, n, Q);
    exec.fence();
    CHECK(differences(sporades::test::matrix_on_host(P.values),
                      sporades::test::matrix_on_host(Q.values), 0) == 0);

    auto const v = sporades::detail::to_view(exec, "v", std::vector<Scalar>(dims[n], Scalar(1.5)));
    for (auto const strategy :
         {sporades::SptvStrategy::hocoo, sporades::SptvStrategy::hocsr, sporades::SptvStrategy::cfb,
          sporades::SptvStrategy::hocfs, sporades::SptvStrategy::hocfs_blocks})
      for (auto const slices : {sporades::HocfsSlices::csr, sporades::HocfsSlices::ell}) {
        CAPTURE(n, to_string(strategy), static_cast<int>(slices));
        sporades::SptvOptions vector_options{strategy, slices, true};
        auto vectors = make_sptv_plan(exec, X, n, vector_options);
        update_values(exec, vectors, Y.values);
        vector_options.updatable = false;
        auto wanted = make_sptv_plan(exec, Y, n, vector_options);
        auto const p = make_sptv_output(exec, vectors), q = make_sptv_output(exec, wanted);
        sptv(exec, vectors, v, p);
        sptv(exec, wanted, v, q);
        exec.fence();
        CHECK(differences(p.values, q.values, 0) == 0);
      }
  }
}

TEMPLATE_LIST_TEST_CASE("plans of TTM chains take new values, and add those of equal coordinates",
                        "[kernels][update_values]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using sporades::TtmChainStrategy;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = GENERATE(Dims{7}, Dims{5, 6}, Dims{30, 20, 10}, Dims{3, 4, 2, 5});
  auto const nnz = GENERATE(0, 1, 3000);
  bool const repeats = GENERATE(true, false);
  auto X = random_coo<Scalar, std::uint32_t>(exec, dims, nnz);
  if (!repeats) X = sum_duplicates(exec, X).tensor;
  std::vector<int> ranks;
  sporades::Factors<Scalar, typename TestType::MemorySpace> A;
  for (std::size_t n = 0; n < dims.size(); ++n) {
    ranks.push_back(2 + static_cast<int>(n % 2));
    A.push_back(sporades::test::random_matrix<Scalar>(
        exec, dims[n], static_cast<std::size_t>(ranks[n]), 10 + static_cast<unsigned>(n)));
  }
  for (auto const strategy : {TtmChainStrategy::automatic, TtmChainStrategy::semi_sparse,
                              TtmChainStrategy::csf, TtmChainStrategy::fused}) {
    CAPTURE(to_string(strategy), repeats);
    sporades::TtmChainOptions options;
    options.strategy = strategy;
    options.updatable = true;
    auto plan = make_ttm_chain_plan(exec, X, ranks, options);
    options.updatable = false;
    for (unsigned const seed : {0u, 7u, 8u}) {
      auto const Y = seed == 0 ? X : with_values(exec, X, seed);
      if (seed > 0) update_values(exec, plan, Y.values);
      auto expected = make_ttm_chain_plan(exec, Y, ranks, options);
      for (int n = 0; n < static_cast<int>(dims.size()); ++n) {
        auto const P = ttm_chain(exec, plan, A, n), Q = ttm_chain(exec, expected, A, n);
        exec.fence();
        CHECK(differences(sporades::test::matrix_on_host(P.Y), sporades::test::matrix_on_host(Q.Y),
                          0) == 0);
      }
    }
  }
}

TEST_CASE("numbers of 32 and 64 bits tell the nonzeros, in float, too",
          "[kernels][update_values]") {
  Kokkos::DefaultExecutionSpace const exec{};
  using Memory = Kokkos::DefaultExecutionSpace::memory_space;
  auto const check = [&](auto scalar) {
    using Scalar = decltype(scalar);
    auto const numbered = sporades::detail::numbered_values<Scalar>(exec, 1000, "test");
    auto const given = sporades::test::random_coo<Scalar, std::uint32_t>(exec, {9}, 1000).values;
    for (Position const nnz : {Position{1000}, Position{1} << 33}) {
      sporades::Vector<Scalar, Memory> const result("result", 1000);
      sporades::detail::ArrayValues<Scalar, Memory> const from{numbered}, to{result};
      auto const numbers = sporades::detail::numbers_in(exec, from, 1000, nnz);
      CHECK(numbers.bytes() == (nnz == 1000 ? 4000 : 8000));
      sporades::detail::put_values(exec, to, 1000, numbers, given);
      exec.fence();
      CHECK(differences(result, given, 0) == 0);
    }
  };
  check(float{});
  check(double{});
  CHECK_THROWS_WITH(
      sporades::detail::numbered_values<float>(exec, Position{1} << 32, "test"),
      ContainsSubstring("test: 4294967296 nonzeros are too many for updates of values of 32 bits"));
}

TEST_CASE("what cannot be updated says so", "[kernels][update_values]") {
  Kokkos::DefaultExecutionSpace const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, {30, 20, 10}, 500);
  auto const few = sporades::detail::to_view(exec, "few", std::vector<double>(7, 1.0));
  auto plan = make_mttkrp_plan(exec, X);
  CHECK_THROWS_WITH(update_values(exec, plan, X.values),
                    ContainsSubstring("make it with the option `updatable`"));
  auto chains = make_ttm_chain_plan(exec, X, {2, 2, 2});
  CHECK_THROWS_WITH(update_values(exec, chains, X.values), ContainsSubstring("updatable"));
  auto vectors = make_sptv_plan(exec, make_cfb(exec, X, 1));
  CHECK_THROWS_WITH(update_values(exec, vectors, X.values), ContainsSubstring("updatable"));
  sporades::MttkrpOptions options;
  options.updatable = true;
  auto updatable = make_mttkrp_plan(exec, X, options);
  CHECK_THROWS_WITH(update_values(exec, updatable, few),
                    ContainsSubstring("7 values for a plan of 500 nonzeros"));
  options.streaming.always = true;
  CHECK_THROWS_WITH(make_mttkrp_plan(exec, X, options), ContainsSubstring("nothing is streamed"));
  sporades::SpttmOptions spttm_options;
  spttm_options.updatable = true;
  spttm_options.streaming.always = true;
  CHECK_THROWS_WITH(make_spttm_plan(exec, X, spttm_options),
                    ContainsSubstring("nothing is streamed"));
  sporades::TtmChainOptions chain_options;
  chain_options.updatable = true;
  chain_options.streaming.always = true;
  CHECK_THROWS_WITH(make_ttm_chain_plan(exec, X, {2, 2, 2}, chain_options),
                    ContainsSubstring("nothing is streamed"));
}

TEST_CASE("new values are gathered on the plan's instance, without allocations",
          "[kernels][update_values]") {
  auto const exec = new_instance<Kokkos::DefaultExecutionSpace>();
  auto const X = random_coo<double, std::uint32_t>(exec, {30, 20, 10}, 500);
  for (auto const strategy : {MttkrpStrategy::sorted, MttkrpStrategy::flycoo}) {
    sporades::MttkrpOptions options;
    options.strategy = strategy;
    options.updatable = true;
    auto plan = make_mttkrp_plan(exec, X, options);
    auto const recording =
        sporades::test::check_launches(exec, [&] { update_values(exec, plan, X.values); });
    CHECK(recording.allocations.empty());
  }
}

}  // namespace
