// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/definitions.hpp>
#include <support/benchmarks.hpp>
#include <support/iterations.hpp>
#include <support/tensors.hpp>

namespace sporades::perf {
namespace {

/// Five outer iterations of ten inner ones; the row solvers' come after those that take one step a
/// row, which are not counted. phi_share, pi_share: the parts of multiplicative updates that are
/// Phi, and Pi where that is stored.
template <class Scalar>
void run(benchmark::State& state, std::string const& name, int rank, CpAprMethod method, Pi pi) {
  ExecutionSpace const exec{};
  auto const X = copy_to(exec, counts_of(tensor<Scalar>(name)));
  CpAprOptions options;
  options.rank = rank;
  int const skipped = method == CpAprMethod::mu ? 0 : sporades::detail::RowOptions().warm_up;
  options.iterations = skipped + 5;
  options.tolerance = 0;
  options.method = method;
  options.pi = pi;
  auto problem = make_cp_apr_problem(exec, X, options);
  auto const solve = [&](CpAprOptions const& with) {
    auto start = cp_apr_start<Scalar>(exec, X.dims, with);
    return cp_apr(exec, problem, with, start);
  };
  auto const parts = measure_iterations(state, options, solve, [&](auto const& result) {
    auto seconds = result.seconds;
    seconds.erase(seconds.begin(), seconds.begin() + skipped);
    return seconds;
  });
  if (method != CpAprMethod::mu) return;
  double phi_seconds = 0, pi_seconds = 0, all = 0;
  for (auto const& [label, seconds] : parts) {
    all += seconds;
    if (label.rfind("phi ", 0) == 0) phi_seconds += seconds;
    if (label.rfind("pi ", 0) == 0) pi_seconds += seconds;
  }
  state.counters["phi_share"] = phi_seconds / all;
  if (pi == Pi::stored) state.counters["pi_share"] = pi_seconds / all;
}

}  // namespace

void add_cp_apr(Settings const& settings) {
  for (auto const& name : settings.tensors)
    for (int rank : settings.ranks)
      for_scalars(settings, [&](auto zero) {
        using Scalar = decltype(zero);
        std::string const start = "cp_apr/" + short_name(name) + "/" + scalar_name<Scalar>() +
                                  "/R" + std::to_string(rank) + "/";
        for (auto method : {CpAprMethod::mu, CpAprMethod::pdnr, CpAprMethod::pqnr})
          add(start + to_string(method), [=](benchmark::State& state) {
            run<Scalar>(state, name, rank, method, Pi::on_the_fly);
          });
        add(start + "mu_stored_pi", [=](benchmark::State& state) {
          run<Scalar>(state, name, rank, CpAprMethod::mu, Pi::stored);
        });
      });
}

}  // namespace sporades::perf
