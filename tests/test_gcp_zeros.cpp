// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <random>
#include <sporades/algorithms/definitions.hpp>
#include <sporades/algorithms/gcp.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/gcp.hpp>
#include <support/loss_gradient.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>

// GCP where zeros have no closed form.

namespace {

using Catch::Matchers::ContainsSubstring;
using sporades::Dims;
using sporades::gcp;
using sporades::gcp_start;
using sporades::GcpMethod;
using sporades::GcpOptions;
using sporades::GcpZeros;
using sporades::make_gcp_problem;
using sporades::Position;
using sporades::test::new_instance;
using sporades::test::police_deaths;
using sporades::test::tensor_for;

/// Ones, or counts up to `most`: many in two blocks, and few elsewhere.
template <class Scalar, class ExecutionSpace>
auto two_blocks(ExecutionSpace const& exec, Dims const& dims, int most) {
  std::mt19937_64 engine(5);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<std::vector<std::uint32_t>> cells;
  std::vector<std::uint32_t> i(dims.size(), 0);
  for (bool is_done = false; !is_done;) {
    bool first = true, second = true;
    for (std::size_t n = 0; n < dims.size(); ++n) {
      first = first && i[n] < dims[n] / 3;
      second = second && i[n] >= dims[n] / 2;
    }
    if (unit(engine) < (first ? 0.9 : second ? 0.6 : 0.02)) cells.push_back(i);
    std::size_t n = 0;
    while (n < dims.size() && ++i[n] == dims[n]) i[n++] = 0;
    is_done = n == dims.size();
  }
  auto X = sporades::detail::allocate_coo<Scalar, std::uint32_t>(
      Kokkos::DefaultHostExecutionSpace{}, dims, cells.size());
  Kokkos::fence();
  for (Position p = 0; p < X.nnz(); ++p) {
    for (std::size_t n = 0; n < dims.size(); ++n)
      X.coordinates(static_cast<int>(n), p) = cells[p][n];
    X.values(p) = static_cast<Scalar>(1 + engine() % static_cast<std::uint64_t>(most));
  }
  return copy_to(exec, X);
}

GcpOptions options_for(char const* loss, GcpZeros zeros, GcpMethod method = GcpMethod::automatic) {
  GcpOptions options;
  options.rank = 2;
  options.loss = sporades::loss_from_name(loss);
  options.tuning.zeros = zeros;
  options.method = method;
  return options;
}

/// The loss of a model, cell by cell.
template <class ExecutionSpace, class Tensor, class Model>
double enumerated(ExecutionSpace const& exec, Tensor const& X, Model const& model,
                  GcpOptions const& options) {
  return std::visit(
      [&](auto const& loss) { return sporades::enumerated_loss(exec, X, model, loss); },
      options.loss);
}

TEMPLATE_LIST_TEST_CASE("GCP with samples ends near where all cells lead", "[algorithms][gcp]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  double const band = sizeof(Scalar) == 4 ? 1e-4 : 1e-9;
  for (auto const* const loss : {"bernoulli-odds", "bernoulli-logit", "negative-binomial:2"}) {
    auto const X = two_blocks<Scalar>(exec, {15, 12, 9}, loss[0] == 'n' ? 3 : 1);
    auto options = options_for(loss, GcpZeros::enumeration);
    auto const exact = gcp(exec, X, options);
    CAPTURE(loss, exact.loss());
    CHECK(exact.of_model.standard_error == 0);
    CHECK(enumerated(exec, X, exact.model, options) == Approx(exact.loss()).epsilon(band));
    for (auto const method : {GcpMethod::automatic, GcpMethod::adam}) {
      options = options_for(loss, GcpZeros::samples, method);
      options.iterations = 15;
      auto const result = gcp(exec, X, options);
      CAPTURE(to_string(method), result.iterations(), result.loss());
      // Few zeros of a logit are near its tangent at m = 0: its samples are noisy. (0 has 1123.)
      double const part = loss == std::string("bernoulli-logit") ? 0.15 : 0.02;
      CHECK(result.loss() <= (1 + part) * exact.loss());
      // Few cells: at the end all are computed.
      CHECK(result.of_model.standard_error == 0);
      CHECK(enumerated(exec, X, result.model, options) == Approx(result.loss()).epsilon(band));
      for (auto const& one : result.history) CHECK(one.error > 0);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("GCP chooses how it computes zeros, and says why", "[algorithms][gcp]",
                        sporades::test::DoubleCases) {
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const chosen = [&](char const* loss, Dims const& dims) {
    return make_gcp_problem(exec, two_blocks<double>(exec, dims, 1),
                            options_for(loss, GcpZeros::automatic));
  };
  CHECK(chosen("poisson", {15, 12, 9}).zeros == GcpZeros::closed_form);
  CHECK(chosen("bernoulli-odds", {15, 12, 9}).zeros == GcpZeros::enumeration);
  auto X = two_blocks<double>(exec, {15, 12, 9}, 1);
  X.dims = {2000, 1000, 1000};
  auto const problem =
      make_gcp_problem(exec, X, options_for("bernoulli-odds", GcpZeros::automatic));
  CHECK(problem.zeros == GcpZeros::samples);
  CHECK_THAT(problem.reason, ContainsSubstring("a gradient of all cells takes 6000000000 of them, "
                                               "more than 4"));
  // A gradient by all cells is the one of the closed form.
  auto options = options_for("gaussian", GcpZeros::closed_form);
  auto const Y = two_blocks<double>(exec, {15, 12, 9}, 3);
  double const closed = gcp(exec, Y, options).loss();
  for (auto const zeros : {GcpZeros::enumeration, GcpZeros::samples}) {
    options.tuning.zeros = zeros;
    if (zeros == GcpZeros::samples) options.method = GcpMethod::adam;
    CHECK(gcp(exec, Y, options).loss() == Approx(closed).epsilon(1e-3));
  }
}

TEST_CASE("the estimate of GCP's loss keeps within its error", "[algorithms][gcp]") {
  auto const exec = new_instance<Kokkos::DefaultExecutionSpace>();
  auto X = two_blocks<double>(exec, {15, 12, 9}, 1);
  X.dims = {800, 500, 300};  // more cells than are computed at the end
  auto options = options_for("bernoulli-odds", GcpZeros::automatic);
  options.iterations = 6;
  auto const result = gcp(exec, X, options);
  double const exact = enumerated(exec, X, result.model, options),
               error = result.of_model.standard_error;
  CAPTURE(exact, result.loss(), error);
  CHECK(error > 0);
  CHECK(error < 0.02 * exact);
  CHECK(std::abs(result.loss() - exact) < 5 * error);
}

TEMPLATE_LIST_TEST_CASE("a snapshot of GCP with samples continues bit for bit", "[algorithms][gcp]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = two_blocks<Scalar>(exec, {15, 12, 9}, 1);
  auto const zeros = GENERATE(GcpZeros::samples, GcpZeros::enumeration);
  auto const method = GENERATE(GcpMethod::automatic, GcpMethod::lbfgsb, GcpMethod::adam,
                               GcpMethod::adagrad, GcpMethod::sgd);
  auto options = options_for("bernoulli-odds", zeros, method);
  options.iterations = 7;
  options.tolerance = 0;
  options.tuning.epoch = 5;
  options.tuning.most_failures = 10;
  options.tuning.rate = 0.3;  // some are undone
  options.tuning.samples = 3000;
  if (method == GcpMethod::sgd && zeros == GcpZeros::samples) options.tuning.nonzeros = 50;
  CAPTURE(to_string(zeros), to_string(method));
  auto problem = make_gcp_problem(exec, X, options);
  auto state = gcp_start(exec, X, options);
  std::vector<sporades::Snapshot> saved{snapshot(exec, state)};
  auto const whole = gcp(exec, problem, options, state, [&](auto const&) {
    saved.push_back(snapshot(exec, state));
    return true;
  });
  for (auto const& from : saved) {
    auto again = sporades::restore<decltype(state)>(exec, from);
    auto other = make_gcp_problem(exec, X, options);
    auto const part = gcp(exec, other, options, again);
    CHECK(part.values == whole.values);
    CHECK(part.loss() == whole.loss());
    for (std::size_t n = 0; n < 3; ++n)
      CHECK(sporades::test::hash_bits(part.model.factors[n]) ==
            sporades::test::hash_bits(whole.model.factors[n]));
  }
}

TEMPLATE_LIST_TEST_CASE("GCP undoes an epoch whose loss rises, and keeps the best model",
                        "[algorithms][gcp]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = two_blocks<Scalar>(exec, {15, 12, 9}, 1);
  auto options = options_for("bernoulli-logit", GENERATE(GcpZeros::samples, GcpZeros::enumeration),
                             GENERATE(GcpMethod::adam, GcpMethod::adagrad, GcpMethod::sgd));
  CAPTURE(to_string(options.method), to_string(options.tuning.zeros));
  options.tuning.rate = 1e6;
  options.tuning.epoch = 10;
  options.tuning.most_failures = 2;
  auto problem = make_gcp_problem(exec, X, options);
  auto state = gcp_start(exec, X, options);
  auto const result = gcp(exec, problem, options, state);
  CHECK(result.iterations() == 3);
  CHECK(result.converged);
  CHECK(result.is_stuck);
  double rate = 10 * result.history[0].step;
  for (auto const& one : result.history) {
    CHECK(one.undone);
    CHECK(one.loss == state.start_loss);
    CHECK(one.step == Approx(0.1 * rate));  // variables are those of the start
    rate = one.step;
  }
  CHECK(result.loss() == Approx(state.start_loss).epsilon(0.05));  // of other samples

  options.tuning.most_failures = 20;  // until the rate is right
  options.iterations = 25;
  auto const later = gcp(exec, X, options);
  CHECK(later.history[2].undone);
  CHECK(later.value() > -state.start_loss);
  double last = std::numeric_limits<double>::infinity();
  for (auto const& one : later.history)
    if (one.error == 0) {
      CHECK(one.loss <= last);
      last = one.loss;
    }
}

TEST_CASE("steps along gradients move by what their formulas say", "[algorithms][gcp]") {
  using Space = Kokkos::DefaultHostExecutionSpace;
  Space const exec;
  using Vector = sporades::Vector<double, Kokkos::HostSpace>;
  Vector const g("g", 3), x("x", 3), first("first", 3), second("second", 3);
  sporades::detail::FlatOperations<Space, double> const op(exec, 3);
  double m[3] = {}, v[3] = {}, sum[3] = {}, adam[3] = {1, 2, 0.05}, adagrad[3] = {1, 2, 0.05};
  auto const method = GENERATE(GcpMethod::adam, GcpMethod::adagrad, GcpMethod::sgd);
  for (int i = 0; i < 3; ++i) x(i) = adam[i];
  double plain[3] = {1, 2, 0.05};
  for (int t = 1; t <= 4; ++t) {
    for (int i = 0; i < 3; ++i) {
      g(i) = i == 1 ? 0 : 1.5 * t * (i == 2 ? 1 : -1);
      m[i] = 0.9 * m[i] + 0.1 * g(i);
      v[i] = 0.999 * v[i] + 0.001 * g(i) * g(i);
      sum[i] += g(i) * g(i);
      if (i != 1) {
        adam[i] -=
            0.1 * (m[i] / (1 - std::pow(0.9, t))) / std::sqrt(v[i] / (1 - std::pow(0.999, t)));
        adagrad[i] -= 0.1 * g(i) / std::sqrt(sum[i]);
      }
      plain[i] -= 0.1 * g(i);
      for (auto* const one : {&adam[i], &adagrad[i], &plain[i]}) *one = std::max(*one, 0.0);
    }
    descend(op, method, 0.1, t - 1, true, g, x, first, second);
    exec.fence();
    for (int i = 0; i < 3; ++i)
      CHECK(x(i) == Approx(method == GcpMethod::adam      ? adam[i]
                           : method == GcpMethod::adagrad ? adagrad[i]
                                                          : plain[i]));
  }
}

TEST_CASE("bad input of GCP with zeros is refused", "[algorithms][gcp]") {
  Kokkos::DefaultExecutionSpace const exec;
  auto const X = two_blocks<double>(exec, {15, 12, 9}, 1);
  auto const good = options_for("bernoulli-odds", GcpZeros::samples);
  auto const refuses = [&](std::string const& sentence, auto const& change) {
    auto options = good;
    change(options);
    CHECK_THROWS_WITH(gcp(exec, X, options), ContainsSubstring(sentence));
    CHECK_THROWS_AS(gcp(exec, X, options), sporades::Error);
  };
  refuses("gcp: zeros have no closed form",
          [](auto& o) { o.tuning.zeros = GcpZeros::closed_form; });
  refuses("are missing, and zeros are asked for by `samples`",
          [](auto& o) { o.absent = sporades::AbsentEntries::missing; });
  refuses("L-BFGS with sampled zeros needs m >= 0", [](auto& o) {
    o.loss = sporades::BernoulliLogitLoss{};
    o.method = GcpMethod::lbfgsb;
  });
  refuses("gamma of x = 0 has a pole at m = 0", [](auto& o) { o.loss = sporades::GammaLoss{}; });
  refuses("so that absent entries cannot be zeros",
          [](auto& o) { o.loss = sporades::ZeroTruncatedPoissonLoss{}; });
  refuses("L-BFGS takes all nonzeros, and 9 are", [](auto& o) { o.tuning.nonzeros = 9; });
  refuses("9 nonzeros are to be drawn, and zeros are not", [](auto& o) {
    o.tuning.nonzeros = 9;
    o.tuning.zeros = GcpZeros::enumeration;
    o.method = GcpMethod::adam;
  });
  refuses("gcp: 1 sample is fewer than the 2", [](auto& o) { o.tuning.samples = 1; });
  refuses("gcp: an epoch of -1 steps", [](auto& o) { o.tuning.epoch = -1; });
  refuses("gcp: a rate of -1", [](auto& o) { o.tuning.rate = -1; });
  refuses("gcp: a decay of 1", [](auto& o) { o.tuning.decay = 1; });
  auto large = X;
  large.dims = {20000, 20000, 20000};
  CHECK_THROWS_WITH(gcp(exec, large, options_for("bernoulli-odds", GcpZeros::enumeration)),
                    ContainsSubstring("are 8000000000000 cells, more than"));

  auto problem = make_gcp_problem(exec, X, good);
  auto state = gcp_start(exec, X, good);
  auto other = good;
  other.tuning.zeros = GcpZeros::enumeration;
  CHECK_THROWS_WITH(gcp(exec, problem, other, state),
                    ContainsSubstring("was made for zeros by `samples`, and the options ask for"));
  other = good;
  other.tuning.samples = Position{1} << 17;
  CHECK_THROWS_WITH(gcp(exec, problem, other, state),
                    ContainsSubstring("was made for up to 65536 samples and 0 nonzeros"));
  other = good;
  other.iterations = 2;
  gcp(exec, problem, other, state);
  REQUIRE(state.steps.size() > 1);
  other.method = GcpMethod::adam;
  CHECK_THROWS_WITH(gcp(exec, problem, other, state), ContainsSubstring("the state is of L-BFGS"));
}

}  // namespace
