// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// read_and_decompose FILE: reads a tensor, decomposes it by CP-ALS and prints the fit and the
/// weights.

#include <cstdio>
#include <sporades/sporades.hpp>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  Kokkos::DefaultExecutionSpace const exec{};
  try {
    auto const file = sporades::read_tensor<double>(argc > 1 ? argv[1] : "x.tns");
    sporades::CpAlsOptions options;
    options.rank = 6;
    options.iterations = 20;
    auto const decompose = [&](auto const& X) {  // indices of 32 or 64 bits, as the file needs
      return sporades::cp_als(exec, sporades::copy_to(exec, X), options);
    };
    auto const result = std::visit(decompose, file.tensor);
    std::printf("fit %.6f, weights", result.fit());
    auto const model = sporades::copy_to(Kokkos::DefaultHostExecutionSpace{}, result.model);
    for (int r = 0; r < model.rank(); ++r) std::printf(" %.2f", model.weights(r));
    std::printf("\n");
  } catch (std::exception const& error) {  // what is wrong, and where, in one sentence
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
