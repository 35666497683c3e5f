// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/kernels/log_likelihood.hpp>
#include <sporades/kernels/loss_gradient.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/loss_gradient.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using sporades::AbsentEntries;
using sporades::Dims;
using sporades::loss_gradient;
using sporades::loss_value;
using sporades::Position;
using sporades::test::loss_definition;
using sporades::test::model_for;
using sporades::test::new_instance;
using sporades::test::room_for;
using sporades::test::tensor_for;
using sporades::test::wrong_entries;

/// f(0, m) of a user's loss: a polynomial of degree 3 with all coefficients.
struct CubicLoss : sporades::LossDefaults {
  KOKKOS_FUNCTION double value(double x, double m) const {
    return 0.5 + m - 2 * m * m + 0.25 * m * m * m - x * x * m;
  }
  KOKKOS_FUNCTION double derivative(double x, double m) const {
    return 1 - 4 * m + 0.75 * m * m - x * x;
  }
  std::optional<sporades::LossPolynomial> at_zero() const {
    return sporades::LossPolynomial{0.5, 1, -2, 0.25};
  }
  std::string name() const { return "cubic"; }
};

/// Compares the loss and its gradient with their definitions.
template <class Exec, class Tensor, class Model, class Loss>
void check_loss(Exec const& exec, Tensor const& X, Model const& model, Loss const& loss,
                AbsentEntries absent, sporades::MttkrpAllModesOptions const& options = {}) {
  using Scalar = typename Tensor::Scalar;
  CAPTURE(loss.name(), to_string(absent), sporades::to_string(X.dims), X.nnz(), model.rank());
  auto const expected = loss_definition(X, model, loss, absent);
  auto const cubic = loss.at_zero() && (*loss.at_zero())[3] != 0;
  // Of degree 3, products of two columns are rounded to Scalar.
  double const value_unit = std::max(1e-12, absent == AbsentEntries::zero && cubic
                                                ? 8 * double{std::numeric_limits<Scalar>::epsilon()}
                                                : 0);
  double const value = loss_value(exec, X, model, loss, absent);
  CHECK(std::abs(value - expected.value) <= value_unit * (1 + expected.magnitude));

  auto plan = make_loss_gradient_plan(exec, X, options);
  auto const V = room_for(model);
  CHECK(loss_value(exec, plan, model, loss, absent) == value);
  CHECK(loss_gradient(exec, plan, model, loss, absent, V) == value);
  CHECK(loss_value(exec, plan, model, loss, absent) == value);
  CHECK(wrong_entries(expected, X.nnz(), V) == 0);
}

template <class Loss>
bool has_closed_form(Loss const& loss) {
  return loss.allows(0) && loss.at_zero();
}

/// Orders 1 to 6, a mode of length 1, an empty mode.
std::vector<Dims> loss_dims() {
  return {{7},          {5, 6},          {9, 1, 8},          {6, 7, 5},
          {3, 4, 2, 5}, {3, 2, 3, 2, 4}, {2, 3, 2, 3, 2, 3}, {4, 0, 3},
          {1, 1}};
}

TEMPLATE_LIST_TEST_CASE("losses and gradients equal their definitions", "[kernels][loss]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const number = GENERATE(range(0, 14));
  auto const R = GENERATE(1, 3);
  auto const any = sporades::test::all_losses().at(static_cast<std::size_t>(number));
  std::visit(
      [&](auto const& loss) {
        for (auto const& dims : loss_dims())
          for (Position const nnz : {0, 1, 40}) {
            if (dims[dims.size() / 2] == 0 && nnz > 0) continue;
            auto const X = tensor_for<Scalar, std::uint32_t>(exec, dims, nnz, loss);
            auto const model = model_for<Scalar>(exec, dims, static_cast<std::size_t>(R),
                                                 loss.lower_bound() == 0, R == 1, nnz != 1);
            check_loss(exec, X, model, loss, AbsentEntries::missing);
            if (has_closed_form(loss)) check_loss(exec, X, model, loss, AbsentEntries::zero);
          }
      },
      any);
}

