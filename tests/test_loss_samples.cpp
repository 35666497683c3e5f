// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <set>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/loss_samples.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using sporades::AbsentEntries;
using sporades::Dims;
using sporades::estimated_gradient;
using sporades::estimated_loss;
using sporades::LossSampleOptions;
using sporades::LossSampler;
using sporades::Position;
using sporades::test::all_samplers;
using sporades::test::check_unbiased;
using sporades::test::loss_definition;
using sporades::test::model_for;
using sporades::test::new_instance;
using sporades::test::room_for;
using sporades::test::tensor_for;

/// -infinity at m = 0.
struct SteepLoss : sporades::LossDefaults {
  KOKKOS_FUNCTION double value(double x, double m) const { return x + std::log(m > 0 ? 1 : 0 * m); }
  KOKKOS_FUNCTION double derivative(double, double) const { return 0; }
};

/// f(0, m) = 3 + 2 m, which the loss does not say.
struct LinearLoss : sporades::LossDefaults {
  KOKKOS_FUNCTION double value(double x, double m) const { return 3 + 2 * m + x * m * m; }
  KOKKOS_FUNCTION double derivative(double x, double m) const { return 2 + 2 * x * m; }
};

/// By the model, and by the baselines where they are wanted.
template <class Scalar, class Exec, class Loss>
void check_samplers(Exec const& exec, Loss const& loss, bool baselines) {
  if (!loss.allows(0)) return;
  auto const X = tensor_for<Scalar, std::uint32_t>(exec, {5, 3, 6}, 30, loss);
  auto const model = model_for<Scalar>(exec, X.dims, 2, loss.lower_bound() == 0, false, true);
  for (auto const& options : all_samplers(40, X.nnz())) {
    // Of a pole at m = 0 the exact part has ten digits more than the loss.
    bool const has_pole = loss.derivative(0.0, 0.0) > 1e4;
    if (options.sampler == LossSampler::model ? !has_pole : baselines)
      check_unbiased(exec, X, model, loss, options, 100);
  }
}

TEST_CASE("estimates are unbiased, and their variance is known", "[kernels][loss]") {
  auto const exec = new_instance<Kokkos::DefaultExecutionSpace>();
  for (auto const& any : sporades::test::all_losses())
    std::visit([&](auto const& loss) { check_samplers<double>(exec, loss, false); }, any);
  check_samplers<double>(exec, sporades::GammaLoss{}, true);
  check_samplers<double>(exec, sporades::HuberLoss(0.25), true);
  // Models and losses are computed in double, of factors in float, too.
  check_samplers<float>(exec, sporades::BernoulliOddsLoss{}, true);
}

TEMPLATE_LIST_TEST_CASE("estimates of other shapes are unbiased", "[kernels][loss]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = std::conditional_t<std::is_same_v<Scalar, float>, std::uint64_t, std::uint32_t>;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  sporades::BernoulliLogitLoss const loss;
  for (auto const& dims : {Dims{70}, Dims{5, 90}, Dims{9, 1, 8}, Dims{3, 4, 2, 5},
                           Dims{3, 2, 3, 2, 4}, Dims{2, 3, 2, 3, 2, 3}, Dims{1, 1}})
    for (Position const nnz : {0, 20}) {
      auto const X =
          tensor_for<Scalar, Index>(exec, dims, nnz == 0 || dims[0] == 1 ? 0 : nnz, loss);
      auto const model = model_for<Scalar>(exec, dims, nnz == 0 ? 1 : 3, false, nnz == 0, nnz > 0);
      for (auto const& options : all_samplers(20, X.nnz()))
        check_unbiased(exec, X, model, loss, options, 80);
    }
  auto const small = tensor_for<Scalar, Index>(exec, {3, 4}, 5, loss);
  for (Position const samples : {2, 3})
    check_unbiased(exec, small, model_for<Scalar>(exec, small.dims, 2, false, false, false), loss,
                   all_samplers(samples, 0)[0], 300);
  Dims most_modes(sporades::max_order, 1);
  std::fill_n(most_modes.begin() + 3, 7, 2);
  auto const X = tensor_for<Scalar, Index>(exec, most_modes, 30, loss);
  check_unbiased(exec, X, model_for<Scalar>(exec, most_modes, 2, false, false, true), loss,
                 all_samplers(200, X.nnz())[0], 50);
}

