// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/detail/cp_als/cp_als_method.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/cp_als.hpp>
#include <support/tensors.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using sporades::cp_als;
using sporades::cp_als_start;
using sporades::CpAlsInit;
using sporades::Dims;
using sporades::StopReason;
using sporades::test::full_tensor;
using sporades::test::host_ktensor;
using sporades::test::matrix_on_host;
using sporades::test::new_instance;
using sporades::test::options_of;
using sporades::test::planted;
using sporades::test::set_model;
using sporades::test::to_dense;

std::vector<Dims> const small_dims{{7},          {5, 6},          {4, 1, 5},         {6, 5, 4},
                                   {3, 4, 2, 5}, {3, 2, 3, 2, 4}, {2, 3, 2, 3, 2, 3}};

TEMPLATE_LIST_TEST_CASE("iterations equal their definition", "[algorithms][cp_als]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = GENERATE(from_range(small_dims));
  auto const rank = GENERATE(1, 3, 5);
  auto const ridge = GENERATE(0.0, 0.3);
  auto const X = sporades::test::random_coo<Scalar, std::uint32_t>(exec, dims, 60);
  auto options = options_of(rank, 2);
  options.regularization = ridge;
  auto dense = to_dense(X);
  auto problem = make_cp_als_problem(exec, X, options);
  auto state = cp_als_start(exec, X, options);
  set_model(dense, state.weights, state.factors);
  int seen = 0;
  // Rank 5 of few rows is close to singular: the definition in double decides differently there.
  double const tolerance = std::is_same_v<Scalar, float> ? 3e-3 : 1e-7;
  auto const result = cp_als(exec, problem, options, state, [&](auto const& now) {
    dense.iterate(ridge);
    CHECK(now.iteration == ++seen);
    CHECK(state.iterations() == seen);
    CHECK(now.value == state.fits.back());
    CHECK(now.seconds == state.seconds.back());
    CHECK(std::abs(state.fits.back() - dense.fit()) < tolerance);
    return true;
  });
  CHECK(seen == 2);
  CHECK_FALSE(result.converged);
  CHECK(result.stop == StopReason::iterations);
  REQUIRE(result.values.size() == 2);
  // The model that comes back has that fit, too, however it was sorted.
  set_model(dense, result.model);
  CHECK(std::abs(result.fit() - dense.fit()) < tolerance);
}

