// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/detail/cp_apr/cp_apr_method.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/cp_apr.hpp>
#include <support/files.hpp>

namespace {

using sporades::cp_apr;
using sporades::cp_apr_start;
using sporades::CpAprIteration;
using sporades::Dims;
using sporades::PhiStrategy;
using sporades::Pi;
using sporades::StopReason;
using sporades::test::apr_options;
using sporades::test::host_ktensor;
using sporades::test::make_coo;
using sporades::test::matrix_on_host;
using sporades::test::new_instance;
using sporades::test::random_counts;

std::vector<Dims> const small_dims{{7},          {5, 6},          {4, 1, 5},         {6, 5, 4},
                                   {3, 4, 2, 5}, {3, 2, 3, 2, 4}, {2, 3, 2, 3, 2, 3}};

template <class Scalar, class Memory>
double largest_difference(sporades::test::DenseCounts const& dense,
                          sporades::CpAprState<Scalar, Memory> const& state) {
  double worst = 0, scale = 0;
  for (double w : dense.weights) scale = std::max(scale, w);
  for (std::size_t r = 0; r < dense.rank(); ++r)
    worst = std::max(worst, std::abs(state.weights[r] - dense.weights[r]) / scale);
  for (int n = 0; n < state.order(); ++n) {
    auto const A = matrix_on_host(state.factors[n]);
    for (std::size_t i = 0; i < A.extent(0); ++i)
      for (std::size_t r = 0; r < dense.rank(); ++r)
        worst = std::max(worst, std::abs(double(A(i, r)) - dense.factors[n][i * dense.rank() + r]));
  }
  return worst;
}

TEMPLATE_LIST_TEST_CASE("iterations of CP-APR equal their definition", "[algorithms][cp_apr]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  constexpr bool is_float = std::is_same_v<Scalar, float>;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = GENERATE(from_range(small_dims));
  auto const rank = GENERATE(1, 3, 5);
  auto const strategy = GENERATE(PhiStrategy::automatic, PhiStrategy::atomic);
  auto const pi = GENERATE(Pi::on_the_fly, Pi::stored);
  CAPTURE(sporades::to_string(dims), rank, to_string(strategy), to_string(pi));
  auto const X = random_counts<Scalar>(exec, dims, 60);
  auto options = apr_options(rank, 3, 1e-3);
  options.inner_iterations = 4;
  options.strategy = strategy;
  options.pi = pi;
  auto dense = sporades::test::to_dense_counts(X);
  dense.least = sporades::detail::least_entry<Scalar>(dims.size());
  auto state = cp_apr_start<Scalar>(exec, dims, options);
  set_model(dense, state.weights, state.factors);
  auto problem = make_cp_apr_problem(exec, X, options);
  double const exact = is_float ? 2e-4 : 1e-12;
  int seen = 0;
  cp_apr(exec, problem, options, state, [&](auto const& now) {
    dense.iterate_counts(options);
    ++seen;
    CHECK(now.iteration == seen);
    CHECK(largest_difference(dense, state) < exact);
    auto const& last = state.history.back();
    if (!is_float) CHECK(last.inner_iterations == dense.inner_iterations);
    CHECK(std::abs(last.kkt_violation - dense.violation) < 100 * exact * (1 + dense.violation));
    double const value = dense.log_likelihood();
    CHECK(std::abs(last.log_likelihood - value) < exact * (1 + std::abs(value)));
    return true;
  });
  CHECK(seen >= 1);
}

TEMPLATE_LIST_TEST_CASE("the model's mass is that of the counts, and weights descend",
                        "[algorithms][cp_apr]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = random_counts<Scalar>(exec, {20, 15, 10}, 600);
  auto options = apr_options(4, 5);
  options.inner_iterations = 1;
  double total = 0;
  auto const values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, X.values);
  for (std::size_t p = 0; p < X.nnz(); ++p) total += values(p);
  double const exact = std::is_same_v<Scalar, float> ? 1e-5 : 1e-13;
  auto problem = make_cp_apr_problem(exec, X, options);
  auto state = cp_apr_start<Scalar>(exec, X.dims, options);
  auto const result = cp_apr(exec, problem, options, state, [&](auto const&) {
    double mass = 0;
    for (double weight : state.weights) mass += weight;
    CHECK(mass == Approx(total).epsilon(exact));
    for (auto const& factor : state.factors) {
      auto const A = matrix_on_host(factor);
      for (int r = 0; r < 4; ++r) {
        double sum = 0;
        for (std::size_t i = 0; i < A.extent(0); ++i) {
          CHECK(A(i, r) >= 0);
          sum += A(i, r);
        }
        CHECK(sum == Approx(1).epsilon(exact));
      }
    }
    CHECK(state.history.back().inner_iterations == 3);
    return true;
  });
  auto const weights =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, result.model.weights);
  for (int r = 1; r < 4; ++r) CHECK(weights(r - 1) >= weights(r));
  auto dense = sporades::test::to_dense_counts(X);
  set_model(dense, result.model);
  CHECK(dense.log_likelihood() == Approx(result.log_likelihood()).epsilon(10 * exact));
}

