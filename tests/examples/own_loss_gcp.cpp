// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// own_loss_gcp: generalised CP by a loss of the application's own, compiled there with what
/// follows from it. x is how often something succeeded before it failed, m the odds of success: its
/// zeros have no closed form. A quarter of the cells are 0, and are not listed.

#include <cmath>
#include <cstdio>
#include <sporades/algorithms/definitions.hpp>
#include <sporades/sporades.hpp>

struct Geometric : sporades::LossDefaults {
  KOKKOS_FUNCTION double value(double x, double m) const {
    return (x + 1) * std::log1p(m) - x * std::log(m + 1e-10);
  }
  KOKKOS_FUNCTION double derivative(double x, double m) const {
    return (x + 1) / (1 + m) - x / (m + 1e-10);
  }
  KOKKOS_FUNCTION bool allows(double x) const { return x >= 0; }
  double lower_bound() const { return 0; }
  std::string name() const { return "geometric"; }
};

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  Kokkos::DefaultExecutionSpace const exec{};
  Kokkos::View<int**, Kokkos::HostSpace> const coordinates("coordinates", 3, 750);
  Kokkos::View<double*, Kokkos::HostSpace> const values("values", 750);
  for (int cell = 0, p = 0; cell < 1000; ++cell) {
    if (cell % 4 == 3) continue;
    int const i[] = {cell / 100, cell / 10 % 10, cell % 10};
    for (int n = 0; n < 3; ++n) coordinates(n, p) = i[n];
    values(p++) = (1 + i[0]) * (1 + i[1] % 2);
  }
  auto const X = sporades::make_coo(exec, {10, 10, 10}, coordinates, values);

  sporades::GcpOptionsOf<Geometric> options;
  options.rank = 2;
  auto const result = gcp(exec, X, options);
  std::printf("loss %.1f\n", result.loss());
}
