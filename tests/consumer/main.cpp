// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The application in README.md: ctest compares its fit with 1, and the two files.

#include <cstdio>
#include <sporades/sporades.hpp>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  Kokkos::DefaultExecutionSpace const exec{};
  try {
    auto const file = sporades::read_tensor<double>(argc > 1 ? argv[1] : "x.tns");
    auto const decompose = [&](auto const& X) {  // indices of 32 or 64 bits, as the file needs
      sporades::CpAlsOptions options;
      options.rank = 2;
      return sporades::cp_als(exec, sporades::copy_to(exec, X), options).fit();
    };
    std::printf("fit %.6f\n", std::visit(decompose, file.tensor));
  } catch (std::exception const& error) {  // what is wrong, and where, in one sentence
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
