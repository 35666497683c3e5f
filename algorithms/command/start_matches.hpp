// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <sporades/algorithms/command/report.hpp>
#include <sporades/algorithms/components.hpp>
#include <sporades/algorithms/score.hpp>
#include <string>
#include <vector>

/// How alike the models of several starts are.

namespace sporades::command {

/// Components that match less are other ones.
constexpr double enough_match = 0.9;

/// A CP model's first components, on the host.
template <class Model>
auto first_components(Model const& model, int components) {
  Kokkos::DefaultHostExecutionSpace const host;
  std::vector<int> first(static_cast<std::size_t>(components));
  std::iota(first.begin(), first.end(), 0);
  return extract(host, copy_to(host, model), first);
}

/// The scores of CP models of starts, each with the best before it, and of the best one's
/// components with those of the others.
template <class Scalar>
class StartMatches {
 public:
  /// The model of a start that has ended, of which so many components count, and its value.
  template <class Model>
  void add(Model const& model, int components, double value) {
    auto const ended = first_components(model, components);
    bool const is_best = best_.factors.empty() || value > value_;
    if (!best_.factors.empty()) {
      auto const& of = is_best ? ended : best_;
      auto const score =
          sporades::score(Kokkos::DefaultHostExecutionSpace(), is_best ? best_ : ended, of);
      matches_.push_back(score.value);
      auto const& alike = score.components;
      if (is_best || again_.empty()) again_ = alike;
      for (std::size_t r = 0; r < again_.size(); ++r) again_[r] = std::max(again_[r], alike[r]);
    }
    if (!is_best) return;
    best_ = ended;
    value_ = value;
  }

  /// How many models there were.
  std::size_t models() const { return best_.factors.empty() ? 0 : matches_.size() + 1; }

  NamedValues values() const { return {{"start_matches", matches_}, {"components_again", again_}}; }

  /// A line.
  std::string text() const {
    auto const [least, most] = std::minmax_element(matches_.begin(), matches_.end());
    std::string others;
    for (std::size_t r = 0; r < again_.size(); ++r)
      if (!(again_[r] >= enough_match))
        others += (others.empty() ? "" : ", ") + std::to_string(r + 1);
    auto const text = fmt::format("models of starts match the best before them by {:.3f} to {:.3f}",
                                  *least, *most);
    return others.empty()
               ? text + "; all components came again\n"
               : fmt::format("{}; components that did not come again (match below {}): {}\n", text,
                             enough_match, others);
  }

 private:
  KruskalTensor<Scalar> best_;
  double value_ = 0;
  std::vector<double> matches_;  // of each model after the first
  std::vector<double> again_;    // of each component of the best: the match of the most alike one
};

}  // namespace sporades::command
