// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/kernels/mttkrp_plan.hpp>
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
  for (auto const& name : settings.tensors) {
    if (settings.has_scalar("double"))
      add("plan/" + short_name(name) + "/double",
          [=](benchmark::State& state) { run<double>(state, name); });
    if (settings.has_scalar("float"))
      add("plan/" + short_name(name) + "/float",
          [=](benchmark::State& state) { run<float>(state, name); });
  }
}

}  // namespace sporades::perf