TEMPLATE_LIST_TEST_CASE("nothing is drawn of what is exact", "[kernels][loss]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const check = [&](auto const& loss) {
    auto const X = tensor_for<Scalar, std::uint32_t>(exec, {30, 20, 10}, 400, loss);
    auto const model = model_for<Scalar>(exec, X.dims, 3, true, false, true);
    auto plan = make_loss_samples_plan(exec, X);
    auto exact = make_loss_gradient_plan(exec, X);
    auto const V = room_for(model), W = room_for(model);
    auto const estimate = estimated_gradient(exec, plan, model, loss, 3, V);
    CHECK(estimate.value == loss_gradient(exec, exact, model, loss, AbsentEntries::zero, W));
    CHECK(estimate.standard_error == 0);
    exec.fence();
    for (std::size_t n = 0; n < V.size(); ++n)
      CHECK(sporades::test::hash_bits(V[n]) == sporades::test::hash_bits(W[n]));
  };
  check(sporades::GaussianLoss{});
  check(sporades::PoissonLoss{});
  check(sporades::BetaLoss(3));

  LinearLoss const linear;  // equals its tangent
  auto const X = tensor_for<Scalar, std::uint32_t>(exec, {30, 20, 10}, 400, linear);
  auto const model = model_for<Scalar>(exec, X.dims, 3, false, false, true);
  auto const expected = loss_definition(X, model, linear, AbsentEntries::zero);
  LossSampleOptions options;
  options.samples = 100;
  auto plan = make_loss_samples_plan(exec, X, options);
  auto const V = room_for(model);
  auto const estimate = estimated_gradient(exec, plan, model, linear, 0, V);
  exec.fence();
  CHECK(std::abs(estimate.value - expected.value) <= 1e-12 * expected.magnitude);
  CHECK(estimate.standard_error <= 1e-12 * expected.magnitude);
  CHECK(sporades::test::wrong_entries(expected, X.nnz(), V) == 0);
}

/// Bernoulli odds, of zeros their tangent at m = 0.
struct TangentOdds : sporades::BernoulliOddsLoss {
  KOKKOS_FUNCTION double value(double x, double m) const {
    return x > 0 ? sporades::BernoulliOddsLoss::value(x, m) : m;
  }
  KOKKOS_FUNCTION double derivative(double x, double m) const {
    return x > 0 ? sporades::BernoulliOddsLoss::derivative(x, m) : 1 - 1e-10;
  }
  std::optional<sporades::LossPolynomial> at_zero() const {
    return sporades::LossPolynomial{0, 1, 0, 0};
  }
};

