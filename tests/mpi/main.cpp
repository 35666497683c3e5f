// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Main program of the tests on several processes: each runs all of them. The first process
/// reports; of the others only what fails is printed. What is left of MPI's objects is a failure.

#include <iostream>
#include <sporades/core/detail/host_caches.hpp>
#include <sporades/core/detail/kokkos.hpp>
#include <sporades/mpi.hpp>
#include <sstream>
#include <support/run_tests.hpp>

#include "all_processes.hpp"
#include "leaks.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, failed = 0, any = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  {
    Kokkos::ScopeGuard const guard(argc, argv);
    sporades::detail::host_caches() = {32 << 10, 2 << 20};
    std::ostringstream text;
    auto* const out = rank == 0 ? nullptr : std::cout.rdbuf(text.rdbuf());
    failed = sporades::test::run_tests(argc, argv);
    sporades::test::kept_processes.reset();
    if (out != nullptr) std::cout.rdbuf(out);
    if (rank != 0 && failed != 0)
      std::cout << "process " << rank << ":\n" << text.str() << std::flush;
  }
  for (auto const& objects : sporades::test::open_mpi_objects()) {
    std::cout << "process " << rank << " leaves " << objects << std::endl;
    failed = 1;
  }
  MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return any == 0 ? 0 : 1;
}
