// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <sporades/algorithms/command/report.hpp>
#include <sporades/algorithms/components.hpp>
#include <sporades/algorithms/score.hpp>
#include <sporades/core/error.hpp>
#include <string>
#include <vector>

/// How alike the models of several starts are.

namespace sporades::command {

/// Components that match less are other ones.
constexpr double enough_match = 0.9;

/// The CP models of starts, on the host, and the scores of the best one and each other.
template <class Scalar>
class StartMatches {
  using Host = Kokkos::DefaultHostExecutionSpace;

 public:
  /// The model of a start that has ended, of which so many components count, and its value.
  template <class Model>
  void add(Model const& model, int components, double value) {
    std::vector<int> first(static_cast<std::size_t>(components));
    std::iota(first.begin(), first.end(), 0);
    models_.push_back(extract(Host(), copy_to(Host(), model), first));
    values_.push_back(value);
  }

  /// To be called once all have ended. Models that cannot be compared match by NaN.
  void compare() {
    if (models_.empty()) return;
    best_ = static_cast<std::size_t>(std::max_element(values_.begin(), values_.end()) -
                                     values_.begin());
    again_.assign(static_cast<std::size_t>(best().rank()), 0);
    for (std::size_t k = 0; k < models_.size(); ++k) {
      if (k == best_) continue;
      try {
        auto const score = sporades::score(Host(), models_[k], best());
        matches_.push_back(score.value);
        for (std::size_t r = 0; r < again_.size(); ++r)
          again_[r] = std::max(again_[r], score.components[r]);
      } catch (Error const&) {  // one holds infinity
        matches_.push_back(std::numeric_limits<double>::quiet_NaN());
      }
    }
  }

  std::size_t models() const { return models_.size(); }
  /// The first of the best ones.
  KruskalTensor<Scalar> const& best() const { return models_[best_]; }
  /// Of the best model and each other; NaN of one model.
  double mean() const {
    return std::accumulate(matches_.begin(), matches_.end(), 0.0) /
           static_cast<double>(matches_.size());
  }

  NamedValues values() const { return {{"start_matches", matches_}, {"components_again", again_}}; }

  /// A line.
  std::string text() const {
    auto const [least, most] = std::minmax_element(matches_.begin(), matches_.end());
    std::string others;
    for (std::size_t r = 0; r < again_.size(); ++r)
      if (!(again_[r] >= enough_match))
        others += (others.empty() ? "" : ", ") + std::to_string(r + 1);
    auto const text =
        fmt::format("the other starts' models match it by {:.3f} to {:.3f}", *least, *most);
    return others.empty()
               ? text + "; all components came again\n"
               : fmt::format("{}; components that did not come again (match below {}): {}\n", text,
                             enough_match, others);
  }

 private:
  std::vector<KruskalTensor<Scalar>> models_;
  std::vector<double> values_;
  std::size_t best_ = 0;
  std::vector<double> matches_;  // of the best model and each other, in the order of starts
  std::vector<double> again_;    // of each component of the best: the match of the most alike one
};

}  // namespace sporades::command
