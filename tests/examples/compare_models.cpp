// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// compare_models FILE: the models of two starts, how alike they are, and how far one is from the
/// tensor.

#include <cmath>
#include <cstdio>
#include <sporades/sporades.hpp>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  Kokkos::DefaultExecutionSpace const exec{};
  if (argc < 2) return 2;
  auto const file = sporades::read_tensor<double, std::uint32_t>(argv[1]);
  auto const X = sporades::copy_to(exec, file.tensor);
  sporades::CpAlsOptions options;
  options.rank = 3;
  options.init = sporades::CpAlsInit::random;
  auto const first = sporades::cp_als(exec, X, options).model;
  options.seed = 2;
  auto const second = sporades::cp_als(exec, X, options).model;

  auto const alike = sporades::score(exec, second, first);
  std::printf("score %.2f:", alike.value);
  for (double const component : alike.components) std::printf(" %.2f", component);
  // Its components now lie beside those of the first model, and point where they do.
  auto const arranged =
      sporades::fixsigns(exec, sporades::arrange(exec, second, alike.permutation), first);
  std::printf("\ncosine %.2f\n", sporades::innerprod(exec, arranged, first) /
                                     sporades::norm(exec, arranged) / sporades::norm(exec, first));

  double const all = sporades::norm(exec, X), of_model = sporades::norm(exec, first);
  double const residual =
      std::sqrt(all * all - 2 * sporades::innerprod(exec, X, first) + of_model * of_model);
  std::printf("fit %.4f, over the nonzeros", 1 - residual / all);
  // The fit counts cells without a nonzero, as values of 0; this does not.
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{},
                                                        sporades::model_values(exec, X, first));
  double squares = 0;
  for (std::size_t p = 0; p < host.extent(0); ++p)
    squares += std::pow(file.tensor.values(p) - host(p), 2);
  std::printf(" %.4f\n", 1 - std::sqrt(squares) / all);
}