TEMPLATE_LIST_TEST_CASE("slopes of samples are what their gradient has beside the exact part",
                        "[kernels][loss]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  sporades::BernoulliOddsLoss const loss;
  for (auto const& dims : {Dims{40}, Dims{9, 8}, Dims{9, 8, 7}, Dims{3, 4, 2, 5}}) {
    auto const X = tensor_for<Scalar, std::uint32_t>(exec, dims, 30, loss);
    Kokkos::deep_copy(X.values, Scalar(1));
    auto const model = model_for<Scalar>(exec, dims, 3, true, false, true);
    LossSampleOptions options;
    options.samples = 500;
    auto plan = make_loss_samples_plan(exec, X, options);
    auto exact = make_loss_gradient_plan(exec, X);
    auto const V = room_for(model), W = room_for(model);
    estimated_gradient(exec, plan, model, loss, 5, V);
    loss_gradient(exec, exact, model, TangentOdds{}, AbsentEntries::zero, W);
    auto const T =
        copy_to(Kokkos::DefaultHostExecutionSpace{}, sampled_slopes(exec, plan, model, loss, 5));
    exec.fence();
    REQUIRE(T.nnz() > 0);
    REQUIRE(T.nnz() < 500);
    auto const plain = copy_to(Kokkos::DefaultHostExecutionSpace{}, model);
    std::set<std::vector<std::uint64_t>> cells;
    std::vector<std::vector<double>> sums;
    for (auto const dim : dims) sums.emplace_back(dim * 3);
    for (Position p = 0; p < T.nnz(); ++p) {
      auto const i = sporades::test::coordinates_at(T, p);
      CHECK(cells.insert(i).second);
      CHECK(T.values(p) <= 0);
      for (std::size_t n = 0; n < dims.size(); ++n)
        for (std::size_t r = 0; r < 3; ++r) {
          double product = static_cast<double>(T.values(p)) * static_cast<double>(plain.weights(r));
          for (std::size_t k = 0; k < dims.size(); ++k)
            if (k != n) product *= static_cast<double>(plain.factors[k](i[k], r));
          sums[n][i[n] * 3 + r] += product;
        }
    }
    for (std::size_t n = 0; n < dims.size(); ++n) {
      auto const all = sporades::test::matrix_on_host(V[n]);
      auto const part = sporades::test::matrix_on_host(W[n]);
      for (std::size_t i = 0; i < dims[n]; ++i)
        for (std::size_t r = 0; r < 3; ++r)
          CHECK(static_cast<double>(all(i, r)) - static_cast<double>(part(i, r)) ==
                Approx(sums[n][i * 3 + r])
                    .margin((sizeof(Scalar) == 4 ? 1e-5 : 1e-12) * std::abs(all(i, r)) + 1e-9)
                    .epsilon(sizeof(Scalar) == 4 ? 1e-3 : 1e-8));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("tensors and models with nothing in them", "[kernels][loss]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  sporades::BernoulliLogitLoss const loss;
  auto const check = [&](auto const& X, auto const& model) {
    auto const expected = loss_definition(X, model, loss, AbsentEntries::zero);
    for (auto const& options : all_samplers(30, 1)) {
      CAPTURE(to_string(options.sampler), sporades::to_string(X.dims));
      auto plan = make_loss_samples_plan(exec, X, options);
      auto const V = room_for(model);
      auto const estimate = estimated_gradient(exec, plan, model, loss, 0, V);
      exec.fence();
      if (options.nonzeros > 0 && X.nnz() > 0) continue;
      if (options.sampler != LossSampler::uniform)
        CHECK(std::abs(estimate.value - expected.value) <= 1e-12 * (1 + expected.magnitude));
      CHECK(estimate.standard_error <= 1e-12 * (1 + expected.magnitude));
      CHECK(sporades::test::wrong_entries(expected, X.nnz(), V) == 0);
    }
  };
  auto const empty = tensor_for<Scalar, std::uint32_t>(exec, {4, 0, 3}, 0, loss);
  check(empty, model_for<Scalar>(exec, empty.dims, 2, false, true, true));
  auto const X = tensor_for<Scalar, std::uint32_t>(exec, {4, 5, 3}, 20, loss);
  check(X, model_for<Scalar>(exec, X.dims, 0, false, true, true));
  auto const zero = model_for<Scalar>(exec, X.dims, 2, false, true, true);
  Kokkos::deep_copy(zero.factors[1], 0);  // the gradient of mode 1 is sampled uniformly alone
  for (auto const sampler : {LossSampler::model}) {
    LossSampleOptions options;
    options.sampler = sampler;
    auto plan = make_loss_samples_plan(exec, X, options);
    auto const V = room_for(zero);
    auto const estimate = estimated_gradient(exec, plan, zero, loss, 0, V);
    auto const expected = loss_definition(X, zero, loss, AbsentEntries::zero);
    exec.fence();
    CHECK(std::abs(estimate.value - expected.value) <= 1e-12 * (1 + expected.magnitude));
    CHECK(estimate.standard_error == 0);
    CHECK(sporades::test::wrong_entries(expected, X.nnz(), V) == 0);
  }
}

TEMPLATE_LIST_TEST_CASE("estimates of models of extreme scales", "[kernels][loss]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  double const scale = GENERATE(1e-25, 1e-8, 1e8, 1e25);
  auto const scaled = [&](auto const& loss) {
    CAPTURE(loss.name(), scale);
    auto const X = tensor_for<Scalar, std::uint32_t>(exec, {6, 7, 5}, 60, loss);
    auto const model = model_for<Scalar>(exec, X.dims, 3, loss.lower_bound() == 0, true, true);
    auto const host = Kokkos::create_mirror_view(model.weights);
    for (std::size_t r = 0; r < host.extent(0); ++r) host(r) = static_cast<Scalar>(scale);
    Kokkos::deep_copy(model.weights, host);
    auto const exact = loss_definition(X, model, loss, AbsentEntries::zero);
    for (auto const& options : all_samplers(500, X.nnz())) {
      CAPTURE(to_string(options.sampler));
      auto plan = make_loss_samples_plan(exec, X, options);
      auto const V = room_for(model);
      auto const estimate = estimated_gradient(exec, plan, model, loss, 1, V);
      exec.fence();
      CHECK(std::abs(estimate.value - exact.value) <=
            6 * estimate.standard_error + 1e-12 * (exact.magnitude + 1000 * scale));
      double norm = 0, error = 0;
      for (std::size_t n = 0; n < V.size(); ++n) {
        auto const gradient = sporades::test::matrix_on_host(V[n]);
        for (std::size_t i = 0; i < gradient.extent(0); ++i)
          for (std::size_t r = 0; r < gradient.extent(1); ++r) {
            std::size_t const e = i * gradient.extent(1) + r;
            error += std::pow(static_cast<double>(gradient(i, r)) - exact.gradient[n][e], 2);
            norm += std::pow(exact.magnitudes[n][e], 2);
          }
      }
      // Near 0 the tangent is all of a loss, but not of huber, whose tangent is 0. Far from 0 it is
      // no help: the mass is far above the number of samples.
      bool const by_model = options.sampler == LossSampler::model;
      bool const is_exact =
          by_model && options.nonzeros == 0 && scale < 1e-20 && loss.derivative(0.0, 0.0) != 0;
      double const unit = 10 * double{std::numeric_limits<Scalar>::epsilon()};
      CHECK(error <= norm * (is_exact ? unit * unit : by_model && scale > 1 ? 1e60 : 100));
    }
  };
  scaled(sporades::BernoulliLogitLoss{});
  scaled(sporades::BernoulliOddsLoss{});
  scaled(sporades::HuberLoss(0.25));
}

TEMPLATE_LIST_TEST_CASE("estimates have the same bits on any number of threads",
                        "[kernels][loss][threads]", sporades::test::AllCases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  sporades::BernoulliOddsLoss const loss;
  auto const X = tensor_for<Scalar, std::uint32_t>(exec, {300, 200, 100}, 30000, loss);
  auto const model = model_for<Scalar>(exec, X.dims, 9, true, false, true);
  for (auto options : all_samplers(20000, X.nnz())) {
    if (options.nonzeros > 0) options.nonzeros = 5000;
    auto const name = std::string(to_string(options.sampler)) + " " +
                      std::to_string(options.nonzeros) + " " + Exec::name() + " bytes " +
                      std::to_string(sizeof(Scalar));
    auto plan = make_loss_samples_plan(exec, X, options);
    for (int repeat = 0; repeat < 2; ++repeat) {
      auto const V = room_for(model);
      estimated_gradient(exec, plan, model, loss, 8, V);  // another step leaves nothing
      auto const loss_alone = estimated_loss(exec, plan, model, loss, 7);
      auto const estimate = estimated_gradient(exec, plan, model, loss, 7, V);
      CHECK(estimate.value == loss_alone.value);
      CHECK(estimate.standard_error == loss_alone.standard_error);
      exec.fence();
      sporades::test::check_same_bits("estimated_loss " + name,
                                      sporades::test::hash_bytes(&estimate, sizeof estimate));
      for (std::size_t n = 0; n < V.size(); ++n)
        sporades::test::check_same_bits("estimated_gradient " + name + " " + std::to_string(n),
                                        sporades::test::hash_bits(V[n]));
    }
  }
}

TEST_CASE("estimates depend on seed and step, and run on their instance", "[kernels][loss]") {
  auto const exec = new_instance<Kokkos::DefaultExecutionSpace>();
  sporades::BernoulliOddsLoss const loss;
  auto const X = tensor_for<double, std::uint32_t>(exec, {30, 20, 10}, 2500, loss);
  auto const model = model_for<double>(exec, X.dims, 4, true, false, true);
  auto const V = room_for(model);
  for (auto options : all_samplers(3000, X.nnz())) {
    auto plan = make_loss_samples_plan(exec, X, options);
    double const first = estimated_loss(exec, plan, model, loss, 0).value;
    CHECK(estimated_loss(exec, plan, model, loss, 0).value == first);
    CHECK(estimated_loss(exec, plan, model, loss, 1).value != first);
    auto const recording = sporades::test::check_launches(
        exec, [&] { estimated_gradient(exec, plan, model, loss, 1, V); });
    CHECK(recording.outside.empty());
    auto const again = sporades::test::check_launches(
        exec, [&] { estimated_gradient(exec, plan, model, loss, 2, V); });
    for (auto const& label : again.allocations) CHECK_THAT(label, ContainsSubstring("sort"));
    CHECK(plan.storage_bytes() >= X.storage_bytes() + 3000 * (3 * 4 + 4 * 8));
    options.seed = 6;
    auto other = make_loss_samples_plan(exec, X, options);
    CHECK(estimated_loss(exec, other, model, loss, 0).value != first);
  }
}

TEMPLATE_LIST_TEST_CASE("estimates refuse bad input", "[kernels][loss]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  sporades::BernoulliOddsLoss const loss;
  auto const X = tensor_for<Scalar, std::uint32_t>(exec, {30, 20, 10}, 400, loss);
  auto const model = model_for<Scalar>(exec, X.dims, 3, true, true, true);
  auto const refused = [&](auto const& tensor, LossSampler sampler, Position samples,
                           Position nonzeros, char const* message) {
    LossSampleOptions options;
    options.sampler = sampler;
    options.samples = samples;
    options.nonzeros = nonzeros;
    CHECK_THROWS_WITH(make_loss_samples_plan(exec, tensor, options), ContainsSubstring(message));
  };
  refused(X, LossSampler::model, 1, 0, "make_loss_samples_plan: 1 samples are fewer than the 2");
  refused(X, LossSampler::model, 9, 1, "1 nonzero is fewer than the 2 that a standard error needs");
  refused(X, LossSampler::uniform, 9, 7, "the sampler uniform draws no nonzeros apart");
  refused(X, static_cast<LossSampler>(9), 9, 0, "sampler 9 is none");
  auto const dense = tensor_for<Scalar, std::uint32_t>(exec, {3, 3}, 30, loss);
  REQUIRE(dense.nnz() > 4);
  refused(dense, LossSampler::stratified, 9, 0, "of 9 cells are nonzeros, more than half");

  auto plan = make_loss_samples_plan(exec, X);
  auto const V = room_for(model);
  CHECK_THROWS_WITH(estimated_loss(exec, plan, model, sporades::ZeroTruncatedPoissonLoss{}, 0),
                    ContainsSubstring("estimated_loss: zero-truncated-poisson takes finite numbers "
                                      ">= 1, so that absent entries cannot be zeros"));
  auto const other = model_for<Scalar>(exec, {30, 20, 11}, 3, true, true, true);
  CHECK_THROWS_WITH(draw_loss_samples(exec, plan, other, 0),
                    ContainsSubstring("draw_loss_samples: one tensor is 30 x 20 x 10"));
  CHECK_THROWS_WITH(estimated_loss(exec, plan, other, loss, 0),
                    ContainsSubstring("estimated_loss: one tensor is 30 x 20 x 10"));
  CHECK_THROWS_WITH(estimated_gradient(exec, plan, model, loss, 0, {V[0], V[1]}),
                    ContainsSubstring("estimated_gradient: V has 2 matrices"));
  CHECK_THROWS_WITH(estimated_loss(exec, plan, model, SteepLoss{}, 0),
                    ContainsSubstring("estimated_loss: the loss of x = 0 has no tangent at m = 0"));

  auto const bad = sporades::test::copy_of(exec, X);
  auto const values = Kokkos::create_mirror_view(bad.values);
  Kokkos::deep_copy(values, bad.values);
  values(7) = 2;
  Kokkos::deep_copy(bad.values, values);
  for (auto options : all_samplers(30000, X.nnz())) {
    if (options.nonzeros > 0) options.nonzeros = 10000;
    auto bad_plan = make_loss_samples_plan(exec, bad, options);
    auto const untouched = sporades::test::hash_bits(V[1]);
    CHECK_THROWS_WITH(estimated_gradient(exec, bad_plan, model, loss, 0, V),
                      ContainsSubstring("estimated_gradient: nonzero 7, of indices") &&
                          ContainsSubstring("is 2, and bernoulli-odds takes 0, 1 and numbers"));
    CHECK(sporades::test::hash_bits(V[1]) == untouched);
  }
  auto past = X;
  past.dims[0] = 29;
  CHECK_THROWS_WITH(make_loss_samples_plan(exec, past),
                    ContainsSubstring("make_loss_samples_plan: nonzero"));
}

}  // namespace
