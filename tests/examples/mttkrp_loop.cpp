// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// mttkrp_loop: MTTKRP in a loop, on Views of the application. Here it is the higher-order power
/// method for the largest singular value of X(i, j, (i + j) / 2) = 1 / (1 + i + j) of 60 x 60 x 60
/// (De Lathauwer, De Moor & Vandewalle, SIAM J. Matrix Anal. Appl. 21(4), 2000).

#include <cmath>
#include <cstdio>
#include <sporades/sporades.hpp>

using Space = Kokkos::DefaultExecutionSpace;
using Factor = Kokkos::View<double**, Kokkos::LayoutRight, Space>;
constexpr int dim = 60, nnz = dim * dim;

void fill(Space const& exec, Kokkos::View<int**, Space> const& coordinates,
          Kokkos::View<double*, Space> const& values) {
  Kokkos::parallel_for(
      "fill", Kokkos::RangePolicy<Space>(exec, 0, nnz), KOKKOS_LAMBDA(int p) {
        int const i = p / dim, j = p % dim;
        coordinates(0, p) = i;
        coordinates(1, p) = j;
        coordinates(2, p) = (i + j) / 2;
        values(p) = 1.0 / (1 + i + j);
      });
}

/// Divides the column v by its length, which is returned.
double normalize(Space const& exec, Factor const& v) {
  Kokkos::RangePolicy<Space> const rows(exec, 0, v.extent(0));
  double square = 0;
  Kokkos::parallel_reduce(
      "square", rows, KOKKOS_LAMBDA(int i, double& sum) { sum += v(i, 0) * v(i, 0); }, square);
  double const length = std::sqrt(square);
  Kokkos::parallel_for(
      "divide", rows, KOKKOS_LAMBDA(int i) { v(i, 0) /= length; });
  return length;
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  Space const exec{};
  Kokkos::View<int**, Space> const coordinates("coordinates", 3, nnz);
  Kokkos::View<double*, Space> const values("values", nnz);
  fill(exec, coordinates, values);
  auto const X = sporades::make_coo(exec, {dim, dim, dim}, coordinates, values);

  auto plan = sporades::make_mttkrp_plan(exec, X, {sporades::MttkrpStrategy::automatic, 1});
  std::vector<Factor> A;
  for (int n = 0; n < 3; ++n) Kokkos::deep_copy(exec, A.emplace_back("A", dim, 1), 1.0);
  Factor V("V", dim, 1);
  double value = 0;
  for (int n = 0; n < 60; ++n) {
    sporades::mttkrp(exec, plan, A, n % 3, V);  // does not read A[n % 3]
    value = normalize(exec, V);
    std::swap(A[n % 3], V);
  }
  std::printf("largest singular value %.6f\n", value);
}
