// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fmt/format.h>

#include <sporades/algorithms/command/run_model.hpp>

namespace sporades::command {

/// What run_model shows of a method whose iterations end in a fit: base of the methods of CP-ALS
/// and Tucker.
template <class State, class Result>
struct Fits {
  static constexpr char const* converged = "fit change below the tolerance";

  static std::string line(State const& now, int k) {
    auto const info = now.info(k);
    auto const change = k > 0 ? fmt::format(", change {:.3e}", info.change) : "";
    return fmt::format("fit {:.10f}", info.value) + change;
  }
  static std::string brief(State const& now) { return fmt::format("fit {:.6f}", now.fits.back()); }

  static NamedValues values(Result const& result, std::size_t k) {
    return {{"fit", result.values[k]}};
  }
  static NamedValues results(Result const& result) { return {{"fit", result.fit()}}; }
  static ModelFacts model_facts(Result const& result) { return {{"fit", score(result.fit())}}; }
  /// Results need no more of X than the algorithm.
  template <class Tensor>
  static void look_at(Tensor const&) {}
  static std::string summary(Result const& result) {
    return fmt::format("fit {:.10f}", result.fit());
  }
  static void check(Result const&) {}  // every fit is an answer
  static constexpr char const* scores_name = "fits";
  static std::string score(double fit) { return fmt::format("{:.10f}", fit); }
};

}  // namespace sporades::command
