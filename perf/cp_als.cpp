// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/cp_als.hpp>
#include <support/benchmarks.hpp>
#include <support/tensors.hpp>

namespace sporades::perf {
namespace {

/// Ten iterations from one start; the time is of one. The parts come from a second run, whose
/// kernels are fenced one by one.
template <class Scalar>
void run(benchmark::State& state, std::string const& name, int rank) {
  ExecutionSpace const exec{};
  auto const X = copy_to(exec, tensor<Scalar>(name));
  CpAlsOptions options;
  options.rank = rank;
  options.iterations = 10;
  options.tolerance = 0;
  auto problem = make_cp_als_problem(exec, X, options);
  auto iterate = [&] {
    auto start = cp_als_start(exec, X, options);
    return cp_als(exec, problem, options, start);
  };
  iterate();
  for (auto _ : state) {
    double total = 0;
    for (double seconds : iterate().seconds) total += seconds;
    state.SetIterationTime(total / options.iterations);
  }
  options.time_kernels = true;
  for (auto const& [label, time] : iterate().kernels)
    state.counters[label + " ms"] = 1e3 * time.seconds / options.iterations;
}

}  // namespace

void add_cp_als(Settings const& settings) {
  for (auto const& name : settings.tensors)
    for (int rank : settings.ranks) {
      std::string const end = "/R" + std::to_string(rank);
      if (settings.has_scalar("double"))
        add("cp_als/" + short_name(name) + "/double" + end,
            [=](benchmark::State& state) { run<double>(state, name, rank); });
      if (settings.has_scalar("float"))
        add("cp_als/" + short_name(name) + "/float" + end,
            [=](benchmark::State& state) { run<float>(state, name, rank); });
    }
}

}  // namespace sporades::perf
