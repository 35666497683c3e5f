// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <sporades/core/error.hpp>
#include <sporades/core/timer.hpp>
#include <sporades/core/types.hpp>
#include <string>
#include <support/profile.hpp>
#include <support/settings.hpp>

namespace sporades::perf {

using ExecutionSpace = Kokkos::DefaultExecutionSpace;
using MemorySpace = ExecutionSpace::memory_space;

template <class Scalar>
constexpr char const* scalar_name() {
  return sizeof(Scalar) == 4 ? "float" : "double";
}

/// What is kept from one benchmark to the next, cleared before Kokkos ends.
template <class Kept>
Kept& kept() {
  static Kept value;
  static bool const is_cleared_in_time = [] {
    Kokkos::push_finalize_hook([] { value = {}; });
    return true;
  }();
  static_cast<void>(is_cleared_in_time);
  return value;
}

/// Bytes a second of the triad on this machine, measured once a scalar type.
template <class Scalar>
double triad_bandwidth();

/// Seconds that this many calls of work() and one fence take.
template <class Work>
double seconds_of(int calls, Work const& work) {
  Kokkos::fence();  // the whole device: native loops do not run on the instance
  sporades::detail::Timer const timer;
  for (int c = 0; c < calls; ++c) work();
  Kokkos::fence();
  return timer.seconds();
}

/// As many calls of work(), which was warmed up, as take some milliseconds.
template <class Work>
int calls_of_sample(Work const& work) {
  seconds_of(1, work);  // warm
  double const once = std::max(seconds_of(1, work), 1e-7);
  return static_cast<int>(std::clamp(5e-3 / once, 1.0, 1000.0));
}

/// Times work() on exec. One sample is as many calls as take some milliseconds and one fence, so
/// that the fence does not count. Report medians and minima over --benchmark_repetitions.
template <class Exec, class Work>
void measure(benchmark::State& state, Exec const&, Work const& work) {
  if (is_profiled()) return profile(state, work);
  int const calls = calls_of_sample(work);
  for (auto _ : state) state.SetIterationTime(seconds_of(calls, work) / calls);
}

/// A benchmark in manual time, milliseconds, with the minimum beside Google's mean and median. What
/// the library refuses, such as a strategy that a tensor does not allow, is skipped with its words.
template <class Function>
benchmark::internal::Benchmark* add(std::string const& name, Function&& function) {
  auto const skipping = [function](benchmark::State& state) {
    try {
      function(state);
    } catch (Error const& error) {
      state.SkipWithError(error.what());
    }
  };
  return benchmark::RegisterBenchmark(name.c_str(), skipping)
      ->UseManualTime()
      ->Iterations(1)  // a sample; take --benchmark_repetitions of them
      ->Unit(benchmark::kMillisecond)
      ->ComputeStatistics("min", [](std::vector<double> const& times) {
        return *std::min_element(times.begin(), times.end());
      });
}

/// Calls function(scalar) with a zero of each scalar type that the command line asks for.
template <class Function>
void for_scalars(Settings const& settings, Function const& function) {
  if (settings.has_scalar(scalar_name<double>())) function(double{});
  if (settings.has_scalar(scalar_name<float>())) function(float{});
}

/// What names the cost of a kernel.
template <class Scalar>
std::string key_of(std::string const& kernel, std::string const& tensor,
                   std::string const& strategy, int rank, int mode) {
  return kernel + " " + tensor + " " + scalar_name<Scalar>() + " " + strategy + " " +
         std::to_string(rank) + " " + std::to_string(mode);
}

/// ask(), the cost of a call of a kernel, once for each name: repetitions ask again, and models may
/// take a pass over the nonzeros to count the rows that these use.
template <class Ask>
Cost cost_of(std::string const& name, Ask const& ask) {
  static std::map<std::string, Cost> costs;
  auto const found = costs.find(name);
  return found != costs.end() ? found->second : costs[name] = ask();
}

/// bytes and flops of one call, and the share of the triad's bandwidth that the bytes reach.
template <class Scalar>
void count(benchmark::State& state, double bytes, double flops) {
  using benchmark::Counter;
  auto const rate = Counter::kIsIterationInvariantRate;
  state.counters["bytes/s"] = Counter(bytes, rate, Counter::kIs1000);
  state.counters["of_triad"] = Counter(bytes / triad_bandwidth<Scalar>(), rate);
  if (flops > 0) state.counters["flop/s"] = Counter(flops, rate, Counter::kIs1000);
}

}  // namespace sporades::perf