TEMPLATE_LIST_TEST_CASE("a planted model is recovered", "[algorithms][cp_als]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  constexpr bool is_float = std::is_same_v<Scalar, float>;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const strategy = GENERATE(sporades::MttkrpStrategy::atomic, sporades::MttkrpStrategy::sorted,
                                 sporades::MttkrpStrategy::csf);
  auto const X = planted<Scalar>(exec, {9, 8, 7, 6}, 3);
  auto options = options_of(3, 500, is_float ? 1e-7 : 1e-12);
  options.strategy = strategy;
  auto const result = cp_als(exec, X, options);
  CHECK(result.fit() > (is_float ? 0.999 : 1 - 1e-6));
  auto const weights =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, result.model.weights);
  for (int r = 1; r < 3; ++r) CHECK(weights(r - 1) >= weights(r));
  // Each planted column is one of the model's, up to its sign.
  for (int n = 0; n < 4; ++n) {
    auto const A = matrix_on_host(result.model.factors[n]);
    for (int planted_column = 0; planted_column < 3; ++planted_column) {
      double best = 0;
      for (int r = 0; r < 3; ++r) {
        double dot = 0, length = 0;
        for (std::size_t i = 0; i < A.extent(0); ++i) {
          double const entry =
              sporades::detail::random_entry<double>(77, n, i, planted_column) - 0.5;
          dot += entry * static_cast<double>(A(i, r));
          length += entry * entry;
        }
        best = std::max(best, std::abs(dot) / std::sqrt(length));
      }
      CHECK(best > (is_float ? 0.999 : 1 - 1e-6));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("weights are sorted and signs fixed in pairs", "[algorithms][cp_als]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  // Tensor Toolbox: X = ktensor([1; 1], {[1 1; 1 -10], [1 1; 1 -10]}) has weights 101 and 2.
  auto const X = full_tensor<Scalar>(exec, {2, 2}, [](auto const& i) {
    return 1.0 + (i[0] ? -10.0 : 1.0) * (i[1] ? -10.0 : 1.0);
  });
  auto const start = host_ktensor<Scalar>({1, 1}, {{{1, 1}, {1, -10}}, {{1, 1}, {1, -10}}});
  auto const options = options_of(2, 50, 1e-9);
  auto problem = make_cp_als_problem(exec, X, options);
  auto state = cp_als_start(exec, X.dims, options, start);
  auto const result = cp_als(exec, problem, options, state);
  auto const weights =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, result.model.weights);
  CHECK(double(weights(0)) == Approx(101).epsilon(1e-4));
  CHECK(double(weights(1)) == Approx(2).epsilon(1e-3));
  for (int n = 0; n < 2; ++n) {
    auto const A = matrix_on_host(result.model.factors[n]);
    CHECK(double(A(0, 0)) == Approx(-0.0995).epsilon(1e-3));
    CHECK(double(A(1, 0)) == Approx(0.9950).epsilon(1e-3));
    CHECK(double(A(0, 1)) == Approx(0.7071).epsilon(1e-3));
    CHECK(double(A(1, 1)) == Approx(0.7071).epsilon(1e-3));
  }

  // Signs of three modes: pairs flip, an odd one stays in the last mode that had it.
  using State = sporades::CpAlsState<Scalar, typename TestType::MemorySpace>;
  State unsorted;
  for (auto const& rows : {std::vector<Scalar>{-1, -1, 1}, {-1, 1, 1}, {-1, -1, -1}}) {
    auto const one = host_ktensor<Scalar>({1, 1, 1}, {{rows}});
    unsorted.factors.push_back(sporades::copy_matrix(exec, one.factors[0]));
  }
  unsorted.weights = {1, 2, 3};
  auto const model = sporades::detail::model_of(exec, unsorted);
  std::vector<std::array<int, 3>> const signs{{1, 1, 1}, {1, 1, 1}, {-1, 1, -1}};
  for (int n = 0; n < 3; ++n) {
    auto const A = matrix_on_host(model.factors[n]);
    for (int r = 0; r < 3; ++r) CHECK(double(A(0, r)) == signs[n][r]);
  }
}

TEMPLATE_LIST_TEST_CASE("singular systems take the pseudo-inverse", "[algorithms][cp_als]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = planted<Scalar>(exec, {5, 4, 3}, 1);
  auto const options = options_of(2, 5);
  // The start's columns are the same twice, so that every system is all one number.
  auto const start = host_ktensor<Scalar>({1, 1}, {{{1, 1}, {1, 1}, {2, 2}, {1, 1}, {1, 1}},
                                                   {{1, 1}, {-1, -1}, {1, 1}, {1, 1}},
                                                   {{1, 1}, {1, 1}, {3, 3}}});
  auto problem = make_cp_als_problem(exec, X, options);
  auto state = cp_als_start(exec, X.dims, options, start);
  auto const result = cp_als(exec, problem, options, state);
  CHECK(result.singular_systems == 15);
  CHECK(result.fit() > 0.998);

  auto const more = cp_als(exec, X, options_of(9, 20));  // more columns than 3 x 4 rows allow
  CHECK(more.fit() > 0.998);
}

TEMPLATE_LIST_TEST_CASE("non-negative models are so, and their fit never falls",
                        "[algorithms][cp_als]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  constexpr bool is_float = std::is_same_v<Scalar, float>;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const is_signed = GENERATE(false, true);
  auto const init = GENERATE(CpAlsInit::random, CpAlsInit::hosvd);
  auto const X = planted<Scalar>(exec, {8, 7, 6}, 3, is_signed);
  auto options = options_of(4, 60);
  options.non_negative = true;
  options.init = init;
  double before = -1e30;
  auto const result = cp_als(exec, X, options, [&](auto const& now) {
    CHECK(now.value > before - (is_float ? 2e-4 : 1e-12));
    CHECK(now.change == (now.iteration == 1 ? HUGE_VAL : now.value - before));
    before = now.value;
    return true;
  });
  if (!is_signed) CHECK(result.fit() > 0.98);
  auto const weights =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, result.model.weights);
  for (int r = 0; r < 4; ++r) CHECK(weights(r) >= 0);
  for (auto const& factor : result.model.factors) {
    auto const A = matrix_on_host(factor);
    Scalar least = 0;
    for (std::size_t i = 0; i < A.extent(0); ++i)
      for (int r = 0; r < 4; ++r) least = std::min(least, A(i, r));
    CHECK(least == 0);
  }
  auto dense = to_dense(X);
  set_model(dense, result.model);
  CHECK(std::abs(dense.fit() - result.fit()) < (is_float ? 1e-3 : 1e-9));
  if (is_signed) {  // free signs fit better
    options.non_negative = false;
    CHECK(cp_als(exec, X, options).fit() > result.fit() + 0.01);
  }
}

