// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <optional>
#include <sporades/core/detail/kokkos.hpp>
#include <sporades/core/error.hpp>
#include <sporades/core/names.hpp>
#include <sporades/kernels/absent_entries.hpp>
#include <variant>

/// Losses f(x, m) of an entry x of a tensor and the value m that a model has there. The sum of f
/// over entries is what generalised CP makes small:
///   loss                       f(x, m)                             df/dm                     m >=
///   GaussianLoss               (x - m)^2                           2 (m - x)
///   PoissonLoss                m - x log m                         1 - x / m                 0
///   PoissonLogLoss             e^m - x m                           e^m - x
///   BernoulliOddsLoss          log(1 + m) - x log m                1 / (1 + m) - x / m       0
///   BernoulliLogitLoss         log(1 + e^m) - x m                  1 / (1 + e^-m) - x
///   BernoulliPoissonLoss       (1 - x) m - x log(1 - e^-m)         1 - x - x / (e^m - 1)     0
///   GammaLoss                  x / m + log m                       1 / m - x / m^2           0
///   RayleighLoss               2 log m + (pi/4) (x / m)^2          2 / m - (pi/2) x^2 / m^3  0
///   HuberLoss(d)               e^2, or 2 d |e| - d^2               -2 e, or -2 d sign(e)
///     with e = x - m           where |e| < d, or not
///   NegativeBinomialLoss(r)    (r + x) log(1 + m) - x log m        (r + x) / (1 + m) - x / m 0
///   BetaLoss(b)                m^b / b - x m^(b-1) / (b - 1)       m^(b-1) - x m^(b-2)       0
///   ZeroTruncatedPoissonLoss   m - x log m + log(1 - e^-m)         1 - x / m + 1 / (e^m - 1) 0
/// In logarithms and quotients 1e-10 is added to m, as in Tensor Toolbox. Its derivative of the
/// negative binomial, which has r + 1 in place of r + x, is not that of its f, and not ours.
/// BernoulliPoissonLoss is of P(x = 1) = 1 - e^-m, that a Poisson number of mean m is not 0.
/// Hong, Kolda & Duersch, SIAM Review 62(1), 2020; Zhou, AISTATS 2015 (Bernoulli-Poisson).
///
/// A loss of your own is a trivially copyable type with the members of LossDefaults, from which it
/// may derive, and
///   KOKKOS_FUNCTION double value(double x, double m) const;       // f
///   KOKKOS_FUNCTION double derivative(double x, double m) const;  // df/dm
/// Its kernels are compiled in the application; see tests/examples/own_loss.cpp, and
/// own_loss_gcp.cpp for generalised CP.

