// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <map>
#include <sporades/kernels/mttkrp.hpp>
#include <sporades/kernels/spttm.hpp>
#include <sporades/kernels/ttm_chain.hpp>
#include <support/benchmarks.hpp>
#include <support/fiber_lengths.hpp>
#include <support/tensors.hpp>

/// What the trees of the selector ask about, as counters for perf/train_selector.py, and the time
/// that it takes to find that out.

namespace sporades::perf {
namespace {

using sporades::detail::Feature;
using sporades::detail::Features;

void count_features(benchmark::State& state, Features const& features) {
  for (std::size_t k = 0; k < sporades::detail::feature_count; ++k)
    state.counters[sporades::detail::feature_names[k].name] = features[static_cast<Feature>(k)];
}

template <class Scalar>
void run_layout(benchmark::State& state, std::string const& name, int rank) {
  auto const& X = tensor<Scalar>(name);
  Features features;
  measure(state, ExecutionSpace{}, [&] {
    features = sporades::detail::layout_features(X.dims, X.nnz(),
                                                 sporades::detail::row_bytes<Scalar>(rank));
  });
  count_features(state, features);
}

using Counters = std::map<std::string, double>;

/// Of the nonzeros sorted for one mode: the mean lengths of runs, length1 to length(N - 2), that
/// agree in the first other modes; of SpTTM's fibers; and of the models of TTM chains.
template <class Scalar>
Counters mode_counters(std::string const& name, int mode) {
  ExecutionSpace const exec{};
  auto const X = copy_to(exec, tensor<Scalar>(name));
  int const N = X.order();
  auto const nnz = static_cast<double>(X.nnz());
  Counters counters{{"order", N}, {"nonzeros", nnz}};
  auto const modes = sporades::detail::mttkrp_mode_order(X.dims, mode);
  auto const packed = make_packed(exec, sorted(exec, X, modes), mode);
  for (int k = 1; k <= N - 2; ++k)
    counters["length" + std::to_string(k)] = sporades::detail::run_length(exec, packed, k);
  std::vector<int> others;
  for (int m = 0; m < N; ++m)
    if (m != mode) others.push_back(m);
  others.push_back(mode);
  auto const [mean, deviation] = fiber_lengths(exec, make_hierarchical(exec, X, others).fibers);
  counters["fiber_length"] = mean;
  counters["fiber_spread"] = deviation / mean;
  counters["empty_rows"] = 1 / nnz;
  for (int m = 0; m < N; ++m)
    if (m != mode) counters["empty_rows"] *= static_cast<double>(X.dims[m]);
  if (N < 3) return counters;
  sporades::detail::TupleCounts const tuples(exec, X);
  counters["time_share"] = sporades::detail::chain_features(tuples, X.dims, chain_ranks(X.dims),
                                                            mode)[Feature::time_share];
  return counters;
}

template <class Scalar>
void run_mode(benchmark::State& state, std::string const& name, int mode) {
  auto& [key, counters] = kept<std::pair<std::string, Counters>>();
  if (key != name + std::to_string(mode)) {
    counters = mode_counters<Scalar>(name, mode);
    key = name + std::to_string(mode);
  }
  for (auto _ : state) state.SetIterationTime(1e-9);  // nothing is timed
  for (auto const& [counter, value] : counters) state.counters[counter] = value;
}

template <class Scalar>
void add_for(Settings const& settings) {
  for (auto const& name : settings.tensors) {
    int const N = order_of<Scalar>(name);
    std::string const what = "selector/" + short_name(name) + "/" + scalar_name<Scalar>();
    for (int rank : settings.ranks)
      add(what + "/R" + std::to_string(rank),
          [=](benchmark::State& state) { run_layout<Scalar>(state, name, rank); });
    for (int mode = 0; mode < N; ++mode)
      add(what + "/mode" + std::to_string(mode),
          [=](benchmark::State& state) { run_mode<Scalar>(state, name, mode); });
  }
}

}  // namespace

void add_selector(Settings const& settings) {
  for_scalars(settings, [&](auto zero) { add_for<decltype(zero)>(settings); });
}

}  // namespace sporades::perf
