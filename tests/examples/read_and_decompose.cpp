// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// read_and_decompose FILE: reads a tensor, decomposes it by CP-ALS and prints the fit, the
/// weights and the strongest index of each component in each mode.

#include <cstdio>
#include <sporades/sporades.hpp>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  Kokkos::DefaultExecutionSpace const exec{};
  try {
    auto const file = sporades::read_tensor<double, std::uint32_t>(argc > 1 ? argv[1] : "x.tns");
    auto const X = sporades::copy_to(exec, file.tensor);  // to the device, if exec is on one
    sporades::CpAlsOptions options;
    options.rank = 6;
    options.iterations = 20;
    auto const result = sporades::cp_als(exec, X, options);
    std::printf("fit %.6f after %d iterations\n", result.fit(), result.iterations());
    auto const model = sporades::copy_to(Kokkos::DefaultHostExecutionSpace{}, result.model);
    for (int r = 0; r < model.rank(); ++r) {
      std::printf("weight %.2f, strongest indices", model.weights(r));
      for (int n = 0; n < model.order(); ++n)
        std::printf(" %d", static_cast<int>(sporades::strongest(model, r, n, 1)[0].index));
      std::printf("\n");
    }
  } catch (std::exception const& error) {  // what is wrong, and where, in one sentence
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
