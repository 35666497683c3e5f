// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <sporades/core/random.hpp>
#include <sporades/kernels/mttkrp_all_modes.hpp>
#include <support/benchmarks.hpp>
#include <support/tensors.hpp>

namespace sporades::perf {
namespace {

/// "fibers"; "fibers:1": with that split; "morton": `sorted` along a curve; "automatic+atomic":
/// with atomic flushes; "automatic+half": factors gathered in that precision; "flycoo:264:32" and
/// "flycoo-blocks:264:32": with these partitions and nonzeros at once.
MttkrpOptions options_named(std::string name, int rank) {
  MttkrpOptions options{MttkrpStrategy::automatic, rank};
  if (auto const plus = name.find('+'); plus != std::string::npos) {
    auto const after = name.substr(plus + 1);
    name = name.substr(0, plus);
    options.rows.atomic_flush = after == "atomic";
    if (!options.rows.atomic_flush) options.gather = from_name<GatherPrecision>(after);
  }
  if (auto const colon = name.find(':'); colon != std::string::npos) {
    auto const numbers = name.substr(colon + 1);
    name = name.substr(0, colon);
    if (name == "flycoo" || name == "flycoo-blocks")
      options.flycoo = {std::stoi(numbers), std::stoi(numbers.substr(numbers.find(':') + 1))};
    else
      options.rows.split = std::stoi(numbers);
  }
  if (name == "morton") options.rows.order = RowOrder::morton;
  if (name == "sorted") options.rows.order = RowOrder::lexicographic;
  if (name == "morton") name = "sorted";
  options.strategy = from_name<MttkrpStrategy>(name);
  return options;
}

/// A plan and factors on the device, made once for all benchmarks of one tensor and strategy.
template <class Scalar>
struct Prepared {
  std::string key;
  MttkrpPlan<Scalar, std::uint32_t, MemorySpace> plan;
  int rank = 0;
  Factors<Scalar, MemorySpace> owners;  // of the memory of A and V
  Factors<Scalar, MemorySpace> A, V;    // with their padding
};

template <class Scalar>
Prepared<Scalar>& prepare(std::string const& name, std::string const& strategy, int rank) {
  static Prepared<Scalar> prepared;
  static bool const is_cleared_in_time = [] {
    Kokkos::push_finalize_hook([] { prepared = {}; });
    return true;
  }();
  static_cast<void>(is_cleared_in_time);
  ExecutionSpace const exec{};
  std::string const key = name + " " + strategy;
  if (prepared.key != key) {
    prepared = {};
    auto const X = copy_to(exec, tensor<Scalar>(name));
    prepared.plan = make_mttkrp_plan(exec, X, options_named(strategy, rank));
    prepared.key = key;
  }
  if (prepared.rank != rank) {
    prepared.rank = rank;
    prepared.owners.clear();
    prepared.A.clear();
    prepared.V.clear();
    Dims const& dims = prepared.plan.dims;
    for (std::size_t n = 0; n < dims.size(); ++n) {
      prepared.owners.push_back(sporades::detail::random_factor<Scalar>(exec, "A", dims[n], rank, 1,
                                                                        static_cast<int>(n)));
      prepared.A.push_back(sporades::detail::with_padding(prepared.owners.back()));
      prepared.owners.push_back(make_matrix<Scalar>(exec, "V", dims[n], rank));
      prepared.V.push_back(sporades::detail::with_padding(prepared.owners.back()));
    }
  }
  return prepared;
}

template <class Scalar>
void run(benchmark::State& state, std::string const& name, std::string const& strategy, int rank,
         int mode) {
  ExecutionSpace const exec{};
  auto& prepared = prepare<Scalar>(name, strategy, rank);
  int const N = prepared.plan.order();
  int const first = mode < 0 ? 0 : mode, last = mode < 0 ? N : mode + 1;
  measure(state, exec, [&] {
    for (int n = first; n < last; ++n) mttkrp(exec, prepared.plan, prepared.A, n, prepared.V[n]);
  });
  double const nnz = static_cast<double>(prepared.plan.nnz);
  double bytes = 0, flops = 0, gathered = 0;  // gathered: a factor row a nonzero and other mode
  std::string chosen;
  for (int n = first; n < last; ++n) {
    auto const cost = cost_of(key_of<Scalar>("mttkrp", name, strategy, rank, n),
                              [&] { return mttkrp_cost(exec, prepared.plan, rank, n); });
    bytes += cost.bytes;
    flops += cost.flops;
    gathered += nnz * (N - 1) * rank * static_cast<double>(sizeof(Scalar));
    chosen += std::string(n > first ? " " : "") + describe(prepared.plan.choices[n]);
  }
  count<Scalar>(state, bytes, flops);
  state.counters["gathered/s"] =
      benchmark::Counter(gathered, benchmark::Counter::kIsIterationInvariantRate);
  state.SetLabel(chosen);
}

/// The products of strategies flycoo and flycoo-blocks on one mode, whose nonzeros stay where they
/// are: all that mttkrp does beside remaps.
template <class Scalar>
void run_unmoved(benchmark::State& state, std::string const& name, std::string const& strategy,
                 int rank, int n) {
  ExecutionSpace const exec{};
  auto& prepared = prepare<Scalar>(name, strategy, rank);
  auto& flycoo = *prepared.plan.formats.template as<FlycooTensor>(0);
  while (flycoo.mode != n) remap(exec, flycoo);
  auto const kind = prepared.plan.choices.front().strategy;
  measure(state, exec, [&] { mttkrp(exec, flycoo, prepared.A, n, prepared.V[n], kind); });
}

/// What strategy flycoo does after the products of all modes: N remaps.
template <class Scalar>
void run_remaps(benchmark::State& state, std::string const& name, std::string const& strategy,
                int rank) {
  ExecutionSpace const exec{};
  auto& flycoo = *prepare<Scalar>(name, strategy, rank).plan.formats.template as<FlycooTensor>(0);
  measure(state, exec, [&] {
    for (int n = 0; n < flycoo.order(); ++n) remap(exec, flycoo);
  });
  count<Scalar>(state, flycoo.order() * sporades::detail::remap_bytes(flycoo), 0);
  state.counters["bytes"] = static_cast<double>(flycoo.storage_bytes());
}

/// All modes by mttkrp_all_modes. The label says which modes are fused.
template <class Scalar>
void run_all_modes(benchmark::State& state, std::string const& name, std::string const& strategy,
                   int rank) {
  ExecutionSpace const exec{};
  auto const X = copy_to(exec, tensor<Scalar>(name));
  auto plan = make_mttkrp_all_modes_plan(exec, X, {options_named(strategy, rank)});
  Factors<Scalar, MemorySpace> A, V;
  for (std::size_t n = 0; n < X.dims.size(); ++n) {
    A.push_back(sporades::detail::random_factor<Scalar>(exec, "A", X.dims[n], rank, 1,
                                                        static_cast<int>(n)));
    V.push_back(make_matrix<Scalar>(exec, "V", X.dims[n], rank));
  }
  measure(state, exec, [&] { mttkrp_all_modes(exec, plan, A, V); });
  auto const cost = cost_of(key_of<Scalar>("all_modes", name, strategy, rank, -1),
                            [&] { return mttkrp_all_modes_cost(exec, plan, rank); });
  count<Scalar>(state, cost.bytes, cost.flops);
  std::string fused = plan.fused.empty() ? "no modes fused" : "fused:";
  for (int m : plan.fused) fused += " " + std::to_string(m);
  state.counters["bytes"] = static_cast<double>(plan.storage_bytes());
  state.SetLabel(fused);
}

template <class Scalar>
void add_for(Settings const& settings) {
  for (auto const& name : settings.tensors)
    for (auto const& strategy : settings.strategies) {
      if (strategy.rfind("flycoo", 0) == 0)
        add("remap/" + short_name(name) + "/" + scalar_name<Scalar>() + "/" + strategy + "/all",
            [=](benchmark::State& state) {
              run_remaps<Scalar>(state, name, strategy, settings.ranks.front());
            });
      for (int rank : settings.ranks) {
        int const N = order_of<Scalar>(name);
        add("all_modes/" + short_name(name) + "/" + scalar_name<Scalar>() + "/" + strategy + "/R" +
                std::to_string(rank),
            [=](benchmark::State& state) { run_all_modes<Scalar>(state, name, strategy, rank); });
        for (int mode = 0; strategy.rfind("flycoo", 0) == 0 && mode < N; ++mode)
          add("unmoved/" + short_name(name) + "/" + scalar_name<Scalar>() + "/" + strategy + "/R" +
                  std::to_string(rank) + "/mode" + std::to_string(mode),
              [=](benchmark::State& state) {
                run_unmoved<Scalar>(state, name, strategy, rank, mode);
              });
        for (int mode = -1; mode < N; ++mode)
          add("mttkrp/" + short_name(name) + "/" + scalar_name<Scalar>() + "/" + strategy + "/R" +
                  std::to_string(rank) + (mode < 0 ? "/all" : "/mode" + std::to_string(mode)),
              [=](benchmark::State& state) { run<Scalar>(state, name, strategy, rank, mode); });
      }
    }
}

}  // namespace

void add_mttkrp(Settings const& settings) {
  for_scalars(settings, [&](auto zero) { add_for<decltype(zero)>(settings); });
}

}  // namespace sporades::perf