namespace sporades {

/// c[0] + c[1] m + c[2] m^2 + c[3] m^3
using LossPolynomial = std::array<double, 4>;

/// What is true of a loss that does not say otherwise.
struct LossDefaults {
  /// What messages call it, and loss_from_name.
  std::string name() const { return "the loss"; }
  /// The x that it is defined for; others are refused, with these words.
  KOKKOS_FUNCTION bool allows(double x) const { return x - x == 0; }
  char const* domain() const { return "finite numbers"; }
  /// The least m that it is defined for. Nothing checks that models keep to it.
  double lower_bound() const { return -std::numeric_limits<double>::infinity(); }
  /// f(0, m), where it is a polynomial of m of degree 3 or less: then absent entries may be zeros.
  std::optional<LossPolynomial> at_zero() const { return {}; }
};

namespace detail {

template <class Loss, class = void>
struct IsLoss : std::false_type {};
template <class Loss>
struct IsLoss<
    Loss,
    std::void_t<decltype(static_cast<double>(std::declval<Loss const&>().value(1.0, 1.0))),
                decltype(static_cast<double>(std::declval<Loss const&>().derivative(1., 1.))),
                decltype(static_cast<bool>(std::declval<Loss const&>().allows(1.0))),
                decltype(std::string(std::declval<Loss const&>().name())),
                decltype(std::string(std::declval<Loss const&>().domain())),
                decltype(static_cast<double>(std::declval<Loss const&>().lower_bound())),
                decltype(std::optional<LossPolynomial>(std::declval<Loss const&>().at_zero()))>>
    : std::is_trivially_copyable<Loss> {};

/// What logarithms and quotients are of in place of m.
template <class Real>
KOKKOS_FORCEINLINE_FUNCTION Real above_zero(Real m) {
  return m + static_cast<Real>(1e-10);
}

/// a log(1 + m) - x log m: for large m, where the logarithms cancel, log(1 + m) = log m + log(1 +
/// 1 / m).
template <class Real>
KOKKOS_INLINE_FUNCTION Real log1p_minus_log(Real a, Real x, Real m) {
  bool const is_large = m > 1;
  Real const t = above_zero(m);
  return (is_large ? a - x : -x) * math::log(t) +
         a * math::log1p(is_large ? (1 - static_cast<Real>(1e-10)) / t : m);
}

/// log(1 - e^-t), t > 0.
template <class Real>
KOKKOS_INLINE_FUNCTION Real log_of_one_minus_exp(Real t) {
  return t < static_cast<Real>(0.693) ? math::log(-math::expm1(-t)) : math::log1p(-math::exp(-t));
}

/// 1 / (e^t - 1) - 1 / t, t > 0: for small t by its series, whose coefficients are B_k / k!.
template <class Real>
KOKKOS_INLINE_FUNCTION Real bose_minus_pole(Real t) {
  if (t > static_cast<Real>(0.5)) return 1 / math::expm1(t) - 1 / t;
  double const s = static_cast<double>(t), z = s * s;
  double series = 1.0 / 74724249600;
  series = series * z - 691.0 / 1307674368000;
  series = series * z + 1.0 / 47900160;
  series = series * z - 1.0 / 1209600;
  series = series * z + 1.0 / 30240;
  series = series * z - 1.0 / 720;
  series = series * z + 1.0 / 12;
  return static_cast<Real>(series * s - 0.5);
}

struct LossOfNonNegative : LossDefaults {
  KOKKOS_FUNCTION bool allows(double x) const { return x >= 0 && x - x == 0; }
  char const* domain() const { return "finite numbers >= 0"; }
};

struct LossOfFractions : LossDefaults {
  KOKKOS_FUNCTION bool allows(double x) const { return x >= 0 && x <= 1; }
  char const* domain() const { return "0, 1 and numbers between them"; }
};

}  // namespace detail

/// Whether T can be a loss.
template <class T>
inline constexpr bool is_loss = detail::IsLoss<T>::value;

/// x is m and normal noise.
struct GaussianLoss : LossDefaults {
  template <class Real>
  KOKKOS_FUNCTION Real value(Real x, Real m) const {
    return (x - m) * (x - m);
  }
  template <class Real>
  KOKKOS_FUNCTION Real derivative(Real x, Real m) const {
    return 2 * (m - x);
  }
  std::string name() const { return "gaussian"; }
  std::optional<LossPolynomial> at_zero() const { return LossPolynomial{0, 0, 1, 0}; }
};

/// x is a count of mean m.
struct PoissonLoss : detail::LossOfNonNegative {
  template <class Real>
  KOKKOS_FUNCTION Real value(Real x, Real m) const {
    return m - x * detail::math::log(detail::above_zero(m));
  }
  template <class Real>
  KOKKOS_FUNCTION Real derivative(Real x, Real m) const {
    return 1 - x / detail::above_zero(m);
  }
  std::string name() const { return "poisson"; }
  double lower_bound() const { return 0; }
  std::optional<LossPolynomial> at_zero() const { return LossPolynomial{0, 1, 0, 0}; }
};

/// x is a count of mean e^m.
struct PoissonLogLoss : detail::LossOfNonNegative {
  template <class Real>
  KOKKOS_FUNCTION Real value(Real x, Real m) const {
    return detail::math::exp(m) - x * m;
  }
  template <class Real>
  KOKKOS_FUNCTION Real derivative(Real x, Real m) const {
    return detail::math::exp(m) - x;
  }
  std::string name() const { return "poisson-log"; }
};

/// x is 1 or 0, of odds m.
struct BernoulliOddsLoss : detail::LossOfFractions {
  template <class Real>
  KOKKOS_FUNCTION Real value(Real x, Real m) const {
    return detail::log1p_minus_log(Real(1), x, m);
  }
  /// Over one denominator: for x = 1 and large m nothing cancels.
  template <class Real>
  KOKKOS_FUNCTION Real derivative(Real x, Real m) const {
    return (m * (1 - x) + (static_cast<Real>(1e-10) - x)) / (1 + m) / detail::above_zero(m);
  }
  std::string name() const { return "bernoulli-odds"; }
  double lower_bound() const { return 0; }
};

/// x is 1 or 0, of odds e^m.
struct BernoulliLogitLoss : detail::LossOfFractions {
  /// e to the power -|m| does not overflow.
  template <class Real>
  KOKKOS_FUNCTION Real value(Real x, Real m) const {
    return ((m > 0 ? m : Real(0)) - x * m) + detail::math::log1p(detail::math::exp(m > 0 ? -m : m));
  }
  template <class Real>
  KOKKOS_FUNCTION Real derivative(Real x, Real m) const {
    Real const e = detail::math::exp(m > 0 ? -m : m);
    return (m > 0 ? (1 - x) - x * e : (1 - x) * e - x) / (1 + e);
  }
  std::string name() const { return "bernoulli-logit"; }
};

/// x is 1 or 0, of P(x = 1) = 1 - e^-m: whether a count of mean m is not 0. Zeros have a closed
/// form.
struct BernoulliPoissonLoss : detail::LossOfFractions {
  template <class Real>
  KOKKOS_FUNCTION Real value(Real x, Real m) const {
    return (1 - x) * m - x * detail::log_of_one_minus_exp(detail::above_zero(m));
  }
  template <class Real>
  KOKKOS_FUNCTION Real derivative(Real x, Real m) const {
    return (1 - x) - x / detail::math::expm1(detail::above_zero(m));
  }
  std::string name() const { return "bernoulli-poisson"; }
  double lower_bound() const { return 0; }
  std::optional<LossPolynomial> at_zero() const { return LossPolynomial{0, 1, 0, 0}; }
};

/// x is positive, of mean m and a deviation in proportion to it: durations, sizes.
struct GammaLoss : detail::LossOfNonNegative {
  template <class Real>
  KOKKOS_FUNCTION Real value(Real x, Real m) const {
    Real const t = detail::above_zero(m);
    return x / t + detail::math::log(t);
  }
  template <class Real>
  KOKKOS_FUNCTION Real derivative(Real x, Real m) const {
    Real const t = detail::above_zero(m);
    return (1 - x / t) / t;
  }
  std::string name() const { return "gamma"; }
  double lower_bound() const { return 0; }
};

/// x is positive, a Rayleigh number of mean m.
struct RayleighLoss : detail::LossOfNonNegative {
  static constexpr double quarter_pi = 0.78539816339744830962;

