// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <random>
#include <sporades/algorithms/definitions.hpp>
#include <sporades/algorithms/detail/gcp/line_search.hpp>
#include <sporades/algorithms/gcp.hpp>
#include <sporades/formats/files/tns_file.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/gcp.hpp>
#include <support/loss_gradient.hpp>
#include <support/same_bits.hpp>
#include <support/tensors.hpp>
#include <support/tools.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using sporades::AbsentEntries;
using sporades::Dims;
using sporades::Error;
using sporades::gcp;
using sporades::gcp_start;
using sporades::GcpMethod;
using sporades::GcpOptions;
using sporades::make_gcp_problem;
using sporades::Position;
using sporades::test::all_cells;
using sporades::test::new_instance;
using sporades::test::planted;
using sporades::test::tensor_for;

TEMPLATE_LIST_TEST_CASE("GCP runs several starts, stops for observers and labels its launches",
                        "[algorithms][gcp]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  sporades::PoissonLoss const loss;
  auto const X = tensor_for<Scalar, std::uint32_t>(exec, {9, 8, 7}, 100, loss);
  GcpOptions options;
  options.rank = 3;
  options.loss = loss;
  options.starts = 3;
  options.iterations = 20;
  auto const result = gcp(exec, X, options);
  REQUIRE(result.start_scores.size() == 3);
  for (double const score : result.start_scores) CHECK(result.value() >= score);
  CHECK(result.value() == result.start_scores[static_cast<std::size_t>(result.start)]);

  options.starts = 1;
  int calls = 0;
  auto const stopped = gcp(exec, X, options, [&](sporades::IterationInfo const& now) {
    CHECK(now.iteration == ++calls);
    return calls < 4;
  });
  CHECK(stopped.is_stopped());
  CHECK(stopped.iterations() == 4);

  options.iterations = 3;
  options.time_kernels = true;
  for (auto const method : {GcpMethod::automatic, GcpMethod::lbfgsb}) {
    options.method = method;
    sporades::test::check_launches(exec, [&] {
      auto const timed = gcp(exec, X, options);
      CHECK(timed.kernels.at("loss_gradient").calls >= 4);
    });
  }
}

/// log cosh(x - m), which is infinite where |m| > 9.
struct WalledLogCosh : sporades::LossDefaults {
  KOKKOS_FUNCTION double value(double x, double m) const {
    double const size = x > m ? x - m : m - x;
    if (m > 9 || m < -9) return 1 / (size - size);
    return size + sporades::detail::math::log1p(sporades::detail::math::exp(-2 * size));
  }
  KOKKOS_FUNCTION double derivative(double x, double m) const {
    double const e = sporades::detail::math::exp(x > m ? 2 * (m - x) : 2 * (x - m));
    return (x > m ? -1 : 1) * (1 - e) / (1 + e);
  }
  double lower_bound() const { return bound; }
  double bound = -std::numeric_limits<double>::infinity();
};

TEMPLATE_LIST_TEST_CASE("GCP takes a loss of a user's own, and shortens steps where it is infinite",
                        "[algorithms][gcp]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = copy_to(exec, all_cells<Scalar>(planted({7, 6, 5}, 2), 0.1));
  sporades::GcpOptionsOf<WalledLogCosh> options;
  options.rank = 2;
  options.absent = AbsentEntries::missing;
  options.iterations = 50;
  auto problem = make_gcp_problem(exec, X, options);
  auto state = gcp_start(exec, X, options);
  auto const result = gcp(exec, problem, options, state);
  CHECK(result.loss() < 0.8 * state.start_loss);  // some |x| are above 9
  double const of_model =
      sporades::loss_value(exec, X, result.model, options.loss, AbsentEntries::missing);
  CHECK(of_model == Approx(result.loss()).epsilon(sizeof(Scalar) == 4 ? 1e-4 : 1e-9));

  auto const far = sporades::test::model_for<Scalar>(exec, X.dims, 2, true, true, true);
  Kokkos::deep_copy(far.weights, Scalar(1e3));
  auto lost = gcp_start(exec, X.dims, options, far);
  CHECK_THROWS_AS(gcp(exec, problem, options, lost), sporades::RunError);
  options.loss.bound = 0.5;
  CHECK_THROWS_WITH(gcp(exec, X, options),
                    ContainsSubstring("the loss is defined for m >= 0.5, and a bound can be 0"));
}