/// Counts around the planted model 1000 a o b o c + 500 d o e o f of disjoint supports.
TEMPLATE_LIST_TEST_CASE("planted parts are found, their zeros included", "[algorithms][cp_apr]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = sporades::test::full_tensor<Scalar>(exec, {8, 6, 4}, [](auto const& i) {
    if (i[0] < 4 && i[1] < 3 && i[2] < 2) return 1000.0 * double(1 + i[0]) * double(1 + i[1]);
    if (i[0] >= 4 && i[1] >= 3 && i[2] >= 2) return 500.0 * double(i[0]) * double(1 + i[2]);
    return 0.0;
  });
  auto options = apr_options(2, 500, 1e-4);
  auto const result = cp_apr(exec, X, options);
  CHECK(result.converged);
  CHECK(result.stop == StopReason::converged);
  auto const weights =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, result.model.weights);
  CHECK(double(weights(0)) == Approx(500.0 * (4 + 5 + 6 + 7) * 3 * 7).epsilon(1e-4));
  CHECK(double(weights(1)) == Approx(1000.0 * 10 * 6 * 2).epsilon(1e-4));
  auto const A = matrix_on_host(result.model.factors[0]);
  for (int i = 0; i < 8; ++i) {
    CHECK(std::abs(double(A(i, 0)) - (i < 4 ? 0.0 : i / 22.0)) < 1e-4);
    CHECK(std::abs(double(A(i, 1)) - (i < 4 ? (1 + i) / 10.0 : 0.0)) < 1e-4);
  }
}

TEMPLATE_LIST_TEST_CASE("an inadmissible zero is lifted, an admissible one stays",
                        "[algorithms][cp_apr]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  // Component 1 would serve row 0, where it is 0 at the start; the model is not 0 anywhere.
  auto const X = sporades::test::full_tensor<Scalar>(exec, {3, 3}, [](auto const& i) {
    return i[0] == 0 && i[1] == 1 ? 90.0 : i[0] == i[1] ? 30.0 : 1.0;
  });
  auto const start =
      host_ktensor<Scalar>({1, 1}, {{{1, 0}, {1, 1}, {1, 0}}, {{2, 1}, {Scalar(0.1), 5}, {1, 1}}});
  auto options = apr_options(2, 1);
  auto problem = make_cp_apr_problem(exec, X, options);
  auto state = cp_apr_start(exec, X.dims, options, start);
  auto dense = sporades::test::to_dense_counts(X);
  set_model(dense, state.weights, state.factors);
  cp_apr(exec, problem, options, state);
  dense.iterate_counts(options);
  auto const before = matrix_on_host(state.factors[0]);
  CHECK(before(0, 1) == 0);  // multiplied by whatever it was
  CHECK(dense.phi[0][1] > 1);
  options.iterations = 2;
  cp_apr(exec, problem, options, state);
  dense.iterate_counts(options);
  auto const after = matrix_on_host(state.factors[0]);
  CHECK(after(0, 1) > 0.05);
  CHECK(largest_difference(dense, state) < (std::is_same_v<Scalar, float> ? 1e-4 : 1e-12));
}

