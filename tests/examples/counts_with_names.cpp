// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// counts_with_names: what an application has counted, decomposed by CP-APR into groups, each with
/// its strongest names.

#include <algorithm>
#include <cstdio>
#include <sporades/sporades.hpp>

struct Sale {
  char const* names[3];  // shop, goods, day
  double pieces;
};
Sale const sales[] = {
    {{"bakery", "bread", "Saturday"}, 60},  {{"bakery", "bread", "Friday"}, 45},
    {{"bakery", "cake", "Saturday"}, 30},   {{"market", "bread", "Saturday"}, 25},
    {{"market", "cake", "Saturday"}, 12},   {{"market", "cake", "Friday"}, 8},
    {{"kiosk", "paper", "Monday"}, 50},     {{"kiosk", "paper", "Tuesday"}, 48},
    {{"kiosk", "coffee", "Monday"}, 20},    {{"station", "paper", "Monday"}, 35},
    {{"station", "coffee", "Tuesday"}, 28}, {{"station", "coffee", "Monday"}, 15}};

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  Kokkos::DefaultExecutionSpace const exec{};
  std::vector<std::string> names[3];  // a name's place is its index
  std::vector<int> indices;           // a row a sale: its three indices
  std::vector<double> counts;
  for (auto const& sale : sales) {
    for (int n = 0; n < 3; ++n) {
      auto const at = std::find(names[n].begin(), names[n].end(), sale.names[n]);
      indices.push_back(static_cast<int>(at - names[n].begin()));
      if (at == names[n].end()) names[n].push_back(sale.names[n]);
    }
    counts.push_back(sale.pieces);
  }
  // Views of the application's own memory.
  Kokkos::View<int* [3], Kokkos::LayoutRight, Kokkos::HostSpace> const table(indices.data(),
                                                                             counts.size());
  Kokkos::View<double*, Kokkos::HostSpace> const values(counts.data(), counts.size());
  sporades::Dims const dims{names[0].size(), names[1].size(), names[2].size()};
  auto const X = sporades::make_coo(exec, dims, sporades::columns_of(table), values);

  sporades::CpAprOptions options;
  options.rank = 2;
  auto const result = sporades::cp_apr(exec, X, options);
  std::printf("log-likelihood %.2f after %d iterations\n", result.log_likelihood(),
              result.iterations());
  auto const model = sporades::copy_to(Kokkos::DefaultHostExecutionSpace{}, result.model);
  for (int r = 0; r < options.rank; ++r) {
    std::printf("%.0f pieces:", model.weights(r));
    for (int n = 0; n < 3; ++n)
      for (auto const& [i, share] : sporades::strongest(model, r, n, 2))  // columns have the sum 1
        if (share > 0.3) std::printf(" %s (%.0f %%)", names[n][i].c_str(), 100 * share);
    std::printf("\n");
  }
}
