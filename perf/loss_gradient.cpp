// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/core/random.hpp>
#include <sporades/kernels/loss_gradient.hpp>
#include <support/benchmarks.hpp>
#include <support/measure.hpp>
#include <support/tensors.hpp>

namespace sporades::perf {
namespace {

struct Prepared {
  std::string key;
  LossGradientPlan<double, std::uint32_t, MemorySpace> plan;
  KruskalTensor<double, MemorySpace> model;
  Factors<double, MemorySpace> V;
};

/// The gradient of one loss, whose absent entries are zeros where f(0, m) is a polynomial. The
/// values are ones, which each loss allows. In double, as models are fitted.
template <class Loss>
void run(benchmark::State& state, std::string const& name, int rank, Loss const& loss) {
  ExecutionSpace const exec{};
  auto& [key, plan, model, V] = kept<Prepared>();
  if (key != name + " " + std::to_string(rank)) {
    kept<Prepared>() = {};
    auto X = copy_to(exec, tensor<double>(name));
    X.values = decltype(X.values)("values", X.nnz());
    Kokkos::deep_copy(X.values, 1.0);
    MttkrpAllModesOptions options;
    options.products.rank = rank;
    plan = make_loss_gradient_plan(exec, X, options);
    model.weights = decltype(model.weights)("weights", rank);
    Kokkos::deep_copy(model.weights, 1.0);
    for (int n = 0; n < X.order(); ++n) {
      model.factors.push_back(
          sporades::detail::random_factor<double>(exec, "A", X.dims[n], rank, 1, n));
      V.push_back(sporades::detail::random_factor<double>(exec, "V", X.dims[n], rank, 2, n));
    }
    key = name + " " + std::to_string(rank);
  }
  auto const absent = loss.at_zero() ? AbsentEntries::zero : AbsentEntries::missing;
  measure(state, exec, [&, &plan = plan, &model = model, &V = V] {
    loss_gradient(exec, plan, model, loss, absent, V);
  });
  state.SetLabel(to_string(absent));
}

}  // namespace

void add_loss_gradient(Settings const& settings) {
  for (auto const& scalar : settings.scalars) {
    if (scalar != scalar_name<double>()) continue;
    for (auto const& name : settings.tensors)
      for (int rank : settings.ranks) {
        auto const add_loss = [&](auto const& loss) {
          add("loss_gradient/" + short_name(name) + "/double/" + loss.name() + "/R" +
                  std::to_string(rank) + "/all",
              [=](benchmark::State& state) { run(state, name, rank, loss); });
        };
        add_loss(GaussianLoss{});
        add_loss(PoissonLoss{});
        add_loss(BernoulliLogitLoss{});
      }
  }
}

}  // namespace sporades::perf
