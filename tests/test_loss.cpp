// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <sporades/kernels/loss.hpp>
#include <support/catch.hpp>
#include <support/losses.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using sporades::AnyLoss;
using sporades::loss_from_name;
using sporades::test::all_losses;
using sporades::test::example_entry;
using sporades::test::example_model;
using sporades::test::name_of;

/// f(x, m) and df/dm by the formulas of the header with 1e-10 beside m, in 60 digits (mpmath).
struct Golden {
  char const* loss;
  double x, m, value, derivative;
};

std::vector<Golden> golden_values() {
  return {
      {"gaussian", 1.5, -2.25, 14.0625, -7.5},
      {"gaussian", 0.0, 3.0, 9.0, 6.0},
      {"gaussian", 1000000.0, 1000000.5, 0.25, 1.0},
      {"poisson", 2.0, 2.1, 0.616125310446007284, 0.04761904766439913325},
      {"poisson", 0.0, 3.5, 3.5, 1.0},
      {"poisson", 7.0, 0.0, 161.1809565095831979, -69999999999.0},
      {"poisson", 3.0, 1e-06, 41.44623268889182252, -2999699.029997000436},
      {"poisson", 1.0, 1000000000000.0, 999999999972.3689789, 0.999999999999},
      {"poisson-log", 2.0, 0.75, 0.6170000166126746685, 0.1170000166126746685},
      {"poisson-log", 0.0, -700.0, 9.859676543759770857e-305, 9.859676543759770857e-305},
      {"poisson-log", 5.0, 30.5, 17619017951203.13141, 17619017951350.63141},
      {"bernoulli-odds", 1.0, 2.1, 0.3894647667141041882, -0.15360983100651012},
      {"bernoulli-odds", 0.0, 2.1, 1.131402111491100591, 0.3225806451612903133},
      {"bernoulli-odds", 0.25, 0.5, 0.5787519031981507093, 0.1666666667666666666},
      {"bernoulli-odds", 1.0, 0.0, 23.02585092994045684, -9999999999.0},
      {"bernoulli-odds", 0.0, 0.0, 0.0, 1.0},
      {"bernoulli-odds", 1.0, 100000000.0, 9.999999949000000333e-9, -9.999999899000001e-17},
      {"bernoulli-odds", 0.0, 1e-12, 9.999999999994999799e-13, 0.999999999999},
      {"bernoulli-logit", 1.0, 0.75, 0.3868710061148999437, -0.3208213008246070268},
      {"bernoulli-logit", 0.0, 0.75, 1.136871006114899944, 0.6791786991753929732},
      {"bernoulli-logit", 0.25, -1.5, 0.5764132779827524095, -0.06757447619364365961},
      {"bernoulli-logit", 1.0, 40.0, 4.248354255291588986e-18, -4.248354255291588977e-18},
      {"bernoulli-logit", 0.0, -40.0, 4.248354255291588986e-18, 4.248354255291588977e-18},
      {"bernoulli-logit", 1.0, -700.0, 700.0, -1.0},
      {"bernoulli-logit", 0.0, 700.0, 700.0, 1.0},
      {"bernoulli-poisson", 1.0, 0.75, 0.6393534649508284263, -0.8952551342326698265},
      {"bernoulli-poisson", 0.0, 0.75, 0.75, 1.0},
      {"bernoulli-poisson", 0.25, 2.0, 1.536353364463301823, 0.7108705893171089724},
      {"bernoulli-poisson", 1.0, 50.0, 1.928749847771042798e-22, -1.928749847771042798e-22},
      {"bernoulli-poisson", 1.0, 0.0, 23.02585092999045684, -9999999999.5},
      {"bernoulli-poisson", 1.0, 1e-06, 13.81541106301389917, -999899.5099990834869},
      {"gamma", 2.0, 2.1, 1.694318297112597269, 0.02267573698196740835},
      {"gamma", 0.5, 3.0, 1.265278955362554136, 0.2777777777703703704},
      {"gamma", 4.0, 0.001, 3993.091844821057775, -3998999.200100119823},
      {"gamma", 1.0, 10000000000.0, 23.02585093004045684, 9.999999999e-11},
      {"rayleigh", 2.0, 2.1, 2.196253976014444885, 0.2739244890722396985},
      {"rayleigh", 0.5, 3.0, 2.219041193051360728, 0.6521222562126128057},
      {"rayleigh", 4.0, 0.001, 12566354.28557506859, -25132731688.89768369},
      {"rayleigh", 1.0, 10000000000.0, 46.05170185988091368, 2.0e-10},
      {"huber:0.25", 1.0, 1.125, 0.015625, 0.25},
      {"huber:0.25", 1.0, 1.5, 0.1875, 0.5},
      {"huber:0.25", 1.0, -3.0, 1.9375, -0.5},
      {"huber:0.25", 0.0, 0.25, 0.0625, 0.5},
      {"huber:0.25", 2.0, 2.0, 0.0, 0.0},
      {"negative-binomial:2", 2.0, 2.1, 3.041733756410409557, 0.3379416283095603866},
      {"negative-binomial:2", 0.0, 2.1, 2.262804222982201181, 0.6451612903225806267},
      {"negative-binomial:2", 5.0, 0.125, 11.22168895399386382, -33.7777777457777778},
      {"negative-binomial:2", 3.0, 1000000000.0, 41.44653167889282231, 1.999999995000000005e-9},
      {"beta:0.5", 2.0, 2.1, 5.658537586610590615, 0.03286026476110142615},
      {"beta:0.5", 0.0, 2.1, 2.898275349306894332, 0.6900655593259240708},
      {"beta:0.5", 1.0, 0.125, 6.363961028699028734, -19.79898984720180116},
      {"beta:2", 2.0, 2.1, -1.994999999989999991, 0.1000000001000000888},
      {"beta:2", 0.0, 2.1, 2.205000000210000187, 2.100000000100000089},
      {"beta:2", 1.0, 100000.0, 4999900000.00001, 99999.0000000001},
      {"beta:3", 2.0, 2.1, -1.322999999978999981, 0.2100000002200001954},
      {"beta:3", 0.0, 2.1, 3.087000000441000392, 4.410000000420000373},
      {"beta:-1.5", 2.0, 2.1, -0.09388647065807857172, 0.007451307201354166518},
      {"beta:-1.5", 0.5, 0.75, -0.6158402870671741169, 0.6842669856606053292},
      {"zero-truncated-poisson", 2.0, 2.1, 0.4854966399976622671, 0.1871636038341179522},
      {"zero-truncated-poisson", 1.0, 0.75, 0.3983286073676191678, 0.561921801077114271},
      {"zero-truncated-poisson", 1.0, 1e-06, 4.99950041675000394e-7, 0.5000000833416666667},
      {"zero-truncated-poisson", 1.0, 0.0, -4.999999999958333333e-11, 0.5000000000083333333},
      {"zero-truncated-poisson", 5.0, 0.25, 5.672780254505502127, -15.47918832940389418},
      {"zero-truncated-poisson", 1.0, 0.4, 0.2066578002385514808, 0.5332447817280034462},
      {"zero-truncated-poisson", 1.0, 0.6, 0.3149552553746413651, 0.5497025485023895757},
      {"zero-truncated-poisson", 3.0, 800.0, 779.9461648169958431, 0.9962500000000004687},
  };
}