TEMPLATE_LIST_TEST_CASE("losses of a user's own, of many entries and columns", "[kernels][loss]",
                        sporades::test::IndexCases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const R = GENERATE(5, 17);
  CubicLoss const loss;
  auto const absent = GENERATE(AbsentEntries::zero, AbsentEntries::missing);
  for (auto const& dims : {Dims{30, 20, 10}, Dims{300, 2, 9}}) {
    auto const X = tensor_for<Scalar, Index>(exec, dims, 5000, loss);
    auto const model =
        model_for<Scalar>(exec, dims, static_cast<std::size_t>(R), false, false, true);
    check_loss(exec, X, model, loss, absent);
    sporades::MttkrpAllModesOptions options;
    options.products.strategy = sporades::MttkrpStrategy::sorted;
    options.products.rank = R;
    options.dimension_tree = false;
    check_loss(exec, X, model, loss, absent, options);
  }
  Dims most_modes(sporades::max_order, 1);
  std::fill_n(most_modes.begin() + 3, 10, 2);
  auto const X = tensor_for<Scalar, Index>(exec, most_modes, 300, loss);
  check_loss(exec, X, model_for<Scalar>(exec, most_modes, 2, false, false, true), loss, absent);
}

TEMPLATE_LIST_TEST_CASE("plans forget the models and losses before", "[kernels][loss]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  sporades::PoissonLoss const poisson;
  auto const X = tensor_for<Scalar, std::uint32_t>(exec, {40, 60, 4, 3}, 20000, poisson);
  auto const model = model_for<Scalar>(exec, X.dims, 4, true, true, true);
  auto other = model_for<Scalar>(exec, X.dims, 3, true, false, false);
  bool const is_fused = GENERATE(true, false);
  sporades::MttkrpAllModesOptions options;
  options.products.strategy = sporades::MttkrpStrategy::sorted;
  if (!is_fused) options.products.gather = sporades::GatherPrecision::bfloat16;  // rounded copies
  auto const make_plan = [&] {
    auto plan = make_loss_gradient_plan(exec, X, options);
    auto products = options.products;
    products.updatable = true;
    if (is_fused)
      plan.products = sporades::detail::make_dimension_tree({}, exec, X, {2, 3}, products);
    return plan;
  };
  auto plan = make_plan();
  auto const missing = AbsentEntries::missing;
  loss_gradient(exec, plan, model, poisson, AbsentEntries::zero, room_for(model));
  for (int round = 0; round < 2; ++round) {
    auto const V = room_for(other), W = room_for(other);
    auto fresh = make_plan();
    CHECK(loss_gradient(exec, plan, other, sporades::GammaLoss{}, missing, V) ==
          loss_gradient(exec, fresh, other, sporades::GammaLoss{}, missing, W));
    exec.fence();
    for (std::size_t n = 0; n < W.size(); ++n)
      CHECK(sporades::test::hash_bits(V[n]) == sporades::test::hash_bits(W[n]));
    for (auto const& A : other.factors) {  // in place
      auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, A);
      for (std::size_t i = 0; i < host.extent(0); ++i) host(i, 0) *= 2;
      Kokkos::deep_copy(A, host);
    }
  }
  if (is_fused) {
    REQUIRE(plan.products.fused.size() == 2);
    auto const V = room_for(model);
    loss_gradient(exec, plan, model, poisson, AbsentEntries::zero, V);
    exec.fence();
    CHECK(wrong_entries(loss_definition(X, model, poisson, AbsentEntries::zero), X.nnz(), V) == 0);
  }
}

TEMPLATE_LIST_TEST_CASE("the Poisson loss with zeros is the negative log-likelihood",
                        "[kernels][loss]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  sporades::PoissonLoss const loss;
  auto const X = tensor_for<Scalar, std::uint32_t>(exec, {30, 20, 10}, 3000, loss);
  auto const model = model_for<Scalar>(exec, X.dims, 16, true, false, true);
  double const value = loss_value(exec, X, model, loss, AbsentEntries::zero);
  double const exact = -log_likelihood(exec, X, model).value;
  CHECK(std::abs(value - exact) <= 1e-8 * std::abs(exact));  // 1e-10 beside m
}

TEMPLATE_LIST_TEST_CASE("entries and models of extreme scales", "[kernels][loss]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  double const scale = GENERATE(1e-30, 1e-12, 1e8);
  auto const scaled = [&](auto const& loss, double by) {
    auto const X = tensor_for<Scalar, std::uint32_t>(exec, {6, 7, 5}, 60, loss);
    auto const model = model_for<Scalar>(exec, X.dims, 3, loss.lower_bound() == 0, true, true);
    auto const host = Kokkos::create_mirror_view(model.weights);
    for (std::size_t r = 0; r < host.extent(0); ++r) host(r) = static_cast<Scalar>(by);
    Kokkos::deep_copy(model.weights, host);
    check_loss(exec, X, model, loss, AbsentEntries::missing);
    if (has_closed_form(loss)) check_loss(exec, X, model, loss, AbsentEntries::zero);
  };
  scaled(sporades::BernoulliLogitLoss{}, scale);
  scaled(sporades::BernoulliLogitLoss{}, 100 * scale);
  scaled(sporades::BernoulliOddsLoss{}, scale);
  scaled(sporades::BernoulliPoissonLoss{}, scale);
  scaled(sporades::PoissonLoss{}, scale);
  scaled(sporades::GaussianLoss{}, scale);
  scaled(sporades::HuberLoss(0.25), scale);
  scaled(sporades::NegativeBinomialLoss(2), scale);
}

