// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sporades/algorithms/command/backend.hpp>
#include <sporades/algorithms/command/model_memory.hpp>
#include <sporades/algorithms/command/tuned_strategies.hpp>
#include <sporades/algorithms/detail/starts.hpp>
#include <sporades/algorithms/run.hpp>
#include <sporades/core/names.hpp>

/// --tune: a few iterations with each strategy tell which one is the fastest for this tensor.

namespace sporades::command {

namespace detail {

/// The least time of a few iterations; 0 where the strategy is refused, does not fit the memory, or
/// would stream the tensor. method: a copy, whose options are changed.
template <class Exec, class Method, class Tensor, class Strategy>
double seconds_by(Exec const& exec, Method method, ModelMemory<Method> const& memory,
                  Tensor const& X, Strategy strategy) {
  auto& options = method.options;
  options.strategy = strategy;
  options.init = decltype(options.init)::random;
  options.starts = 1;
  options.iterations = 4;
  options.tolerance = 0;
  options.time_kernels = false;
  try {
    auto placed = memory.place(X, options);
    if (placed.is_streamed) return 0;
    sporades::detail::Starts<typename Method::State> starts;
    starts.state = method.start(exec, placed.X);
    auto problem = method.build(exec, hand_over(placed.X));
    auto const seconds =
        method.solve(exec, problem, starts, [](IterationInfo const&) { return true; }).seconds;
    return *std::min_element(seconds.begin(), seconds.end());
  } catch (Error const&) {
    return 0;
  }
}

}  // namespace detail

/// Where no strategy was asked for, sets the fastest of Method::tuned, by what was measured before
/// or is now; the file FILE.tune beside the tensor keeps it. facts: of the run, of which those
/// count that the time depends on. Returns what to say. Throws Error or RunError where the file
/// cannot be read or written.
template <class Exec, class Method, class Tensor>
std::string tune(Exec const& exec, Method& method, ModelMemory<Method> const& memory,
                 Tensor const& X, Facts const& facts, std::string const& file) {
  auto& strategy = method.options.strategy;
  using Strategy = std::decay_t<decltype(strategy)>;
  if (strategy != Strategy::automatic) return "";
  expects(std::filesystem::is_regular_file(file),
          "--tune keeps what it measures beside the tensor, and ", file, " is not a file on disk");
  TunedStrategies known(file + ".tune");
  Facts counted{{"threads", std::to_string(host_threads(exec))}};
  for (auto const& fact : facts)
    if (fact.first != "seed" && fact.first != "starts" && fact.first != "init" &&
        fact.first != "strategy" && fact.first != "iterations" && fact.first != "tolerance")
      counted.push_back(fact);
  auto times = known.find(counted);
  if (times.empty()) {
    for (auto const* const name : Method::tuned) {
      double const seconds = detail::seconds_by(exec, method, memory, X, from_name<Strategy>(name));
      if (seconds > 0) times.push_back({name, seconds});
    }
    if (times.empty()) return "";  // the run itself says why
    std::stable_sort(times.begin(), times.end(),
                     [](auto const& a, auto const& b) { return a.seconds < b.seconds; });
    known.add(counted, times);
  }
  strategy = from_name<Strategy>(times[0].strategy);
  auto text = "strategy " + times[0].strategy + ", by --tune; milliseconds an iteration:";
  for (auto const& time : times)
    text += (&time == &times[0] ? " " : ", ") + time.strategy + " " +
            sporades::detail::concatenate(std::round(1e5 * time.seconds) / 100);
  return text;
}

}  // namespace sporades::command
