// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <locale>
#include <sporades/kernels/loss.hpp>
#include <sstream>

namespace sporades {
namespace {

std::string name_of(AnyLoss const& loss) {
  return std::visit([](auto const& known) { return known.name(); }, loss);
}

/// Those without a number.
std::vector<AnyLoss> plain_losses() {
  return {GaussianLoss{},      PoissonLoss{},        PoissonLogLoss{},
          BernoulliOddsLoss{}, BernoulliLogitLoss{}, BernoulliPoissonLoss{},
          GammaLoss{},         RayleighLoss{},       ZeroTruncatedPoissonLoss{}};
}

double number_in(std::string const& text, std::string const& name) {
  std::istringstream input(text);
  input.imbue(std::locale::classic());
  double number = 0;
  expects(input >> number && input.peek() == std::char_traits<char>::eof(), "the loss ", name,
          " takes one number, such as huber:0.25");
  return number;
}

}  // namespace

AnyLoss loss_from_name(std::string const& name) {
  for (auto const& loss : plain_losses())
    if (name == name_of(loss)) return loss;
  auto const colon = name.find(':');
  std::string const kind = name.substr(0, colon);
  std::string const number = colon < name.size() ? name.substr(colon + 1) : "";
  if (kind == "huber") return HuberLoss(number_in(number, name));
  if (kind == "negative-binomial") return NegativeBinomialLoss(number_in(number, name));
  if (kind == "beta") return BetaLoss(number_in(number, name));
  std::string known;
  for (auto const& one : loss_names()) known += (known.empty() ? "" : ", ") + one;
  fail("there is no loss ", name, "; there are ", known);
}

std::vector<std::string> loss_names() {
  std::vector<std::string> names;
  for (auto const& loss : plain_losses()) names.push_back(name_of(loss));
  names.insert(names.end(), {"huber:D", "negative-binomial:R", "beta:B"});
  return names;
}

}  // namespace sporades