TEMPLATE_LIST_TEST_CASE("losses have the same bits on any number of threads",
                        "[kernels][loss][threads]", sporades::test::AllCases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  auto const check = [&](auto const& loss, AbsentEntries absent) {
    auto const X = tensor_for<Scalar, std::uint32_t>(exec, {300, 200, 100}, 30000, loss);
    auto const model = model_for<Scalar>(exec, X.dims, 9, loss.lower_bound() == 0, false, true);
    auto const name = loss.name() + " " + to_string(absent) + " " + Exec::name() + " bytes " +
                      std::to_string(sizeof(Scalar));
    auto plan = make_loss_gradient_plan(exec, X);
    for (int repeat = 0; repeat < 2; ++repeat) {
      auto const V = room_for(model);
      double const value = loss_gradient(exec, plan, model, loss, absent, V);
      exec.fence();
      sporades::test::check_same_bits("loss " + name,
                                      sporades::test::hash_bytes(&value, sizeof value));
      for (std::size_t n = 0; n < V.size(); ++n)
        sporades::test::check_same_bits("loss_gradient " + name + " mode " + std::to_string(n),
                                        sporades::test::hash_bits(V[n]));
    }
  };
  check(sporades::BernoulliLogitLoss{}, AbsentEntries::missing);
  check(sporades::GaussianLoss{}, AbsentEntries::zero);
  check(sporades::PoissonLoss{}, AbsentEntries::zero);
  check(CubicLoss{}, AbsentEntries::zero);
}

TEST_CASE("losses run on their instance, and allocate once", "[kernels][loss]") {
  auto const exec = new_instance<Kokkos::DefaultExecutionSpace>();
  CubicLoss const loss;
  auto const X = tensor_for<double, std::uint32_t>(exec, {30, 20, 10}, 3000, loss);
  auto const model = model_for<double>(exec, X.dims, 4, false, false, true);
  auto const before = sporades::test::hash_bits(X.values);
  auto plan = make_loss_gradient_plan(exec, X);
  auto const V = room_for(model);
  sporades::test::check_launches(exec,
                                 [&] { loss_value(exec, X, model, loss, AbsentEntries::zero); });
  auto const round = [&] {
    loss_gradient(exec, plan, model, loss, AbsentEntries::zero, V);
    loss_value(exec, plan, model, loss, AbsentEntries::zero);
    exec.fence();
  };
  sporades::test::check_launches(exec, round);
  auto const recording = sporades::test::check_launches(exec, round);
  CHECK(recording.allocations.empty());
  CHECK(recording.outside.empty());
  CHECK(sporades::test::hash_bits(X.values) == before);
  CHECK(plan.storage_bytes() >= X.storage_bytes() + 3000 * 12);
}