TEST_CASE("losses equal their formulas in more digits", "[kernels][loss]") {
  for (auto const& gold : golden_values()) {
    CAPTURE(gold.loss, gold.x, gold.m);
    std::visit(
        [&](auto const& loss) {
          double const value = loss.value(gold.x, gold.m);
          double const derivative = loss.derivative(gold.x, gold.m);
          CAPTURE(value, derivative);
          CHECK(std::abs(value - gold.value) <= 2e-15 + 1e-14 * std::abs(gold.value));
          CHECK(std::abs(derivative - gold.derivative) <= 1e-13 * std::abs(gold.derivative));
        },
        loss_from_name(gold.loss));
  }
}

TEST_CASE("derivatives are those of the values", "[kernels][loss]") {
  for (auto const& any : all_losses())
    std::visit(
        [](auto const& loss) {
          for (int k = 0; k < 200; ++k) {
            double const x = example_entry(loss, k), m = example_model(loss, 7 * k + 1), h = 1e-5;
            if (std::abs(std::abs(x - m) - 0.25) < 2 * h) continue;  // where huber has a corner
            double const slope = (loss.value(x, m + h) - loss.value(x, m - h)) / (2 * h);
            double const bound = 1e-6 * (1 + std::abs(slope));
            CAPTURE(loss.name(), x, m);
            CHECK(std::abs(loss.derivative(x, m) - slope) <= bound);
          }
        },
        any);
}