TEMPLATE_LIST_TEST_CASE("values of equal coordinates are added or are observations",
                        "[algorithms][gcp]", sporades::test::DoubleCases) {
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  Kokkos::View<int**, Kokkos::HostSpace> const at("at", 2, 3);
  Kokkos::View<double*, Kokkos::HostSpace> const values("values", 3);
  at(0, 2) = at(1, 2) = 1;
  values(0) = 1, values(1) = 3, values(2) = 2;
  auto const X = sporades::make_coo(exec, {2, 2}, at, values);
  GcpOptions options;
  options.rank = 2;
  options.tolerance = 1e-14;
  auto const cell = [&](auto const& model) {
    Kokkos::View<double*, typename TestType::MemorySpace> const m("m", 3);
    model_values(exec, X, model, m);
    return sporades::detail::entry_at(exec, m, 0);
  };
  CHECK(cell(gcp(exec, X, options).model) == Approx(4).epsilon(1e-4));
  options.absent = AbsentEntries::missing;
  CHECK(cell(gcp(exec, X, options).model) == Approx(2).epsilon(1e-4));
}

TEMPLATE_LIST_TEST_CASE("given starts of GCP keep their model", "[algorithms][gcp]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  bool const is_bounded = GENERATE(true, false);
  sporades::GaussianLoss const loss;
  auto const X = tensor_for<Scalar, std::uint32_t>(exec, {6, 5, 4}, 60, loss);
  auto const start =
      sporades::test::model_for<Scalar>(exec, X.dims, 3, is_bounded, false, GENERATE(true, false));
  GcpOptions options;
  options.rank = 3;
  options.non_negative = is_bounded;
  options.init = sporades::GcpInit::given;
  auto problem = make_gcp_problem(exec, X, options);
  auto state = gcp_start(exec, X.dims, options, start);
  auto const result = gcp(exec, problem, options, state);
  double const before = sporades::loss_value(exec, X, start, loss, AbsentEntries::zero);
  CHECK(state.start_loss == Approx(before).epsilon(sizeof(Scalar) == 4 ? 1e-4 : 1e-9));
  CHECK(result.loss() < before);
}

TEMPLATE_LIST_TEST_CASE("GCP tells the length of the gradient by its variables",
                        "[algorithms][gcp]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  sporades::PoissonLoss const loss;
  auto const X = tensor_for<Scalar, std::uint32_t>(exec, {6, 5, 4}, 60, loss);
  GcpOptions options;
  options.rank = 3;
  options.iterations = 4;
  options.loss = loss;
  options.method = GENERATE(GcpMethod::lbfgs_square_roots, GcpMethod::lbfgsb);
  auto problem = make_gcp_problem(exec, X, options);
  auto state = gcp_start(exec, X, options);
  gcp(exec, problem, options, state);
  auto model = sporades::test::model_for<Scalar>(exec, X.dims, 3, true, true, true);
  auto const V = sporades::test::room_for(model);
  double squares = 0;
  std::vector<decltype(sporades::test::matrix_on_host(V[0]))> variables;
  for (std::size_t n = 0; n < 3; ++n) {
    auto const B = sporades::test::matrix_on_host(state.factors[n]);
    auto const A = Kokkos::create_mirror(B);
    for (std::size_t i = 0; i < B.extent(0); ++i)
      for (std::size_t r = 0; r < 3; ++r)
        A(i, r) = state.square_roots ? B(i, r) * B(i, r) : B(i, r);
    model.factors[n] = sporades::copy_matrix(exec, A);
    variables.push_back(B);
  }
  loss_gradient(exec, problem.plan.exact, model, loss, AbsentEntries::zero, V);
  for (std::size_t n = 0; n < 3; ++n) {
    auto const by_factor = sporades::test::matrix_on_host(V[n]);
    for (std::size_t i = 0; i < by_factor.extent(0); ++i)
      for (std::size_t r = 0; r < 3; ++r) {
        double const b = static_cast<double>(variables[n](i, r));
        double const g = static_cast<double>(by_factor(i, r));
        bool const is_held = !state.square_roots && b == 0 && g >= 0;
        squares += is_held ? 0 : std::pow(state.square_roots ? 2 * b * g : g, 2);
      }
  }
  CHECK(state.history.back().gradient ==
        Approx(std::sqrt(squares)).epsilon(sizeof(Scalar) == 4 ? 1e-2 : 1e-9));
}

