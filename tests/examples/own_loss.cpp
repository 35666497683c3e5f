// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// own_loss: a loss of the application's own, compiled there for the backend that it uses. It is
/// log cosh(x - m), which outliers hardly pull. A third of a tensor of rank 1 is known, and every
/// 21st of these entries is wrong. Gradient descent finds what is right.

#include <cmath>
#include <cstdio>
#include <sporades/sporades.hpp>

using Space = Kokkos::DefaultExecutionSpace;
using Matrix = sporades::Matrix<double, Space::memory_space>;
constexpr int dim = 10, nnz = 334;

struct LogCosh : sporades::LossDefaults {
  KOKKOS_FUNCTION double value(double x, double m) const {
    double const size = x > m ? x - m : m - x;
    return size + std::log1p(std::exp(-2 * size)) - std::log(2.0);
  }
  KOKKOS_FUNCTION double derivative(double x, double m) const { return std::tanh(m - x); }
};

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  Space const exec{};
  Kokkos::View<int**, Kokkos::HostSpace> const coordinates("coordinates", 3, nnz);
  Kokkos::View<double*, Kokkos::HostSpace> const values("values", nnz);
  for (int p = 0; p < nnz; ++p) {
    int const i[] = {3 * p / 100, 3 * p / 10 % 10, 3 * p % 10};
    for (int n = 0; n < 3; ++n) coordinates(n, p) = i[n];
    values(p) = p % 21 == 20 ? 100 : (1 + 0.1 * i[0]) * (1 + 0.1 * i[1]) * (1 + 0.1 * i[2]);
  }
  auto const X = sporades::make_coo(exec, {dim, dim, dim}, coordinates, values);

  sporades::KruskalTensor<double, Space::memory_space> model;
  model.weights = decltype(model.weights)("weights", 1);
  Kokkos::deep_copy(exec, model.weights, 1.0);
  std::vector<Matrix> gradient;
  for (int n = 0; n < 3; ++n) {
    Kokkos::deep_copy(exec, model.factors.emplace_back("A", dim, 1), 1.0);
    gradient.emplace_back("V", dim, 1);
  }
  auto plan = sporades::make_loss_gradient_plan(exec, X);
  double loss = 0;
  for (int k = 0; k < 500; ++k) {
    loss = loss_gradient(exec, plan, model, LogCosh{}, sporades::AbsentEntries::missing, gradient);
    for (int n = 0; n < 3; ++n) {
      Matrix const A = model.factors[n], V = gradient[n];
      Kokkos::parallel_for(
          "step", Kokkos::RangePolicy<Space>(exec, 0, dim),
          KOKKOS_LAMBDA(int i) { A(i, 0) -= 0.002 * V(i, 0); });
    }
  }
  double m = 1;  // at 0, 6, 0, where 100 is given
  for (int n = 0, i = 0; n < 3; ++n, i = n == 1 ? 6 : 0)
    m *= Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, model.factors[n])(i, 0);
  std::printf("loss %.1f, %.2f where 1.60 is right\n", loss, m);
}
