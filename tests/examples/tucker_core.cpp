// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// tucker_core FILE RANK...: the Tucker decomposition of a tensor, and which entries of its core
/// hold most of it.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <sporades/sporades.hpp>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  Kokkos::DefaultExecutionSpace const exec{};
  if (argc < 3) return 2;
  auto const file = sporades::read_tensor<double>(argv[1]);
  sporades::TuckerOptions options;
  for (int n = 2; n < argc; ++n) options.ranks.push_back(std::atoi(argv[n]));
  auto const result = std::visit(
      [&](auto const& X) { return sporades::tucker(exec, sporades::copy_to(exec, X), options); },
      file.tensor);
  std::printf("fit %.4f\n", result.fit());

  // The factors are orthonormal: an entry's square is its share of the squares of the model.
  auto const model = sporades::copy_to(Kokkos::DefaultHostExecutionSpace{}, result.model);
  auto const G = model.core;  // the first index is the fastest
  std::vector<std::size_t> order(G.extent(0));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return std::abs(G(a)) > std::abs(G(b)); });
  double all = 0;
  for (auto g : order) all += G(g) * G(g);
  for (std::size_t k = 0; k < std::min<std::size_t>(order.size(), 5); ++k) {
    std::printf("core");
    auto rest = order[k];
    for (std::size_t rank : model.ranks()) {
      std::printf(" %zu", rest % rank);
      rest /= rank;
    }
    double const value = G(order[k]);
    std::printf(": %.3f, %.1f %% of the squares\n", value, 100 * value * value / all);
  }
}
