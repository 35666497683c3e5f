// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/core/random.hpp>
#include <sporades/kernels/loss_samples.hpp>
#include <support/benchmarks.hpp>
#include <support/measure.hpp>
#include <support/tensors.hpp>

namespace sporades::perf {
namespace {

constexpr Position drawn = Position{1} << 17;  // cells, and as many entries

template <class Plan>
struct Prepared {
  std::string key;
  Plan plan;
  KruskalTensor<double, MemorySpace> model;
  Factors<double, MemorySpace> V;
};

/// What make_plan(X, products) makes of a tensor of ones, which each loss allows, with a model. In
/// double, as models are fitted.
template <class Plan, class MakePlan>
Prepared<Plan>& prepared(std::string const& name, int rank, MakePlan const& make_plan) {
  ExecutionSpace const exec{};
  std::string const key = name + " " + std::to_string(rank);
  if (kept<Prepared<Plan>>().key == key) return kept<Prepared<Plan>>();
  kept<Prepared<Plan>>() = {};
  auto& made = kept<Prepared<Plan>>();
  auto X = copy_to(exec, tensor<double>(name));
  X.values = decltype(X.values)("values", X.nnz());
  Kokkos::deep_copy(X.values, 1.0);
  MttkrpAllModesOptions products;
  products.products.rank = rank;
  made.plan = make_plan(exec, X, products);
  made.model.weights = decltype(made.model.weights)("weights", rank);
  Kokkos::deep_copy(made.model.weights, 1.0);
  for (int n = 0; n < X.order(); ++n) {
    made.model.factors.push_back(
        sporades::detail::random_factor<double>(exec, "A", X.dims[n], rank, 1, n));
    made.V.push_back(sporades::detail::random_factor<double>(exec, "V", X.dims[n], rank, 2, n));
  }
  made.key = key;
  return made;
}

/// The exact gradient; absent entries are zeros where f(0, m) is a polynomial.
template <class Loss>
void run(benchmark::State& state, std::string const& name, int rank, Loss const& loss) {
  ExecutionSpace const exec{};
  auto& made = prepared<LossGradientPlan<double, std::uint32_t, MemorySpace>>(
      name, rank, [](auto const& on, auto const& X, auto const& products) {
        return make_loss_gradient_plan(on, X, products);
      });
  auto const absent = loss.at_zero() ? AbsentEntries::zero : AbsentEntries::missing;
  measure(state, exec, [&] { loss_gradient(exec, made.plan, made.model, loss, absent, made.V); });
  state.SetLabel(to_string(absent));
}

/// An estimate of the gradient from cells and entries that are drawn anew in each call.
template <class Loss>
void run_sampled(benchmark::State& state, std::string const& name, int rank, Loss const& loss) {
  ExecutionSpace const exec{};
  auto& made = prepared<LossSamplesPlan<double, std::uint32_t, MemorySpace>>(
      name, rank, [](auto const& on, auto const& X, auto const& products) {
        LossSampleOptions options;
        options.samples = options.nonzeros = drawn;
        return make_loss_samples_plan(on, X, options, products);
      });
  std::uint64_t step = 0;
  measure(state, exec,
          [&] { estimated_gradient(exec, made.plan, made.model, loss, step++, made.V); });
  state.SetLabel(std::to_string(drawn) + " cells, as many entries");
}

}  // namespace

void add_loss_gradient(Settings const& settings) {
  for (auto const& scalar : settings.scalars) {
    if (scalar != scalar_name<double>()) continue;
    for (auto const& name : settings.tensors)
      for (int rank : settings.ranks) {
        auto const add_one = [&](std::string const& how, auto const& run_one) {
          add("loss_gradient/" + short_name(name) + "/double/" + how + "/R" + std::to_string(rank) +
                  "/all",
              [=](benchmark::State& state) { run_one(state, name, rank); });
        };
        auto const add_loss = [&](auto const& loss) {
          add_one(loss.name(), [=](auto& state, auto const& X, int R) { run(state, X, R, loss); });
        };
        add_loss(GaussianLoss{});
        add_loss(PoissonLoss{});
        add_loss(BernoulliLogitLoss{});
        add_one("bernoulli-odds:sampled", [](auto& state, auto const& X, int R) {
          run_sampled(state, X, R, BernoulliOddsLoss{});
        });
      }
  }
}

}  // namespace sporades::perf
