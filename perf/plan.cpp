// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/kernels/mttkrp.hpp>
#include <support/benchmarks.hpp>
#include <support/tensors.hpp>

namespace sporades::perf {
namespace {

template <class Scalar>
void run(benchmark::State& state, std::string const& name) {
  ExecutionSpace const exec{};
  auto X = copy_to(exec, tensor<Scalar>(name));
  X.sorted_modes.clear();  // as a file that says nothing of its order
  std::uint64_t bytes = 0;
  measure(state, exec, [&] { bytes = make_mttkrp_plan(exec, X).storage_bytes(); });
  state.counters["bytes"] = static_cast<double>(bytes);
}

}  // namespace

void add_plan(Settings const& settings) {
  for (auto const& name : settings.tensors)
    for_scalars(settings, [&](auto zero) {
      using Scalar = decltype(zero);
      add("plan/" + short_name(name) + "/" + scalar_name<Scalar>(),
          [=](benchmark::State& state) { run<Scalar>(state, name); });
    });
}

}  // namespace sporades::perf