TEMPLATE_LIST_TEST_CASE("losses refuse bad input", "[kernels][loss]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  sporades::PoissonLoss const poisson;
  auto const X = tensor_for<Scalar, std::uint32_t>(exec, {30, 20, 10}, 4000, poisson);
  auto const model = model_for<Scalar>(exec, X.dims, 3, true, true, true);
  auto plan = make_loss_gradient_plan(exec, X);
  auto const V = room_for(model);
  auto const zero = AbsentEntries::zero, missing = AbsentEntries::missing;

  CHECK_THROWS_WITH(loss_value(exec, X, model, sporades::GammaLoss{}, zero),
                    ContainsSubstring("loss_value: zeros have no closed form, since gamma of x = 0 "
                                      "is no polynomial of the model's value of degree 3 or less. "
                                      "Absent entries can be missing; enumerated_loss sums"));
  CHECK_THROWS_WITH(
      loss_gradient(exec, plan, model, sporades::ZeroTruncatedPoissonLoss{}, zero, V),
      ContainsSubstring("loss_gradient: zero-truncated-poisson takes finite numbers >= 1, so that "
                        "absent entries cannot be zeros"));
  CHECK_THROWS_WITH(loss_value(exec, X, model_for<Scalar>(exec, X.dims, 129, true, true, true),
                               CubicLoss{}, zero),
                    ContainsSubstring("up to rank 128, not 129"));

  auto const values = Kokkos::create_mirror_view(X.values);
  Kokkos::deep_copy(values, X.values);
  double const nan = std::numeric_limits<double>::quiet_NaN();
  for (double const x : {-1.0, nan, std::numeric_limits<double>::infinity()}) {
    auto bad = sporades::test::copy_of(exec, X);
    auto const host = Kokkos::create_mirror_view(bad.values);
    Kokkos::deep_copy(host, values);
    auto const p = X.nnz() - 3;
    host(p) = host(p + 1) = static_cast<Scalar>(x);
    Kokkos::deep_copy(bad.values, host);
    auto const i =
        sporades::test::coordinates_at(copy_to(Kokkos::DefaultHostExecutionSpace{}, bad), p);
    std::string const message = sporades::detail::concatenate(
        "nonzero ", p, ", of indices ", i[0], ", ", i[1], ", ", i[2], " (from 0), is ",
        static_cast<Scalar>(x), ", and poisson takes finite numbers >= 0");
    CHECK_THROWS_WITH(loss_value(exec, bad, model, poisson, missing),
                      ContainsSubstring("loss_value: " + message));
    auto bad_plan = make_loss_gradient_plan(exec, bad);
    auto const W = room_for(model);
    auto const untouched = sporades::test::hash_bits(W[1]);
    CHECK_THROWS_WITH(loss_gradient(exec, bad_plan, model, poisson, zero, W),
                      ContainsSubstring("loss_gradient: " + message));
    CHECK(sporades::test::hash_bits(W[1]) == untouched);
  }

  auto const other = model_for<Scalar>(exec, {30, 20, 11}, 3, true, true, true);
  CHECK_THROWS_WITH(
      loss_value(exec, X, other, poisson, zero),
      ContainsSubstring("loss_value: one tensor is 30 x 20 x 10, the other 30 x 20 x 11"));
  CHECK_THROWS_WITH(loss_gradient(exec, plan, other, poisson, zero, V),
                    ContainsSubstring("one tensor is 30 x 20 x 10"));
  CHECK_THROWS_WITH(loss_gradient(exec, plan, model, poisson, zero, {V[0], V[1]}),
                    ContainsSubstring("V has 2 matrices, the model has 3 factors"));
  CHECK_THROWS_WITH(loss_gradient(exec, plan, model, poisson, zero, {V[0], V[0], V[2]}),
                    ContainsSubstring("V[1] is 30 x 3, factor 1 is 20 x 3"));
  CHECK_THROWS_WITH(loss_gradient(exec, plan, model, poisson, zero, {model.factors[0], V[1], V[2]}),
                    ContainsSubstring("V[0] is factor 0"));
  auto const square = model_for<Scalar>(exec, {30, 30}, 3, true, true, true);
  auto pairs =
      make_loss_gradient_plan(exec, tensor_for<Scalar, std::uint32_t>(exec, {30, 30}, 9, poisson));
  CHECK_THROWS_WITH(loss_gradient(exec, pairs, square, poisson, zero, {V[0], V[0]}),
                    ContainsSubstring("V[1] is V[0]"));
  auto broken = model;
  broken.weights = sporades::Vector<Scalar, typename TestType::MemorySpace>("weights", 2);
  CHECK_THROWS_WITH(loss_value(exec, X, broken, poisson, missing),
                    ContainsSubstring("factor 0 has 3 columns, there are 2 weights"));
  auto past = X;
  past.dims[0] = 29;
  CHECK_THROWS_WITH(loss_value(exec, past, model_for<Scalar>(exec, past.dims, 3, true, true, true),
                               poisson, missing),
                    ContainsSubstring("is past the mode's length 29"));
}

TEST_CASE("a model without components is 0", "[kernels][loss]") {
  Kokkos::DefaultExecutionSpace const exec{};
  sporades::GaussianLoss const loss;
  auto const X = tensor_for<double, std::uint32_t>(exec, {6, 7, 5}, 60, loss);
  auto const model = model_for<double>(exec, X.dims, 0, false, false, true);
  check_loss(exec, X, model, loss, AbsentEntries::missing);
  check_loss(exec, X, model, loss, AbsentEntries::zero);
}

TEST_CASE("a coordinate that comes twice counts twice where absent entries are missing",
          "[kernels][loss]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  sporades::GaussianLoss const loss;
  auto X = sporades::detail::allocate_coo<double, std::uint32_t>(exec, {2, 3}, 2);
  Kokkos::fence();
  for (Position p = 0; p < 2; ++p) {
    X.coordinates(0, p) = X.coordinates(1, p) = 1;
    X.values(p) = 1 + static_cast<double>(p);
  }
  auto const model = model_for<double>(exec, X.dims, 2, false, false, true);
  check_loss(exec, X, model, loss, AbsentEntries::missing);
}

}  // namespace