  template <class Real>
  KOKKOS_FUNCTION Real value(Real x, Real m) const {
    Real const t = detail::above_zero(m), q = x / t;
    return 2 * detail::math::log(t) + static_cast<Real>(quarter_pi) * q * q;
  }
  template <class Real>
  KOKKOS_FUNCTION Real derivative(Real x, Real m) const {
    Real const t = detail::above_zero(m), q = x / t;
    return (2 - static_cast<Real>(2 * quarter_pi) * q * q) / t;
  }
  std::string name() const { return "rayleigh"; }
  double lower_bound() const { return 0; }
};

/// x is m and noise with outliers: those of d and more pull all alike.
class HuberLoss : public LossDefaults {
 public:
  /// Throws Error unless threshold, d, is positive and finite.
  explicit HuberLoss(double threshold) : threshold_(threshold) {
    expects(threshold > 0 && threshold - threshold == 0, "huber: the threshold ", threshold,
            " is not a positive number");
  }
  double threshold() const { return threshold_; }

  template <class Real>
  KOKKOS_FUNCTION Real value(Real x, Real m) const {
    auto const d = static_cast<Real>(threshold_);
    Real const size = detail::math::abs(x - m);
    return size < d ? size * size : d * (2 * size - d);
  }
  template <class Real>
  KOKKOS_FUNCTION Real derivative(Real x, Real m) const {
    auto const d = static_cast<Real>(threshold_);
    Real const e = m - x;
    return 2 * (e >= d ? d : e <= -d ? -d : e);
  }
  std::string name() const { return detail::concatenate("huber:", threshold_); }

