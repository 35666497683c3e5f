// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// ten_lines FILE: the program of README.md, as short as can be: reads a tensor, decomposes it by
/// CP-ALS and prints the fit. An error ends it: read_and_decompose catches them.

#include <cstdio>
#include <sporades/sporades.hpp>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  Kokkos::DefaultExecutionSpace const exec{};
  auto const file = sporades::read_tensor<double, std::uint32_t>(argc > 1 ? argv[1] : "x.tns");
  auto const X = sporades::copy_to(exec, file.tensor);  // to the GPU, if exec is on one
  sporades::CpAlsOptions options;
  options.rank = 6;
  auto const result = sporades::cp_als(exec, X, options);
  std::printf("fit %.6f after %d iterations\n", result.fit(), result.iterations());
}
