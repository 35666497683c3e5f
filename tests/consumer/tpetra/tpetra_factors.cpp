// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// CP-ALS on the processes of a Trilinos application, which start from the rows of its
/// Tpetra::MultiVectors and end there:
///   mpirun -n 3 tpetra_factors
#include <Tpetra_Core.hpp>
#include <Tpetra_Map.hpp>
#include <Tpetra_MultiVector.hpp>
#include <cstdio>
#include <sporades/algorithms/cp_als.hpp>

using MultiVector = Tpetra::MultiVector<double>;
using Exec = MultiVector::execution_space;

int main(int argc, char** argv) {
  Tpetra::ScopeGuard const tpetra(&argc, &argv);
  auto const comm = Tpetra::getDefaultComm();
  sporades::Communicator const processes(MPI_COMM_WORLD);
  Exec const exec{};

  // X(i, j, k) = (i + 1)(j + 2)(k + 3), of which process p of P has the slices i = p, p + P, ...
  sporades::Dims const dims{600, 40, 20};
  int const first = processes.rank(), step = processes.size();
  int const slices = (600 - first + step - 1) / step, slice = 40 * 20;
  Kokkos::View<int**, Kokkos::HostSpace> const coordinates("coordinates", 3, slices * slice);
  Kokkos::View<double*, Kokkos::HostSpace> const values("values", slices * slice);
  for (int p = 0; p < slices * slice; ++p) {
    int const i = first + p / slice * step, j = p % slice / 20, k = p % 20;
    coordinates(0, p) = i;
    coordinates(1, p) = j;
    coordinates(2, p) = k;
    values(p) = (i + 1.) * (j + 2) * (k + 3);
  }
  sporades::CpAlsOptions options;
  options.rank = 1;
  options.init = sporades::CpAlsInit::given;
  auto problem = sporades::make_cp_als_problem(
      processes, exec, sporades::make_coo(exec, dims, coordinates, values), options);

  // The application's factors, distributed as the problem says.
  std::vector<MultiVector> factors;
  for (int n = 0; n < 3; ++n) {
    auto const own = problem.rows_of(n).here(dims[n]);
    auto const map = Teuchos::rcp(new MultiVector::map_type(dims[n], own, 0, comm));
    factors.emplace_back(map, 1);
    factors.back().putScalar(1.0);
  }
  sporades::KruskalTensor<double, Exec::memory_space> start;
  start.weights = sporades::Vector<double, Exec::memory_space>("weights", 1);
  Kokkos::deep_copy(start.weights, 1.0);
  for (auto const& A : factors)
    start.factors.push_back(
        sporades::copy_matrix(exec, A.getLocalViewDevice(Tpetra::Access::ReadOnly)));
  auto state = sporades::cp_als_start(exec, problem, options, start);
  auto const result = sporades::cp_als(exec, problem, options, state);
  for (int n = 0; n < 3; ++n)
    sporades::copy_factor(exec, result.model.factors[n],
                          factors[n].getLocalViewDevice(Tpetra::Access::OverwriteAll));

  double lengths[3];
  for (int n = 0; n < 3; ++n) factors[n].norm2(Teuchos::ArrayView<double>(lengths + n, 1));
  if (processes.rank() == 0)
    std::printf("fit %.4f, columns of length %.4f %.4f %.4f\n", result.fit(), lengths[0],
                lengths[1], lengths[2]);
}
