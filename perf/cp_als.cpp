// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <sporades/algorithms/cp_als.hpp>
#include <support/benchmarks.hpp>
#include <support/tensors.hpp>

namespace sporades::perf {
namespace {

/// Ten iterations from one start; the time is the median one's. The parts come from a second run,
/// whose kernels are fenced one by one.
template <class Scalar>
void run(benchmark::State& state, std::string const& name, int rank, bool dimension_tree) {
  ExecutionSpace const exec{};
  auto const X = copy_to(exec, tensor<Scalar>(name));
  CpAlsOptions options;
  options.rank = rank;
  options.iterations = 10;
  options.tolerance = 0;
  options.dimension_tree = dimension_tree;
  auto problem = make_cp_als_problem(exec, X, options);
  auto iterate = [&] {
    auto start = cp_als_start(exec, X, options);
    return cp_als(exec, problem, options, start);
  };
  iterate();
  for (auto _ : state) {
    auto seconds = iterate().seconds;
    std::sort(seconds.begin(), seconds.end());
    state.SetIterationTime(seconds[seconds.size() / 2]);
  }
  options.time_kernels = true;
  for (auto const& [label, time] : iterate().kernels)
    state.counters[label + " ms"] = 1e3 * time.seconds / options.iterations;
}

}  // namespace

void add_cp_als(Settings const& settings) {
  for (auto const& name : settings.tensors)
    for (int rank : settings.ranks)
      for (bool tree : {true, false}) {
        std::string const end = "/R" + std::to_string(rank) + (tree ? "" : "/no_dimension_tree");
        if (settings.has_scalar("double"))
          add("cp_als/" + short_name(name) + "/double" + end,
              [=](benchmark::State& state) { run<double>(state, name, rank, tree); });
        if (settings.has_scalar("float"))
          add("cp_als/" + short_name(name) + "/float" + end,
              [=](benchmark::State& state) { run<float>(state, name, rank, tree); });
      }
}

}  // namespace sporades::perf