TEST_CASE("losses of float are those of double, and do not overflow", "[kernels][loss]") {
  for (auto const& any : all_losses())
    std::visit(
        [](auto const& loss) {
          for (int k = 0; k < 200; ++k) {
            double const x = example_entry(loss, k), m = static_cast<float>(example_model(loss, k));
            auto const x4 = static_cast<float>(x), m4 = static_cast<float>(m);
            double const value = loss.value(x, m), derivative = loss.derivative(x, m);
            CAPTURE(loss.name(), x, m);
            CHECK(std::abs(double{loss.value(x4, m4)} - value) <= 1e-4 * (1 + std::abs(value)));
            CHECK(std::abs(double{loss.derivative(x4, m4)} - derivative) <=
                  1e-4 * (1 + std::abs(derivative)));
          }
        },
        any);
  sporades::BernoulliLogitLoss const logit;
  CHECK(logit.value(0.0f, 1e4f) == 1e4f);
  CHECK(logit.value(1.0f, 1e4f) == 0);
  CHECK(logit.value(1.0f, -1e4f) == 1e4f);
  CHECK(logit.derivative(0.0f, 1e4f) == 1);
  CHECK(logit.derivative(1.0f, -1e4f) == -1);
  sporades::BernoulliPoissonLoss const bernoulli;
  CHECK(bernoulli.derivative(1.0f, 1e4f) == 0);
  CHECK(bernoulli.value(1.0f, 1e4f) == 0);
  CHECK(std::isfinite(bernoulli.value(1.0f, 0.0f)));
  CHECK(std::isfinite(sporades::PoissonLoss{}.derivative(3.0f, 0.0f)));
  CHECK(std::isfinite(sporades::RayleighLoss{}.derivative(1e-9f, 0.0f)));
  CHECK(std::isfinite(sporades::BernoulliOddsLoss{}.derivative(1.0f, 1e30f)));
}

TEST_CASE("what a loss is at x = 0", "[kernels][loss]") {
  std::vector<std::string> polynomials;
  for (auto const& any : all_losses())
    std::visit(
        [&](auto const& loss) {
          auto const c = loss.at_zero();
          if (!c) return;
          polynomials.push_back(loss.name());
          for (double const m : {0.0, 1e-7, 0.3, 1.7, 40.0}) {
            CAPTURE(loss.name(), m);
            double const at = (*c)[0] + m * ((*c)[1] + m * ((*c)[2] + m * (*c)[3]));
            double const slope = (*c)[1] + m * (2 * (*c)[2] + m * 3 * (*c)[3]);
            CHECK(at == Approx(loss.value(0.0, m)).epsilon(1e-13));
            CHECK(slope == Approx(loss.derivative(0.0, m)).epsilon(1e-13));
          }
        },
        any);
  CHECK(polynomials ==
        std::vector<std::string>{"gaussian", "poisson", "bernoulli-poisson", "beta:2", "beta:3"});
}

