// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// observer FILE: CP-ALS on an instance of the execution space that the application made, watched
/// after each iteration, and stopped when the fit has come near enough to its goal.

#include <cstdio>
#include <sporades/sporades.hpp>

Kokkos::DefaultExecutionSpace own_instance() {
#if KOKKOS_VERSION >= 40500  // or, of a stream: Kokkos::Cuda(stream)
  return Kokkos::Experimental::partition_space(Kokkos::DefaultExecutionSpace{}, 1)[0];
#else
  return {};
#endif
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  auto const exec = own_instance();  // all kernels and copies run on it, and it alone is fenced
  if (argc < 2) return 2;
  auto const file = sporades::read_tensor<double, std::uint32_t>(argv[1]);
  auto const X = sporades::copy_to(exec, file.tensor);

  sporades::CpAlsOptions options;
  options.rank = 6;
  options.iterations = 50;
  options.init = sporades::CpAlsInit::random;
  double const goal = 0.45;
  auto const result = sporades::cp_als(exec, X, options, [&](sporades::IterationInfo const& now) {
    std::printf("iteration %d: fit %.4f, %.4f s\n", now.iteration, now.value, now.seconds);
    return now.value < goal;  // false ends the run, with the model so far
  });
  std::printf("%s after %d iterations, fit %.4f\n", result.is_stopped() ? "stopped" : "ended",
              result.iterations(), result.fit());
}
