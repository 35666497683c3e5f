// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/generate.hpp>
#include <sporades/kernels/mttkrp.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>

#include "parts.hpp"

using namespace sporades;

namespace {

/// The bits of one process with slices of a mode: more slices than processes, as many, and fewer,
/// modes of few rows, and modes whose other indices take more than 63 bits: all except the longest,
/// and all. Without slices, too, of modes so long that GPUs exchange their rows beside kernels.
TEMPLATE_LIST_TEST_CASE("CP-ALS of several processes in slices has the bits of one",
                        "[mpi][variants]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const& processes = test::all_processes();
  struct Trial {
    Dims dims;
    Position nnz;
    double skew;
  };
  auto const trial = GENERATE(Trial{{6000, 9000, 40}, 40000, 0.9}, Trial{{2, 300, 5, 1}, 1500, 0.4},
                              Trial{{4000, 1000000, 4000, 4000, 4000, 4000}, 20000, 1.1},
                              Trial{{7000, 9000, 7000, 7000, 7000, 7000}, 5000, 0.5},
                              Trial{{300000, 40, 200000}, 400000, 0.1});
  CpAlsOptions options;
  options.init = CpAlsInit::random;
  options.rank = 5;
  options.iterations = 4;
  options.tolerance = 0;
  options.dimension_tree = false;
  options.strategy = GENERATE(MttkrpStrategy::sorted, MttkrpStrategy::fibers);
  options.slices = GENERATE(1, 2, 3, 8);
  bool const is_long = trial.nnz == 400000;
  if (is_long ? options.slices > 2 : options.slices == 1) return;
  options.non_negative = options.time_kernels =
      is_long && options.strategy == MttkrpStrategy::fibers;
  if (trial.dims.size() == 6) {
    if (options.strategy == MttkrpStrategy::fibers) return;  // it needs words
    options.iterations = options.rank = 2;
  }
  CAPTURE(to_string(trial.dims), options.slices, processes.size());
  auto const X = test::made_once(processes, [&] {
    return generate<Scalar, std::uint32_t>(exec, trial.dims, trial.nnz, trial.skew);
  });
  auto const [values, factors] = test::made_once(processes, [&] {
    auto const one = cp_als(exec, X, options);
    return std::tuple(one.values, test::entries_of(one.model.factors));
  });
  auto const part = test::part_of(exec, X, processes);
  auto const distributed = cp_als(processes, exec, part, options);
  auto const problem = make_cp_als_problem(processes, exec, part, options);  // for its rows
  CHECK(distributed.values == values);
  if (processes.size() == options.slices && trial.nnz == 40000) {
    // Of a mode with long rows, partial rows travel while others are summed.
    std::uint64_t overlaps = 0;
    for (auto const& own : problem.products.whole.work.distributed->own)
      overlaps += own.begin < own.end;
    CHECK(sporades::detail::exclusive_scan_of_all(processes, overlaps).back() > 0);
  }
  for (int n = 0; n < X.order(); ++n) {
    auto const mode = static_cast<std::size_t>(n);
    CHECK(problem.products.whole.choices[mode].slices ==
          (n == problem.homes.sliced ? 1 : options.slices));
    CHECK(test::wrong_entries(distributed.model.factors[mode], factors[mode], problem.rows_of(n)) ==
          0);
  }
}

/// Bytes that all processes send in two iterations.
template <class Exec, class Tensor>
double bytes_sent(Exec const& exec, Tensor const& part, CpAlsOptions options, int slices) {
  options.slices = slices;
  double bytes = 0;
  for (int const iterations : {2, 4}) {
    Communicator const processes(MPI_COMM_WORLD);
    options.iterations = iterations;
    cp_als(processes, exec, part, options);
    double sent = 0;
    for (auto const& [name, one] : processes.traffic())
      if (name == "rows of factors" || name == "rows of products" || name == "partial rows")
        sent += static_cast<double>(one.bytes);
    double all = 0;
    for (double const one : sporades::detail::all_gather(processes, "sums", sent)) all += one;
    bytes = all - bytes;
  }
  return bytes;
}

TEST_CASE("Processes send less where they have whole slices", "[mpi][variants]") {
  Kokkos::DefaultExecutionSpace const exec{};
  auto const& processes = test::all_processes();
  if (processes.size() == 1) return;
  auto const X = test::made_once(processes, [&] {
    return generate<double, std::uint32_t>(exec, {60000, 90000, 70000}, 80000, 0.2);
  });
  auto const part = test::part_of(exec, X, processes);
  CpAlsOptions options;
  options.rank = 4;
  options.tolerance = 0;
  options.init = CpAlsInit::random;
  options.dimension_tree = false;
  options.strategy = MttkrpStrategy::sorted;
  double const plain = bytes_sent(exec, part, options, 1);
  double const sliced = bytes_sent(exec, part, options, processes.size());
  CAPTURE(processes.size(), plain, sliced);
  CHECK(sliced < 0.6 * plain);
}

}  // namespace
