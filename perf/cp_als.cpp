// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/definitions.hpp>
#include <support/benchmarks.hpp>
#include <support/iterations.hpp>
#include <support/tensors.hpp>

namespace sporades::perf {
namespace {

template <class Scalar>
void run(benchmark::State& state, std::string const& name, int rank, bool dimension_tree) {
  ExecutionSpace const exec{};
  auto const X = copy_to(exec, tensor<Scalar>(name));
  CpAlsOptions options;
  options.rank = rank;
  options.iterations = 10;
  options.tolerance = 0;
  options.dimension_tree = dimension_tree;
  options.init = CpAlsInit::random;
  auto problem = make_cp_als_problem(exec, X, options);
  auto const solve = [&](CpAlsOptions const& with) {
    auto start = cp_als_start(exec, X, with);
    return cp_als(exec, problem, with, start);
  };
  measure_iterations(state, options, solve, [](auto const& result) { return result.seconds; });
}

}  // namespace

void add_cp_als(Settings const& settings) {
  for (auto const& name : settings.tensors)
    for (int rank : settings.ranks)
      for (bool tree : {true, false}) {
        std::string const end = "/R" + std::to_string(rank) + (tree ? "" : "/no_dimension_tree");
        for_scalars(settings, [&](auto zero) {
          using Scalar = decltype(zero);
          add("cp_als/" + short_name(name) + "/" + scalar_name<Scalar>() + end,
              [=](benchmark::State& state) { run<Scalar>(state, name, rank, tree); });
        });
      }
}

}  // namespace sporades::perf
