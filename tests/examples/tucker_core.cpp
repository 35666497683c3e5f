// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// tucker_core FILE RANK...: the Tucker decomposition of a tensor, and which entries of its core
/// hold most of it.

#include <cstdio>
#include <cstdlib>
#include <sporades/sporades.hpp>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  Kokkos::DefaultExecutionSpace const exec{};
  if (argc < 3) return 2;
  auto const file = sporades::read_tensor<double, std::uint32_t>(argv[1]);
  sporades::TuckerOptions options;
  for (int n = 2; n < argc; ++n) options.ranks.push_back(std::atoi(argv[n]));
  auto const result = sporades::tucker(exec, sporades::copy_to(exec, file.tensor), options);
  std::printf("fit %.4f\n", result.fit());

  // The factors are orthonormal: an entry's square is its share of the squares of the model.
  auto const model = sporades::copy_to(Kokkos::DefaultHostExecutionSpace{}, result.model);
  double all = 0;
  for (std::size_t p = 0; p < model.core.extent(0); ++p) all += model.core(p) * model.core(p);
  for (auto const& [columns, value] : sporades::strongest(model, 5)) {
    std::printf("core");
    for (int const column : columns) std::printf(" %d", column);
    std::printf(": %.3f, %.1f %% of the squares\n", value, 100 * value * value / all);
  }
}
