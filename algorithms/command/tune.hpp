// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <sporades/algorithms/command/backend.hpp>
#include <sporades/algorithms/command/model_memory.hpp>
#include <sporades/algorithms/command/tuned_strategies.hpp>
#include <sporades/algorithms/detail/decompose.hpp>
#include <sporades/algorithms/run.hpp>
#include <sporades/core/names.hpp>

/// --tune: a few iterations with each strategy tell which one is the fastest for this tensor.

namespace sporades::command {

namespace detail {

/// X for a run with these options, which place sets; none where it is refused or would stream, and
/// `refusal` is set then. keeps_X: while X stays, too.
template <class Method, class Tensor, class Options>
auto placed_resident(ModelMemory<Method> const& memory, Tensor const& X, Options& options,
                     bool keeps_X, std::string& refusal) {
  std::optional<decltype(memory.place(X, options, keeps_X))> placed;
  try {
    memory.check_least(X, options);
    placed = memory.place(X, options, keeps_X);
    if (!placed->is_streamed) return placed;
    refusal = "the tensor would be streamed";
  } catch (Error const& error) {
    refusal = error.what();
  }
  placed.reset();
  return placed;
}

/// The least time of an iteration: of four, and of more where these take less than a tenth of a
/// second. 0 where the strategy is refused, does not fit the memory, or would stream the tensor;
/// sets `refusal` then. method: a copy, whose options are changed.
template <class Exec, class Method, class Tensor, class Strategy>
double seconds_by(Exec const& exec, Method method, ModelMemory<Method> const& memory,
                  Tensor const& X, Strategy strategy, std::string& refusal) {
  auto& options = method.options;
  options.strategy = strategy;
  options.init = decltype(options.init)::random;
  options.starts = 1;
  options.iterations = 4;
  options.tolerance = 0;
  options.time_kernels = false;
  auto placed = placed_resident(memory, X, options, true, refusal);
  if (!placed) return 0;
  try {
    using Problem = typename Method::Problem;
    sporades::detail::Starts<typename Method::State> starts;
    starts.state = sporades::detail::first_start<Problem>(exec, placed->X, options);
    Problem problem =
        sporades::detail::Method<Exec, Problem>::make({}, exec, hand_over(placed->X), options);
    auto const iterate = [&] {
      return method.solve(exec, problem, starts, [](IterationInfo const&) { return true; }, {})
          .seconds;
    };
    auto seconds = iterate();
    double const sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    if (sum < 0.1) {
      options.iterations = static_cast<int>(std::min(200.0, 4 + 0.4 / std::max(sum, 1e-6)));
      seconds = iterate();
    }
    return *std::min_element(seconds.begin(), seconds.end());
  } catch (std::exception const& error) {
    if (!dynamic_cast<Error const*>(&error) && !says_memory_ran_out(error)) throw;
    refusal = error.what();
    return 0;
  }
}

}  // namespace detail

/// Where no strategy was asked for, sets the fastest of Method::tuned with which this run fits the
/// memory, by what was measured before or is now, which `file` keeps. facts: of the run, of which
/// those count that the time depends on. Returns what to say. Throws Error or RunError where the
/// file cannot be read or written.
template <class Exec, class Method, class Tensor>
std::string tune(Exec const& exec, Method& method, ModelMemory<Method> const& memory,
                 Tensor const& X, Facts const& facts, TunedFile const& file) {
  auto& strategy = method.options.strategy;
  using Strategy = std::decay_t<decltype(strategy)>;
  if (strategy != Strategy::automatic) return "";
  TunedStrategies known(file.path);
  Facts counted{{"threads", std::to_string(host_threads(exec))}};
  if (memory.limit() > 0)
    counted.emplace_back("memory", sporades::detail::bytes_text(memory.limit()));
  for (auto const& fact : facts)
    if (fact.first != "seed" && fact.first != "starts" && fact.first != "init" &&
        fact.first != "strategy" && fact.first != "iterations" && fact.first != "tolerance")
      counted.push_back(fact);
  std::string refusal;
  auto times = known.find(counted, {std::begin(Method::tuned), std::end(Method::tuned)});
  if (times.empty()) {
    for (auto const* const name : Method::tuned) {
      double const seconds =
          detail::seconds_by(exec, method, memory, X, from_name<Strategy>(name), refusal);
      if (seconds > 0) times.push_back({name, seconds});
      sporades::detail::return_freed_memory();
    }
    if (times.empty()) return "--tune: nothing was measured: " + refusal;
    std::stable_sort(times.begin(), times.end(),
                     [](auto const& a, auto const& b) { return a.seconds < b.seconds; });
    known.add(counted, times);
  }
  auto const chosen = std::find_if(times.begin(), times.end(), [&](auto const& time) {
    auto options = method.options;
    options.strategy = from_name<Strategy>(time.strategy);
    return detail::placed_resident(memory, X, options, false, refusal).has_value();
  });
  if (chosen == times.end()) return "--tune: no strategy is taken: " + refusal;
  strategy = from_name<Strategy>(chosen->strategy);
  auto text = "strategy " + chosen->strategy + ", by --tune; milliseconds an iteration:";
  for (auto const& time : times)
    text += (&time == &times[0] ? " " : ", ") + time.strategy + " " +
            fmt::format("{:.3g}", 1e3 * time.seconds);
  return text + file.note;
}

}  // namespace sporades::command