TEMPLATE_LIST_TEST_CASE("the fit is right to 1e-5 where it is close to 1", "[algorithms][cp_als]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using sporades::MttkrpStrategy;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const strategy =
      GENERATE(MttkrpStrategy::automatic, MttkrpStrategy::atomic, MttkrpStrategy::permuted,
               MttkrpStrategy::sorted, MttkrpStrategy::csf, MttkrpStrategy::alto_atomic);
  auto const X = planted<Scalar>(exec, {9, 8, 7, 6}, 3);
  auto options = options_of(4, 60);
  options.strategy = strategy;
  options.non_negative = GENERATE(false, true);
  auto dense = to_dense(X);
  double worst = 0;
  auto problem = make_cp_als_problem(exec, X, options);
  auto state = cp_als_start(exec, X, options);
  auto const result = cp_als(exec, problem, options, state, [&](auto const&) {
    set_model(dense, state.weights, state.factors);
    worst = std::max(worst, std::abs(dense.fit() - state.fits.back()));
    return true;
  });
  if (!options.non_negative) CHECK(result.fit() > 0.98);
  CHECK(worst < 1e-5);
}

TEMPLATE_LIST_TEST_CASE("components of a non-negative model do not die", "[algorithms][cp_als]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto options = options_of(12, 200, 1e-6);
  options.non_negative = true;
  int dead = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    auto const X =
        sporades::test::random_coo<Scalar, std::uint32_t>(exec, {9, 8, 7}, 150, seed, 1.5);
    auto const values = Kokkos::create_mirror_view(X.values);
    Kokkos::deep_copy(values, X.values);
    for (std::size_t p = 0; p < X.nnz(); ++p) values(p) = std::abs(values(p));
    Kokkos::deep_copy(X.values, values);
    auto const result = cp_als(exec, X, options);
    dead += result.dead_components;
    auto const weights =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, result.model.weights);
    for (int r = 0; r < 12; ++r) CHECK((weights(r) == 0) == (r >= 12 - result.dead_components));
    for (std::size_t k = 1; k < result.values.size(); ++k)
      CHECK(result.values[k] > result.values[k - 1] - 1e-5);
  }
  CHECK(dead == 0);

  // Nothing non-negative fits a negative tensor.
  auto const X = full_tensor<Scalar>(exec, {4, 3, 2}, [](auto const&) { return -1.0; });
  auto const none = cp_als(exec, X, options);
  CHECK(none.dead_components == 12);
  CHECK(none.fit() == 0);
  CHECK(none.converged);
}

TEMPLATE_LIST_TEST_CASE("columns too short for their scalar are zeros, and no fit is NaN",
                        "[algorithms][cp_als]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  // A component that a non-negative model has no use for shrinks from update to update.
  auto const single = sporades::test::random_coo<Scalar, std::uint32_t>(exec, {22, 27, 13}, 1);
  Kokkos::deep_copy(exec, single.values, Scalar(2.5));
  auto options = options_of(5, 30);
  options.non_negative = true;
  options.tolerance = 0;
  for (std::uint64_t seed : {1, 2, 3, 943}) {
    options.seed = seed;
    CHECK(cp_als(exec, single, options).fit() > 0.999);
  }
  // Products of eleven entries of unit vectors leave the range of float.
  auto const X = sporades::test::random_coo<Scalar, std::uint32_t>(exec, Dims(12, 4), 300);
  options = options_of(4, 5);
  for (auto init : {CpAlsInit::hosvd, CpAlsInit::automatic}) {
    options.init = init;
    double const fit = cp_als(exec, X, options).fit();
    CHECK((fit >= 0 && fit < 1));
  }
}

TEMPLATE_LIST_TEST_CASE("the non-negative solver ends at the optimum of each row",
                        "[algorithms][cp_als]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const R = GENERATE(1, 3, 16, 17);
  std::size_t const rows = 50;
  auto const K = sporades::test::random_matrix<Scalar>(exec, 200, R, 5);
  auto const V = sporades::test::random_matrix<Scalar>(exec, rows, R, 6);
  auto const A = sporades::detail::random_factor<Scalar>(exec, "sporades::test::a", rows, R, 1, 0);
  auto const H = sporades::make_matrix<Scalar>(exec, "sporades::test::h", R, R);
  auto const gradient = sporades::make_matrix<Scalar>(exec, "sporades::test::g", rows, R);
  Kokkos::View<double*, Memory> const weights("sporades::test::weights", R);
  Kokkos::deep_copy(weights, 2.0);
  sporades::detail::Workspace<Memory> workspace;
  sporades::detail::transposed_product(exec, K, K, H, workspace);
  for (int repeat = 0; repeat < 20; ++repeat) {
    sporades::detail::solve_non_negative(exec, V, H, weights, A, gradient);
    Kokkos::deep_copy(exec, weights, 1.0);
  }
  exec.fence();
  auto const a = matrix_on_host(A), h = matrix_on_host(H), v = matrix_on_host(V);
  double worst = 0;  // of the Karush-Kuhn-Tucker conditions
  for (std::size_t i = 0; i < rows; ++i)
    for (int r = 0; r < R; ++r) {
      double slope = -double(v(i, r));
      for (int k = 0; k < R; ++k) slope += double(a(i, k)) * double(h(k, r));
      worst = std::max({worst, -double(a(i, r)), a(i, r) > 0 ? std::abs(slope) : -slope});
    }
  CHECK(worst < (std::is_same_v<Scalar, float> ? 1e-5 : 1e-9));
}

