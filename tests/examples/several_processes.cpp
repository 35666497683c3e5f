// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// CP-ALS on some of the processes of an MPI application, which bring the nonzeros that they have,
/// and start from rows of factors of their own:
///   mpirun -n 4 example_several_processes
#include <cstdio>
#include <sporades/algorithms/cp_als.hpp>

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;

/// X(i, j, k) = (i + 1)(j + 2)(k + 3), of which process p of P has the slices i = p, p + P, ...
void decompose(sporades::Communicator const& processes) {
  Exec const exec{};
  sporades::Dims const dims{60, 40, 20};
  int const first = processes.rank(), step = processes.size();
  int const slices = (60 - first + step - 1) / step, slice = 40 * 20;
  Kokkos::View<int**, Kokkos::HostSpace> const coordinates("coordinates", 3, slices * slice);
  Kokkos::View<double*, Kokkos::HostSpace> const values("values", slices * slice);
  for (int p = 0; p < slices * slice; ++p) {
    int const i = first + p / slice * step, j = p % slice / 20, k = p % 20;
    coordinates(0, p) = i;
    coordinates(1, p) = j;
    coordinates(2, p) = k;
    values(p) = (i + 1.) * (j + 2) * (k + 3);
  }
  auto const X = sporades::make_coo(exec, dims, coordinates, values);

  sporades::CpAlsOptions options;
  options.rank = 1;
  options.init = sporades::CpAlsInit::given;
  auto problem = sporades::make_cp_als_problem(processes, exec, X, options);
  sporades::KruskalTensor<double, Memory> start;  // the rows that this process owns
  start.weights = sporades::Vector<double, Memory>("weights", 1);
  Kokkos::deep_copy(start.weights, 1.0);
  for (int n = 0; n < 3; ++n) {
    auto const own = problem.rows_of(n).here(dims[n]);
    start.factors.push_back(sporades::make_matrix<double>(exec, "start", own, 1));
    Kokkos::deep_copy(start.factors[n], 1.0);
  }
  auto state = sporades::cp_als_start(exec, problem, options, start);
  auto const result = sporades::cp_als(exec, problem, options, state);
  auto const rows = problem.rows_of(0);
  Kokkos::View<double**, Kokkos::HostSpace> const A("A", result.model.factors[0].extent(0), 1);
  sporades::copy_factor(exec, result.model.factors[0], A);
  for (std::uint64_t i = 0; i < A.extent(0); ++i)
    if (rows.first() + i == 59)  // the last row of mode 0, on the process that owns it
      std::printf("fit %.4f, last row %.6f\n", result.fit(), A(i, 0));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    Kokkos::ScopeGuard const kokkos(argc, argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm half;  // every second process decomposes, the others do something else
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    if (rank % 2 == 0) decompose(sporades::Communicator(half));
    MPI_Comm_free(&half);
  }
  MPI_Finalize();
}