TEST_CASE("bad input of GCP is refused", "[algorithms][gcp]") {
  using Space = Kokkos::DefaultExecutionSpace;
  Space const exec;
  sporades::PoissonLoss const loss;
  auto const X = tensor_for<double, std::uint32_t>(exec, {6, 5, 4}, 30, loss);
  GcpOptions good;
  good.rank = 2;
  auto const refuses = [&](std::string const& sentence, auto const& change) {
    auto options = good;
    change(options);
    CHECK_THROWS_WITH(gcp(exec, X, options), ContainsSubstring(sentence));
    CHECK_THROWS_AS(gcp(exec, X, options), Error);
  };
  refuses("gcp: rank 0 is not in 1 to 65535", [](auto& o) { o.rank = 0; });
  refuses("gcp: 0 iterations", [](auto& o) { o.iterations = 0; });
  refuses("gcp: tolerance -1", [](auto& o) { o.tolerance = -1; });
  refuses("gcp: a history of -1 steps", [](auto& o) { o.tuning.history = -1; });
  refuses("gcp: nothing is streamed", [](auto& o) { o.streaming.always = true; });
  refuses("pass a KruskalTensor to gcp_start", [](auto& o) { o.init = sporades::GcpInit::given; });
  refuses("gcp: gaussian takes models of any sign, which square roots cannot have",
          [](auto& o) { o.method = GcpMethod::lbfgs_square_roots; });
  refuses("bernoulli-odds takes 0, 1 and numbers between them", [](auto& o) {
    o.loss = sporades::BernoulliOddsLoss{};
    o.absent = AbsentEntries::missing;
  });
  auto options = good;
  auto const none = tensor_for<double, std::uint32_t>(exec, {6, 5, 4}, 0, loss);
  CHECK_THROWS_WITH(gcp(exec, none, options), "gcp: X (6 x 5 x 4) has no entries: nothing to fit");
  options.absent = AbsentEntries::missing;
  CHECK_THROWS_WITH(gcp(exec, none, options), "gcp: X (6 x 5 x 4) has no entries: all are missing");

  auto problem = make_gcp_problem(exec, X, good);
  options = good;
  options.rank = 3;
  auto state = gcp_start(exec, X, options);
  CHECK_THROWS_WITH(gcp(exec, problem, options, state),
                    ContainsSubstring("the problem was made for rank 2"));
  options = good;
  state = gcp_start(exec, X, options);
  gcp(exec, problem, options, state);
  options.loss = loss;
  CHECK_THROWS_WITH(gcp(exec, problem, options, state),
                    "gcp: the run began with factors as variables, and the options ask for square "
                    "roots");
  auto start = sporades::test::model_for<double>(exec, X.dims, 2, false, true, true);
  CHECK_THROWS_WITH(gcp_start(exec, X.dims, options, start), ContainsSubstring("negative entries"));
  Kokkos::deep_copy(start.factors[1], std::numeric_limits<double>::quiet_NaN());
  CHECK_THROWS_WITH(gcp_start(exec, X.dims, good, start), ContainsSubstring("holds NaN"));
  start = sporades::test::model_for<double>(exec, {6, 5, 5}, 2, false, true, true);
  CHECK_THROWS_AS(gcp_start(exec, X.dims, good, start), Error);
}

TEST_CASE("a search along a line meets its conditions", "[algorithms][gcp]") {
  using sporades::detail::search_line;
  using sporades::detail::SearchPoint;
  double const wall = GENERATE(1e300, 7.0, 0.6);  // the function is not finite from there on
  double const beyond =
      GENERATE(std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN());
  auto const f = [&](double t) {
    if (t >= wall) return SearchPoint{t, beyond, beyond};
    return SearchPoint{t, (t - 0.5) * (t - 0.5) * (t - 0.5) * (t - 0.5), 4 * std::pow(t - 0.5, 3)};
  };
  for (double const first : {1e-9, 1e-3, 0.3, 1.0, 20.0, 1e8}) {
    int calls = 0;
    double last = 0;
    auto const found = search_line(f(0), first, true, 40, [&](double t) {
      ++calls;
      return f(last = t);
    });
    CAPTURE(wall, first, calls, found.step);
    CHECK(found.step > 0);
    CHECK(found.step == last);
    CHECK(found.value <= f(0).value + 1e-4 * found.step * f(0).slope);
    CHECK(std::abs(found.slope) <= 0.9 * std::abs(f(0).slope));
    auto const armijo = search_line(f(0), first, false, 40, f);
    CHECK(armijo.value <= f(0).value + 1e-4 * armijo.step * f(0).slope);
    CHECK(armijo.step > 0);
  }
  auto const rises = [](double t) { return SearchPoint{t, t, 1}; };
  CHECK(search_line({0, 0, -1}, 1, true, 10, rises).step == 0);
}

}  // namespace
