// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Values and execution spaces that the library is perhaps not compiled for: it holds its calls of
/// Kokkos Kernels for them, too.

#include <iostream>
#include <sporades/core/detail/dense.hpp>

template <class Scalar, class ExecutionSpace>
bool scales(ExecutionSpace const& exec) {
  sporades::Vector<Scalar, typename ExecutionSpace::memory_space> const x("x", 3);
  x(1) = -4;
  sporades::detail::divide_by_power_of_two(exec, x, 1, x);
  exec.fence();
  return sporades::detail::max_abs(exec, x) == 2;
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  Kokkos::DefaultHostExecutionSpace const exec{};
  bool are_right = scales<float>(exec) && scales<double>(exec);
#ifdef KOKKOS_ENABLE_SERIAL
  Kokkos::Serial const serial{};
  are_right = are_right && scales<float>(serial) && scales<double>(serial);
#endif
  std::cout << (are_right ? "scaled\n" : "not scaled\n");
  return are_right ? 0 : 1;
}
