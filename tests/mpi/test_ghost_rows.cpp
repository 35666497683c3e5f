// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/core/random.hpp>
#include <sporades/kernels/detail/processes/ghost_rows.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>

using namespace sporades;
using namespace sporades::detail;

namespace {

/// The entry of a factor that tells its place.
double entry(std::uint64_t row, std::size_t column, int round) {
  return static_cast<double>(1000 * row + 10 * column) + round;
}

/// Rows that process p reads: none on the second, all on the third, else about one of `step`.
std::vector<std::uint64_t> rows_of(int p, std::uint64_t rows, std::uint64_t step) {
  std::vector<std::uint64_t> read;
  for (std::uint64_t i = 0; i < rows; ++i)
    if (p != 1 && (p == 2 || splitmix64(i + 977 * static_cast<std::uint64_t>(p)) % step == 0))
      read.push_back(i);
  return read;
}

TEMPLATE_LIST_TEST_CASE("A process gets the rows that it reads", "[mpi]", sporades::test::Cases) {
  using Exec = typename TestType::ExecutionSpace;
  using Scalar = typename TestType::Scalar;
  Exec const exec{};
  Communicator const processes(MPI_COMM_WORLD);
  auto const P = static_cast<std::uint64_t>(processes.size());
  auto const me = static_cast<std::size_t>(processes.rank());
  std::uint64_t const rows = GENERATE(1u, 3u, 1000u, 200000u);
  std::size_t const columns = GENERATE(1u, 5u, 16u);
  std::uint64_t const step = GENERATE(1u, 7u);
  CAPTURE(P, rows, columns, step);
  // Many bytes: on GPUs, both ends then have memory of NCCL.
  if (rows > 1000 && (columns != 5 || step != 1)) return;
  std::vector<std::uint64_t> owned;
  for (std::uint64_t p = 0; p <= P; ++p) owned.push_back(rows * p * p / (P * P));
  auto const read = rows_of(processes.rank(), rows, step);
  GhostRows<Scalar, typename TestType::MemorySpace> shared(processes, exec, owned, read);
  REQUIRE(shared.read_count() == read.size());
  auto const own = make_matrix<Scalar>(exec, "own", owned[me + 1] - owned[me], columns);
  auto const host = Kokkos::create_mirror_view(with_padding(own));
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < host.extent(0); ++i)
      for (std::size_t r = 0; r < host.extent(1); ++r)
        host(i, r) = r < columns ? static_cast<Scalar>(entry(owned[me] + i, r, round)) : Scalar(0);
    Kokkos::deep_copy(exec, with_padding(own), host);
    auto const got = with_padding(shared.gather(exec, "rows", own));
    auto const back = Kokkos::create_mirror_view(got);
    REQUIRE(back.extent(0) == read.size());
    Kokkos::deep_copy(exec, back, got);
    exec.fence();
    int wrong = 0;
    for (std::size_t i = 0; i < back.extent(0); ++i)
      for (std::size_t r = 0; r < back.extent(1); ++r)
        wrong += back(i, r) != (r < columns ? static_cast<Scalar>(entry(read[i], r, round)) : 0);
    CHECK(wrong == 0);
  }
  if (P == 1) return;
  std::uint64_t bytes = 0;  // sent in two rounds
  for (std::size_t p = 0; p < P; ++p)
    if (p != me)
      for (std::uint64_t row : rows_of(static_cast<int>(p), rows, step))
        if (owned[me] <= row && row < owned[me + 1])
          bytes += 2 * padded_columns(columns) * sizeof(Scalar);
  CHECK(processes.traffic().at("rows").bytes == bytes);
}

}  // namespace