TEST_CASE("losses know what they take", "[kernels][loss]") {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  double const infinity = std::numeric_limits<double>::infinity();
  for (auto const& any : all_losses())
    std::visit(
        [&](auto const& loss) {
          CAPTURE(loss.name());
          std::string const domain = loss.domain();
          CHECK_FALSE(loss.allows(nan));
          CHECK_FALSE(loss.allows(infinity));
          CHECK_FALSE(loss.allows(-infinity));
          CHECK(loss.allows(1));
          CHECK(loss.allows(-1e-3) == (domain == "finite numbers"));
          CHECK(loss.allows(0) == (domain != "finite numbers >= 1"));
          CHECK(loss.allows(0.5) == (domain != "finite numbers >= 1"));
          CHECK(loss.allows(1.5) == (domain != "0, 1 and numbers between them"));
          bool const is_of_all = loss.lower_bound() == -infinity;
          CHECK((is_of_all || loss.lower_bound() == 0));
          CHECK(is_of_all == (loss.name() == "gaussian" || loss.name() == "poisson-log" ||
                              loss.name() == "bernoulli-logit" || loss.name() == "huber:0.25"));
        },
        any);
}

TEST_CASE("losses have names", "[kernels][loss]") {
  for (auto const& any : all_losses()) {
    auto const again = loss_from_name(name_of(any));
    CHECK(again.index() == any.index());
    CHECK(name_of(again) == name_of(any));
  }
  CHECK(std::get<sporades::HuberLoss>(loss_from_name("huber:1e-3")).threshold() == 1e-3);
  CHECK(
      std::get<sporades::NegativeBinomialLoss>(loss_from_name("negative-binomial:4")).failures() ==
      4);
  CHECK(std::get<sporades::BetaLoss>(loss_from_name("beta:-0.5")).exponent() == -0.5);
  CHECK(sporades::loss_names().size() == std::variant_size_v<AnyLoss>);
  CHECK_THROWS_WITH(loss_from_name("gausian"),
                    ContainsSubstring("there is no loss gausian; there are gaussian, poisson, ") &&
                        ContainsSubstring("huber:D, negative-binomial:R, beta:B"));
  for (auto const& name : {"huber", "huber:", "huber:x", "huber:1x", "beta:1 2"})
    CHECK_THROWS_WITH(loss_from_name(name), ContainsSubstring("takes one number"));
  CHECK_THROWS_WITH(loss_from_name("poisson:2"), ContainsSubstring("there is no loss poisson:2"));
  CHECK_THROWS_WITH(loss_from_name("huber:0"), ContainsSubstring("0 is not a positive number"));
  CHECK_THROWS_WITH(loss_from_name("negative-binomial:-2"), ContainsSubstring("-2 is not"));
  CHECK_THROWS_WITH(loss_from_name("beta:1"), ContainsSubstring("1 is poisson"));
  CHECK_THROWS_WITH(loss_from_name("beta:0"), ContainsSubstring("0 is the loss gamma"));
  CHECK_THROWS_WITH(sporades::HuberLoss(std::nan("")), ContainsSubstring("not a positive number"));
  CHECK(sporades::from_name<sporades::AbsentEntries>("missing") ==
        sporades::AbsentEntries::missing);
}

struct Cubic : sporades::LossDefaults {
  KOKKOS_FUNCTION double value(double x, double m) const { return m * m * m - x; }
  KOKKOS_FUNCTION double derivative(double, double m) const { return 3 * m * m; }
};
struct WithoutDerivative : sporades::LossDefaults {
  KOKKOS_FUNCTION double value(double x, double m) const { return m - x; }
};
struct WithMemory : Cubic {
  std::string text;
};

TEST_CASE("what can be a loss", "[kernels][loss]") {
  CHECK(sporades::is_loss<Cubic>);
  CHECK_FALSE(sporades::is_loss<WithoutDerivative>);
  CHECK_FALSE(sporades::is_loss<WithMemory>);
  CHECK_FALSE(sporades::is_loss<int>);
  for (auto const& any : all_losses())
    CHECK(std::visit(
        [](auto const& loss) { return sporades::is_loss<std::decay_t<decltype(loss)>>; }, any));
}

}  // namespace