 private:
  double threshold_;
};

/// x is a number of successes of odds m before r failures.
class NegativeBinomialLoss : public detail::LossOfNonNegative {
 public:
  /// Throws Error unless failures, r, is positive and finite.
  explicit NegativeBinomialLoss(double failures) : failures_(failures) {
    expects(failures > 0 && failures - failures == 0, "negative-binomial: the number of failures ",
            failures, " is not a positive number");
  }
  double failures() const { return failures_; }

  template <class Real>
  KOKKOS_FUNCTION Real value(Real x, Real m) const {
    return detail::log1p_minus_log(static_cast<Real>(failures_) + x, x, m);
  }
  template <class Real>
  KOKKOS_FUNCTION Real derivative(Real x, Real m) const {
    return (static_cast<Real>(failures_) + x) / (1 + m) - x / detail::above_zero(m);
  }
  std::string name() const { return detail::concatenate("negative-binomial:", failures_); }
  double lower_bound() const { return 0; }

 private:
  double failures_;
};

/// The beta divergence. For b = 2 and 3 it is a polynomial of m.
class BetaLoss : public detail::LossOfNonNegative {
 public:
  /// Throws Error unless the exponent b is finite, and neither 0 nor 1: in the limit these are
  /// GammaLoss and PoissonLoss.
  explicit BetaLoss(double exponent) : exponent_(exponent) {
    expects(exponent - exponent == 0 && exponent != 0 && exponent != 1, "beta: the exponent ",
            exponent, " is 0, 1 or not finite; 0 is the loss gamma, and 1 is poisson");
  }
  double exponent() const { return exponent_; }

  template <class Real>
  KOKKOS_FUNCTION Real value(Real x, Real m) const {
    auto const b = static_cast<Real>(exponent_);
    Real const t = detail::above_zero(m);
    return detail::math::pow(t, b - 1) * (t / b - x / (b - 1));
  }
  template <class Real>
  KOKKOS_FUNCTION Real derivative(Real x, Real m) const {
    Real const t = detail::above_zero(m);
    return detail::math::pow(t, static_cast<Real>(exponent_) - 2) * (t - x);
  }
  std::string name() const { return detail::concatenate("beta:", exponent_); }
  double lower_bound() const { return 0; }
  std::optional<LossPolynomial> at_zero() const {
    constexpr double e = 1e-10;
    if (exponent_ == 2) return LossPolynomial{e * e / 2, e, 0.5, 0};
    if (exponent_ == 3) return LossPolynomial{e * e * e / 3, e * e, e, 1. / 3};
    return {};
  }

 private:
  double exponent_;
};

/// x is a count of mean m that is listed only where it is not 0: there are no zeros.
struct ZeroTruncatedPoissonLoss : LossDefaults {
  KOKKOS_FUNCTION bool allows(double x) const { return x >= 1 && x - x == 0; }
  char const* domain() const { return "finite numbers >= 1"; }
  /// For small t the logarithms of t cancel where x = 1, and so do the poles of the derivative.
  template <class Real>
  KOKKOS_FUNCTION Real value(Real x, Real m) const {
    Real const t = detail::above_zero(m);
    return m + (1 - x) * detail::math::log(t) + detail::math::log(-detail::math::expm1(-t) / t);
  }
  template <class Real>
  KOKKOS_FUNCTION Real derivative(Real x, Real m) const {
    Real const t = detail::above_zero(m);
    return 1 + (1 - x) / t + detail::bose_minus_pole(t);
  }
  std::string name() const { return "zero-truncated-poisson"; }
  double lower_bound() const { return 0; }
};

/// Any of the losses above; std::visit calls a function with the one that it is.
using AnyLoss = std::variant<GaussianLoss, PoissonLoss, PoissonLogLoss, BernoulliOddsLoss,
                             BernoulliLogitLoss, BernoulliPoissonLoss, GammaLoss, RayleighLoss,
                             HuberLoss, NegativeBinomialLoss, BetaLoss, ZeroTruncatedPoissonLoss>;

/// The loss of that name, as its name() gives it: "poisson", "huber:0.25". Throws Error where there
/// is none, or its number is missing or not allowed.
AnyLoss loss_from_name(std::string const& name);

/// What loss_from_name takes: "gaussian", ..., "huber:D", "negative-binomial:R", "beta:B".
std::vector<std::string> loss_names();

}  // namespace sporades
