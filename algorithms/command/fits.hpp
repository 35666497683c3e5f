// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fmt/format.h>

#include <sporades/algorithms/command/model_run.hpp>

namespace sporades::command {

/// What run_model shows and keeps of a method whose iterations end in a fit: base of the methods
/// of CP-ALS and Tucker.
template <class State, class Snapshot, class Result>
struct Fits {
  static double seconds(State const& now, int k) { return now.seconds[k]; }
  static std::string line(State const& now, int k) {
    auto const& fits = now.fits;
    auto const change = k > 0 ? fmt::format(", change {:.3e}", fits[k] - fits[k - 1]) : "";
    return fmt::format("fit {:.10f}", fits[k]) + change;
  }
  static std::string brief(State const& now) { return fmt::format("fit {:.6f}", now.fits.back()); }

  static int iterations(Result const& result) { return static_cast<int>(result.fits.size()); }
  static IterationReport iteration(Result const& result, int k) {
    return {k + 1, result.seconds[k], {{"fit", result.fits[k]}}};
  }
  static NamedValues results(Result const& result) { return {{"fit", result.fit()}}; }
  static std::string summary(Result const& result) {
    return fmt::format("fit {:.10f}", result.fit());
  }
  static void check(Result const&) {}  // every fit is an answer
  static constexpr char const* score_name = "fit";
  static std::string score(double fit) { return fmt::format("{:.10f}", fit); }

  struct Arrays {
    std::vector<CheckpointArray> arrays;
  };
  static Arrays arrays(Snapshot const& state) {
    return {{array_of("fits", state.fits), array_of("seconds", state.seconds)}};
  }
  static void load(Checkpoint const& checkpoint, Snapshot& state) {
    std::size_t const iterations = checkpoint.array("fits").size() / sizeof(double);
    state.fits = command::load<double>(checkpoint, "fits", iterations);
    state.seconds = command::load<double>(checkpoint, "seconds", iterations);
  }
};

}  // namespace sporades::command