TEMPLATE_LIST_TEST_CASE("counts whose model is 0 are reported and mended", "[algorithms][cp_apr]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  // Rows 2 of all modes are 0 in both components, so that no Phi ever sees the count there.
  auto const X =
      copy_to(exec, make_coo<Scalar>({3, 3, 3}, {{{0, 0, 0}, 9}, {{1, 1, 1}, 7}, {{2, 2, 2}, 4}}));
  std::vector<std::vector<Scalar>> const rows{{1, 0}, {0, 1}, {0, 0}};
  auto const start = host_ktensor<Scalar>({1, 1}, {rows, rows, rows});
  auto options = apr_options(2, 400, 1e-4);
  auto problem = make_cp_apr_problem(exec, X, options);
  auto state = cp_apr_start(exec, X.dims, options, start);
  auto const result = cp_apr(exec, problem, options, state);
  CHECK(result.converged);
  CHECK(result.history.back().zero_model_nonzeros == 0);
  CHECK(std::isfinite(result.log_likelihood()));
  auto dense = sporades::test::to_dense_counts(X);
  set_model(dense, result.model);
  CHECK(dense.model({2, 2, 2}) > 0.1);

  // A state whose model is 0 at a count is not converged, and the next iteration mends it.
  auto again = cp_apr_start(exec, X.dims, options, start);
  again.history.push_back(CpAprIteration{-infinity, 0, 3, 1, true, 0});
  auto const mended = cp_apr(exec, problem, options, again);
  CHECK(mended.history.size() > 1);
  CHECK(mended.history[0].log_likelihood == -infinity);
  CHECK(mended.history[1].zero_model_nonzeros == 0);
  CHECK(std::isfinite(mended.history[1].log_likelihood));
  CHECK(mended.converged);
}

TEMPLATE_LIST_TEST_CASE("a model that decays to 0 is reported and comes back",
                        "[algorithms][cp_apr]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  // With a large epsilon the small count's model decays in every update.
  auto const X = copy_to(exec, make_coo<Scalar>({2, 2}, {{{0, 0}, 1000000}, {{1, 1}, 30}}));
  auto options = apr_options(1, 60);
  options.epsilon = 1e3;
  options.inner_iterations = 2;
  options.kappa = 0.5;
  int zeros = 0;
  auto const result = cp_apr(exec, X, options);
  for (auto const& iteration : result.history) {
    zeros += iteration.zero_model_nonzeros > 0;
    CHECK((iteration.zero_model_nonzeros > 0) == std::isinf(iteration.log_likelihood));
  }
  CHECK(zeros > 0);
  CHECK(zeros < 60);
  auto const& all = result.history;
  std::size_t returns = 0;
  for (std::size_t k = 1; k < all.size(); ++k)
    returns += all[k - 1].zero_model_nonzeros > 0 && all[k].zero_model_nonzeros == 0;
  CHECK(returns > 0);
}

TEMPLATE_LIST_TEST_CASE("stored zeros and duplicates change nothing", "[algorithms][cp_apr]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const plain =
      copy_to(exec, make_coo<Scalar>({3, 2}, {{{0, 0}, 5}, {{1, 1}, 3}, {{2, 0}, 4}}));
  auto const other = copy_to(
      exec,
      make_coo<Scalar>({3, 2}, {{{2, 0}, 1}, {{0, 1}, 0}, {{0, 0}, 5}, {{1, 1}, 3}, {{2, 0}, 3}}));
  auto const options = apr_options(2, 10);
  auto const a = cp_apr(exec, plain, options), b = cp_apr(exec, other, options);
  CHECK(a.log_likelihood() == Approx(b.log_likelihood()).epsilon(1e-5));
  CHECK(b.history.back().zero_model_nonzeros == 0);
}

}  // namespace
