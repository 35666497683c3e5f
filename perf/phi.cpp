// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <sporades/core/random.hpp>
#include <sporades/kernels/phi.hpp>
#include <support/benchmarks.hpp>
#include <support/tensors.hpp>

namespace sporades::perf {
namespace {

struct Strategy {
  char const* name;
  PhiStrategy strategy;
  Pi pi;
};

/// A plan and factors on the device, made once for all benchmarks of one tensor and strategy.
template <class Scalar>
struct Prepared {
  std::string key;
  PhiPlan<Scalar, std::uint32_t, MemorySpace> plan;
  Factors<Scalar, MemorySpace> owners;   // of the memory of A, B and V
  Factors<Scalar, MemorySpace> A, B, V;  // with their padding
};

template <class Scalar>
Prepared<Scalar>& prepare(std::string const& name, Strategy const& strategy, int rank) {
  static Prepared<Scalar> prepared;
  static bool const is_cleared_in_time = [] {
    Kokkos::push_finalize_hook([] { prepared = {}; });
    return true;
  }();
  static_cast<void>(is_cleared_in_time);
  std::string const key = name + " " + strategy.name + " " + std::to_string(rank);
  if (prepared.key == key) return prepared;
  ExecutionSpace const exec{};
  prepared = {};
  auto X = copy_to(exec, tensor<Scalar>(name));
  prepared.plan = make_phi_plan(exec, X, {strategy.strategy, rank, strategy.pi});
  for (int n = 0; n < X.order(); ++n)
    for (auto* const list : {&prepared.A, &prepared.B, &prepared.V}) {
      prepared.owners.push_back(
          sporades::detail::random_factor<Scalar>(exec, "A", X.dims[n], rank, 1, n));
      list->push_back(sporades::detail::with_padding(prepared.owners.back()));
    }
  prepared.key = key;
  return prepared;
}

template <class Scalar>
void run(benchmark::State& state, std::string const& name, Strategy const& strategy, int rank,
         int mode, bool only_pi) {
  ExecutionSpace const exec{};
  auto& prepared = prepare<Scalar>(name, strategy, rank);
  int const N = prepared.plan.order();
  int const first = mode < 0 ? 0 : mode, last = mode < 0 ? N : mode + 1;
  bool const is_stored = strategy.pi == Pi::stored;
  if (is_stored && !only_pi) update_pi(exec, prepared.plan, prepared.A, first);
  measure(state, exec, [&] {
    for (int n = first; n < last; ++n)
      if (only_pi)
        update_pi(exec, prepared.plan, prepared.A, n);
      else
        phi(exec, prepared.plan, prepared.A, prepared.B[n], n, prepared.V[n], 1e-10);
  });
  double bytes = 0, flops = 0;
  for (int n = first; n < last; ++n) {
    auto const cost =
        cost_of(key_of<Scalar>(only_pi ? "pi" : "phi", name, strategy.name, rank, n), [&] {
          return only_pi ? update_pi_cost(exec, prepared.plan, rank, n)
                         : phi_cost(exec, prepared.plan, rank, n);
        });
    bytes += cost.bytes;
    flops += cost.flops;
  }
  count<Scalar>(state, bytes, flops);
  state.SetLabel(to_string(prepared.plan.strategy));
}

template <class Scalar>
void add_for(Settings const& settings) {
  Strategy const strategies[] = {{"automatic", PhiStrategy::automatic, Pi::on_the_fly},
                                 {"pull", PhiStrategy::pull, Pi::on_the_fly},
                                 {"alto", PhiStrategy::alto, Pi::on_the_fly},
                                 {"alto-atomic", PhiStrategy::alto_atomic, Pi::on_the_fly},
                                 {"coo-alto-atomic", PhiStrategy::coo_alto_atomic, Pi::on_the_fly},
                                 {"coo-alto-pull", PhiStrategy::coo_alto_pull, Pi::on_the_fly},
                                 {"atomic", PhiStrategy::atomic, Pi::on_the_fly},
                                 {"pull_stored_pi", PhiStrategy::pull, Pi::stored}};
  for (auto const& name : settings.tensors)
    for (auto const& strategy : strategies)
      for (int rank : settings.ranks) {
        int const N = order_of<Scalar>(name);
        bool const is_stored = strategy.pi == Pi::stored;
        std::string const end = "/" + short_name(name) + "/" + scalar_name<Scalar>() + "/" +
                                strategy.name + "/R" + std::to_string(rank);
        for (int mode = is_stored ? 0 : -1; mode < N; ++mode)
          for (bool only_pi : {false, true}) {
            if (only_pi && !is_stored) continue;
            add((only_pi ? "pi" : "phi") + end +
                    (mode < 0 ? "/all" : "/mode" + std::to_string(mode)),
                [=](benchmark::State& state) {
                  run<Scalar>(state, name, strategy, rank, mode, only_pi);
                });
          }
      }
}

}  // namespace

void add_phi(Settings const& settings) {
  for_scalars(settings, [&](auto zero) { add_for<decltype(zero)>(settings); });
}

}  // namespace sporades::perf
