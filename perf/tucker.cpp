// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <sporades/algorithms/definitions.hpp>
#include <sporades/core/timer.hpp>
#include <support/benchmarks.hpp>
#include <support/measure.hpp>
#include <support/tensors.hpp>

namespace sporades::perf {
namespace {

/// A plan and factors on the device, made once for all modes.
template <class Scalar>
struct PreparedChains {
  std::string key;
  TtmChainPlan<Scalar, std::uint32_t, MemorySpace> plan;
  Factors<Scalar, MemorySpace> A;
};

/// The chain of one mode.
template <class Scalar>
void run_chain(benchmark::State& state, std::string const& name, std::string const& strategy,
               int mode) {
  ExecutionSpace const exec{};
  auto& [key, plan, A] = kept<PreparedChains<Scalar>>();
  if (key != name + " " + strategy) {
    kept<PreparedChains<Scalar>>() = {};
    auto const X = copy_to(exec, tensor<Scalar>(name));
    auto const ranks = chain_ranks(X.dims);
    plan = make_ttm_chain_plan(exec, X, ranks,
                               TtmChainOptions{from_name<TtmChainStrategy>(strategy), 0});
    for (int n = 0; n < X.order(); ++n)
      A.push_back(sporades::detail::random_factor<Scalar>(exec, "A", X.dims[n], ranks[n], 1, n));
    key = name + " " + strategy;
  }
  measure(state, exec, [&, &plan = plan, &A = A] { ttm_chain(exec, plan, A, mode); });
  auto const cost = ttm_chain_cost(plan, mode);
  count<Scalar>(state, cost.bytes, cost.flops);
  state.SetLabel(describe(plan.choices[mode]));
}

/// Six iterations from one start; the time is the median one's. The parts come from a second run,
/// whose kernels are fenced one by one.
template <class Scalar>
void run_tucker(benchmark::State& state, std::string const& name) {
  ExecutionSpace const exec{};
  auto const X = copy_to(exec, tensor<Scalar>(name));
  TuckerOptions options;
  options.ranks = chain_ranks(X.dims);
  options.iterations = 6;
  options.tolerance = 0;
  auto problem = make_tucker_problem(exec, X, options);
  auto iterate = [&] {
    auto start = tucker_start(exec, X, options);
    return tucker(exec, problem, options, start);
  };
  for (auto _ : state) {
    auto seconds = iterate().seconds;
    std::sort(seconds.begin(), seconds.end());
    state.SetIterationTime(seconds[seconds.size() / 2]);
  }
  options.time_kernels = true;
  double chains = 0, vectors = 0;
  for (auto const& [label, time] : iterate().kernels) {
    state.counters[label + " ms"] = 1e3 * time.seconds / options.iterations;
    (label.rfind("ttm_chain", 0) == 0 ? chains : vectors) += time.seconds;
  }
  state.counters["singular vectors and core, of all"] = vectors / (chains + vectors);
}

/// A whole run: how it computes chains and singular vectors.
struct WholeRun {
  char const* name;
  TtmChainStrategy strategy;
  SingularVectorMethod method;
  bool streams = false;  // copies of the nonzeros stay on the host, and move in each chain
};

constexpr WholeRun whole_runs[] = {
    {"automatic", TtmChainStrategy::automatic, SingularVectorMethod::automatic},
    {"gram", TtmChainStrategy::automatic, SingularVectorMethod::gram},
    {"lanczos", TtmChainStrategy::automatic, SingularVectorMethod::lanczos},
    {"svd", TtmChainStrategy::automatic, SingularVectorMethod::svd},
    // as Ma et al. (2018): SpTTM, SspTTMs and a direct SVD
    {"semi_sparse_svd", TtmChainStrategy::semi_sparse, SingularVectorMethod::svd},
    {"semi_sparse_svd_streamed", TtmChainStrategy::semi_sparse, SingularVectorMethod::svd, true}};

/// From nonzeros on the host to the model on the device: copying, sorting, a random start, three
/// iterations and the core. Ranks are those asked for, or a mode's length where that is less. Table
/// 6 of Ma et al. (2018) has whole runs; it says neither ranks nor iterations.
template <class Scalar>
void run_whole(benchmark::State& state, std::string const& name, int rank, WholeRun const& run) {
  ExecutionSpace const exec{};
  auto const& X = tensor<Scalar>(name);
  TuckerOptions options;
  for (auto dim : X.dims)
    options.ranks.push_back(static_cast<int>(std::min<std::uint64_t>(dim, rank)));
  options.iterations = 3;
  options.tolerance = 0;
  options.strategy = run.strategy;
  options.singular_vectors = run.method;
  options.streaming.always = run.streams;
  options.time_kernels = true;  // some fences, of whole seconds
  for (auto _ : state) {
    sporades::detail::Timer const timer;
    auto const result = tucker(exec, copy_to(exec, X), options);
    double const whole = timer.seconds();
    state.SetIterationTime(whole);
    double chains = 0, vectors = 0, core = 0;
    for (auto const& [label, time] : result.kernels)
      (label.rfind("ttm_chain", 0) == 0  ? chains
       : label.rfind("singular", 0) == 0 ? vectors
                                         : core) += time.seconds;
    state.counters["ttm_chain ms"] = 1e3 * chains;
    state.counters["singular vectors ms"] = 1e3 * vectors;
    state.counters["core ms"] = 1e3 * core;
    state.counters["preparation ms"] = 1e3 * (whole - chains - vectors - core);
    state.counters["fit"] = result.fit();
    state.counters["iterations"] = result.iterations();
  }
}

template <class Scalar>
void add_whole(std::string const& name, int rank) {
  for (auto const& run : whole_runs) {
    if (run.streams && !sporades::detail::is_gpu<ExecutionSpace>) continue;
    auto* const added =
        add("tucker_run/" + short_name(name) + "/" + scalar_name<Scalar>() + "/R" +
                std::to_string(rank) + "/" + run.name,
            [=](benchmark::State& state) { run_whole<Scalar>(state, name, rank, run); });
    // An SVD takes minutes of large tensors.
    if (run.method == SingularVectorMethod::svd) added->Repetitions(1);
  }
}

template <class Scalar>
void add_for(std::string const& name) {
  int const N = order_of<Scalar>(name);
  std::string const end =
      "/" + short_name(name) + "/" + scalar_name<Scalar>() + "/R" + std::to_string(chain_rank(N));
  for (auto const& strategy : names_of<TtmChainStrategy>())
    for (int mode = 0; mode < N; ++mode)
      add("ttm_chain" + end + "/" + strategy + "/mode:" + std::to_string(mode),
          [=](benchmark::State& state) { run_chain<Scalar>(state, name, strategy, mode); });
  add("tucker" + end, [=](benchmark::State& state) { run_tucker<Scalar>(state, name); });
}

}  // namespace

void add_tucker(Settings const& settings) {
  for_scalars(settings, [&](auto zero) {
    for (auto const& name : settings.tensors) {
      add_for<decltype(zero)>(name);
      for (int rank : settings.ranks) add_whole<decltype(zero)>(name, rank);
    }
  });
}

}  // namespace sporades::perf
