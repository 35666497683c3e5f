// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// An application of Sporades: one MTTKRP of a tensor with one nonzero, X(1, 0, 2) = 5.

#include <sporades/kernels/mttkrp.hpp>
#include <sporades/version.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto const X = sporades::allocate_coo<double, std::uint32_t>(exec, {3, 2, 4}, 1);
  exec.fence();
  for (int n : {0, 1, 2}) X.coordinates(n, 0) = n == 0 ? 1 : n == 1 ? 0 : 2;
  X.values(0) = 5;

  int const R = 2;
  sporades::Factors<double, Kokkos::HostSpace> A;
  for (auto dim : X.dims) {
    A.push_back(sporades::make_matrix<double>(exec, "consumer::factor", dim, R));
    Kokkos::deep_copy(exec, A.back(), 2.0);
  }
  auto const V = sporades::make_matrix<double>(exec, "consumer::product", X.dims[0], R);
  sporades::mttkrp(exec, X, A, 0, V);
  exec.fence();

  std::printf("Sporades %s: V(1, 0) = %g, V(0, 0) = %g\n", sporades::version, V(1, 0), V(0, 0));
  return V(1, 0) == 20 && V(0, 0) == 0 ? 0 : 1;
}
