// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Losses for tests, and entries and models that they are defined for.

#include <cmath>
#include <sporades/kernels/loss.hpp>

namespace sporades::test {

/// Each loss, those with a number for some of these.
inline std::vector<AnyLoss> all_losses() {
  return {GaussianLoss{},       PoissonLoss{},
          PoissonLogLoss{},     BernoulliOddsLoss{},
          BernoulliLogitLoss{}, BernoulliPoissonLoss{},
          GammaLoss{},          RayleighLoss{},
          HuberLoss(0.25),      NegativeBinomialLoss(2),
          BetaLoss(0.5),        BetaLoss(2),
          BetaLoss(3),          ZeroTruncatedPoissonLoss{}};
}

inline std::string name_of(AnyLoss const& any) {
  return std::visit([](auto const& loss) { return loss.name(); }, any);
}

/// Numbers in [0, 1), other ones for each k.
inline double example_fraction(std::uint64_t k) {
  double const turns = 0.6180339887498949 * static_cast<double>(k + 1);
  return turns - std::floor(turns);
}

/// The k-th of some entries that the loss allows, in float, too: not all of them integers.
template <class Loss>
double example_entry(Loss const& loss, std::uint64_t k) {
  double const u = std::floor(example_fraction(k) * 16) / 16;
  if (!loss.allows(1.5)) return k % 5 == 4 ? u : k % 2 == 0 ? 1 : 0;
  if (!loss.allows(0)) return 1 + std::floor(4 * u);
  if (!loss.allows(-1)) return k % 3 == 0 ? 4 * u : std::floor(4 * u);
  return 4 * u - 2;
}

/// The k-th of some values of a model that the loss is defined for, not near 0.
template <class Loss>
double example_model(Loss const& loss, std::uint64_t k) {
  double const u = example_fraction(3 * k + 1);
  return loss.lower_bound() == 0 ? 0.1 + 3 * u : 4 * u - 2;
}

}  // namespace sporades::test
