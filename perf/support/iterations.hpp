// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <map>
#include <sporades/core/timer.hpp>
#include <string>
#include <support/measure.hpp>
#include <vector>

namespace sporades::perf {

/// Times one iteration of an algorithm. solve(options) runs options.iterations of them from the
/// same start, and seconds(result) says how long each took: the median one's time counts. The parts
/// come from one more run, whose kernels are fenced one by one; gives back their seconds in an
/// iteration, by label.
template <class Options, class Solve, class Seconds>
std::map<std::string, double> measure_iterations(benchmark::State& state, Options options,
                                                 Solve const& solve, Seconds const& seconds) {
  solve(options);  // warm
  for (auto _ : state) {
    std::vector<double> times = seconds(solve(options));
    std::sort(times.begin(), times.end());
    state.SetIterationTime(times[times.size() / 2]);
  }
  options.time_kernels = true;
  std::map<std::string, double> parts;
  for (auto const& [label, time] : solve(options).kernels) {
    parts[label] = time.seconds / options.iterations;
    state.counters[label + " ms"] = 1e3 * parts[label];
  }
  return parts;
}

}  // namespace sporades::perf