TEMPLATE_LIST_TEST_CASE("bad arguments are refused", "[algorithms][cp_als]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Limits = std::numeric_limits<Scalar>;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  Dims const dims{4, 3, 2};
  auto const X = planted<Scalar>(exec, dims, 2);
  auto const refuses = [&](auto const& change, std::string const& text) {
    auto options = options_of(2, 3);
    change(options);
    CHECK_THROWS_WITH(cp_als(exec, X, options), ContainsSubstring(text));
  };
  refuses([](auto& o) { o.rank = 0; }, "rank 0");
  refuses([](auto& o) { o.rank = -3; }, "rank -3");
  refuses([](auto& o) { o.rank = 65536; }, "rank 65536");
  refuses([](auto& o) { o.iterations = 0; }, "0 iterations");
  refuses([](auto& o) { o.tolerance = -1; }, "tolerance -1");
  refuses([](auto& o) { o.tolerance = std::nan(""); }, "tolerance");
  refuses([](auto& o) { o.regularization = -1; }, "regularization -1");
  refuses([](auto& o) { o.init = CpAlsInit::given; }, "no start was given");

  auto const options = options_of(2, 3);
  auto const refuses_value = [&](Scalar value, std::string const& text) {
    auto const Y = full_tensor<Scalar>(
        exec, dims, [&](auto const& i) { return i[0] == 1 && i[1] == 2 ? value : Scalar(1); });
    CHECK_THROWS_WITH(cp_als(exec, Y, options), ContainsSubstring(text));
  };
  refuses_value(Limits::quiet_NaN(), "value 10 of X");
  refuses_value(Limits::infinity(), "value 10 of X");
  auto const zero = full_tensor<Scalar>(exec, dims, [](auto const&) { return 0.0; });
  CHECK_THROWS_WITH(cp_als(exec, zero, options), ContainsSubstring("norm of X is 0"));
  auto const none = sporades::detail::allocate_coo<Scalar, std::uint32_t>(exec, dims, 0);
  CHECK_THROWS_WITH(cp_als(exec, none, options), ContainsSubstring("no nonzeros"));

  using Rows = std::vector<std::vector<std::vector<Scalar>>>;
  Rows const good{{{1, 2}, {3, 4}, {5, 6}, {7, 8}}, {{1, 0}, {0, 1}, {1, 1}}, {{1, 2}, {2, 1}}};
  auto const refuses_start = [&](auto const& change, std::string const& text,
                                 bool non_negative = false) {
    auto rows = good;
    std::vector<Scalar> weights{1, 1};
    change(rows, weights);
    auto with = options;
    with.non_negative = non_negative;
    CHECK_THROWS_WITH(cp_als_start(exec, dims, with, host_ktensor(weights, rows)),
                      ContainsSubstring(text));
  };
  CHECK_NOTHROW(cp_als_start(exec, dims, options, host_ktensor<Scalar>({1, 1}, good)));
  refuses_start([](auto& A, auto&) { A[1] = {{0, 0}, {0, 0}, {0, 0}}; }, "mode 1 is all zero");
  refuses_start([](auto& A, auto&) { A.pop_back(); }, "order 2");
  refuses_start([](auto& A, auto&) { A[2].push_back({1, 1}); }, "3 rows");
  refuses_start([](auto& A, auto&) { A[2][1][0] = Limits::quiet_NaN(); }, "mode 2 holds NaN");
  refuses_start(
      [](auto& A, auto& w) {
        w = {1};
        for (auto& F : A)
          for (auto& r : F) r = {1};
      },
      "rank 1");
  refuses_start([](auto&, auto& w) { w[1] = Limits::infinity(); }, "weight 1");
  refuses_start([](auto& A, auto&) { A[0][2][1] = -1; }, "mode 0 has negative", true);
  refuses_start([](auto&, auto& w) { w[0] = -1; }, "weight 0 is -1", true);
}

}  // namespace
