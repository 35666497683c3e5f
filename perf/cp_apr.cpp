// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <sporades/algorithms/cp_apr.hpp>
#include <support/benchmarks.hpp>
#include <support/tensors.hpp>

namespace sporades::perf {
namespace {

/// X with the magnitudes of its values rounded up: counts.
template <class Tensor>
Tensor counts_of(Tensor X) {
  auto const values = X.values;
  X.values = decltype(X.values)("sporades::perf::counts", X.nnz());
  for (Position p = 0; p < X.nnz(); ++p) X.values(p) = std::ceil(std::abs(values(p)));
  return X;
}

/// Five outer iterations of ten inner ones from one start; the time is the median one's. The parts
/// come from a second run, whose kernels are fenced one by one.
template <class Scalar>
void run(benchmark::State& state, std::string const& name, int rank, CpAprMethod method) {
  ExecutionSpace const exec{};
  auto const X = copy_to(exec, counts_of(tensor<Scalar>(name)));
  CpAprOptions options;
  options.rank = rank;
  options.iterations = 5;
  options.tolerance = 0;
  options.method = method;
  auto problem = make_cp_apr_problem(exec, X, options);
  auto iterate = [&] {
    auto start = cp_apr_start<Scalar>(exec, X.dims, options);
    return cp_apr(exec, problem, options, start);
  };
  for (auto _ : state) {
    std::vector<double> seconds;
    for (auto const& iteration : iterate().iterations) seconds.push_back(iteration.seconds);
    std::sort(seconds.begin(), seconds.end());
    state.SetIterationTime(seconds[seconds.size() / 2]);
  }
  options.time_kernels = true;
  for (auto const& [label, time] : iterate().kernels)
    state.counters[label + " ms"] = 1e3 * time.seconds / options.iterations;
}

}  // namespace

void add_cp_apr(Settings const& settings) {
  for (auto const& name : settings.tensors)
    for (int rank : settings.ranks)
      for (auto method : {CpAprMethod::mu}) {
        std::string const end = "/R" + std::to_string(rank) + "/" + to_string(method);
        if (settings.has_scalar("double"))
          add("cp_apr/" + short_name(name) + "/double" + end,
              [=](benchmark::State& state) { run<double>(state, name, rank, method); });
        if (settings.has_scalar("float"))
          add("cp_apr/" + short_name(name) + "/float" + end,
              [=](benchmark::State& state) { run<float>(state, name, rank, method); });
      }
}

}  // namespace sporades::perf
