// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/generate.hpp>
#include <sporades/formats/files/tns_file.hpp>
#include <sporades/kernels/mttkrp_all_modes.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/tensors.hpp>

#include "parts.hpp"

using namespace sporades;
using sporades::test::entries_of;
using sporades::test::made_once;
using sporades::test::part_of;
using sporades::test::wrong_entries;

namespace {

/// The shared run's choices, rows, weights and fits are those of one process, bit for bit. Returns
/// the shared problem and the fit.
template <class Exec, class Tensor>
auto check_same_bits(Exec const& exec, Communicator const& processes, Tensor const& X,
                     CpAlsOptions const& options) {
  CAPTURE(to_string(X.dims), X.nnz(), sizeof(typename Tensor::Scalar), to_string(options.strategy));
  CAPTURE(processes.size(), processes.rank());
  auto const choices_of = [&](auto const& problem) {
    std::vector<std::string> choices;
    for (int n = 0; n < X.order(); ++n) choices.push_back(detail::describe(problem.products, n));
    return choices;
  };
  auto const [values, weights, factors, choices, nnz] = made_once(processes, [&] {
    auto const one = cp_als(exec, X, options);
    auto const whole = make_cp_als_problem(exec, X, options);
    return std::tuple(one.values, entries_of(one.model.weights), entries_of(one.model.factors),
                      choices_of(whole), whole.nnz);
  });
  auto const part = part_of(exec, X, processes);
  auto const distributed = cp_als(processes, exec, part, options);
  auto const problem = make_cp_als_problem(processes, exec, part, options);  // for its rows
  CHECK(distributed.values == values);
  CHECK(problem.nnz == nnz);
  CHECK(choices_of(problem) == choices);
  CHECK(entries_of(distributed.model.weights) == weights);
  for (std::size_t n = 0; n < factors.size(); ++n)
    CHECK(wrong_entries(distributed.model.factors[n], factors[n],
                        problem.rows_of(static_cast<int>(n))) == 0);
  return std::pair(problem, distributed.fit());
}

CpAlsOptions options_of(MttkrpStrategy strategy, int rank) {
  CpAlsOptions options;
  options.init = CpAlsInit::random;
  options.rank = rank;
  options.iterations = 3;
  options.tolerance = 0;
  options.strategy = strategy;
  return options;
}

TEMPLATE_LIST_TEST_CASE("CP-ALS of several processes has the bits of one", "[mpi]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const& processes = test::all_processes();
  auto const strategy = GENERATE(MttkrpStrategy::sorted, MttkrpStrategy::fibers);
  struct Trial {
    Dims dims;
    Position nnz;
    double skew;
    int rank;
  };
  auto const trial = GENERATE(
      Trial{{60, 50, 40}, 20000, 0.9, 5}, Trial{{30000, 2, 700}, 30000, 0.5, 16},
      Trial{{1, 300, 4}, 500, 0, 3}, Trial{{40, 30}, 100, 0, 4},
      Trial{{5, 4, 6, 3, 7, 2, 5}, 3000, 0.3, 4}, Trial{{9000, 8000, 7000}, 60000, 1.2, 8});
  auto const X = made_once(processes, [&] {
    return generate<Scalar, std::uint32_t>(exec, trial.dims, trial.nnz, trial.skew);
  });
  auto options = options_of(strategy, trial.rank);
  options.absent = GENERATE(AbsentEntries::zero, AbsentEntries::missing);
  check_same_bits(exec, processes, X, options);
}

TEMPLATE_LIST_TEST_CASE("CP-ALS of several processes in a linear order", "[mpi]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  if (detail::is_gpu<typename TestType::ExecutionSpace>) return;
  auto const& processes = test::all_processes();
  struct Trial {
    Dims dims;
    Position nnz;
    double skew;
    int rank;
    MttkrpStrategy strategy = MttkrpStrategy::alto;
    std::string last = "alto";   // what is done for the last mode
    std::string first = "alto";  // and for the first one
  };
  auto const trial = GENERATE(
      Trial{{60, 50, 40}, 40000, 0.9, 5}, Trial{{200, 300, 150}, 60000, 0.9, 8},
      Trial{{1, 3, 1}, 3, 0, 2}, Trial{{7, 5, 6, 3, 4}, 2000, 0, 4},
      Trial{{2000, 3000, 1500}, 300000, 0.5, 16},
      Trial{{33000, 5000, 5000}, 350000, 0, 128, MttkrpStrategy::automatic},
      Trial{{5000, 20000, 60000}, 350000, 0, 128, MttkrpStrategy::automatic, "sorted"},
      Trial{{9000, 12000, 60000}, 60000, 0, 128, MttkrpStrategy::automatic, "sorted", "sorted"});
  if (trial.rank == 128)  // large: once. For floats `automatic` takes rows
    if (sizeof(Scalar) < sizeof(double) ||
        !std::is_same_v<typename TestType::ExecutionSpace, Kokkos::DefaultExecutionSpace>)
      return;
  auto const X = made_once(processes, [&] {
    return generate<Scalar, std::uint32_t>(exec, trial.dims, trial.nnz, trial.skew);
  });
  auto options = options_of(trial.strategy, trial.rank);
  if (trial.nnz > 100000) options.iterations = trial.rank == 128 ? 1 : 2;
  auto const problem = check_same_bits(exec, processes, X, options).first;
  CHECK(detail::describe(problem.products, X.order() - 1) == trial.last);
  CHECK(detail::describe(problem.products, 0) == trial.first);
  // A linear order that no mode takes is not kept.
  if (auto const& distributed = problem.products.whole.work.distributed)
    CHECK((distributed->parts > 0) == (trial.first == "alto" || trial.last == "alto"));
}

TEMPLATE_LIST_TEST_CASE("CP-ALS of several processes with fused modes", "[mpi]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const& processes = test::all_processes();
  struct Trial {
    Dims dims;
    Position nnz;
    double skew;
    int rank;
    std::vector<int> fused;
  };
  auto const trial = GENERATE(Trial{{30000, 2, 700}, 50000, 0.5, 16, {1, 2}},
                              Trial{{20, 9, 3000, 10}, 60000, 0.8, 5, {3, 0, 1}},
                              Trial{{1, 2, 40, 30}, 2000, 0, 3, {3, 0, 1}},
                              Trial{{5, 4, 6, 3, 7, 2, 5}, 3000, 0.3, 4, {5, 6, 0, 1}});
  auto const X = made_once(processes, [&] {
    return generate<Scalar, std::uint32_t>(exec, trial.dims, trial.nnz, trial.skew);
  });
  auto options = options_of(MttkrpStrategy::automatic, trial.rank);
  options.non_negative = GENERATE(false, true);
  CHECK(check_same_bits(exec, processes, X, options).first.products.fused == trial.fused);
}

TEMPLATE_LIST_TEST_CASE("CP-ALS of several processes on real tensors", "[mpi]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const& processes = test::all_processes();
  std::string const name = GENERATE("police-deaths-3d", "shakespeare-trigram-3d",
                                    "marvel-characters-7d", "packages-small");
  CAPTURE(name);
  auto const read = read_tensor<Scalar>(test::data_file(name + ".tns.gz"));
  auto const X = copy_to(exec, std::get<0>(read.tensor));
  auto options = options_of(MttkrpStrategy::automatic, 4);
  options.init = CpAlsInit::automatic;
  check_same_bits(exec, processes, X, options);
}

TEMPLATE_LIST_TEST_CASE("CP-ALS of several processes: all options", "[mpi][variants]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const& processes = test::all_processes();
  auto const X = made_once(processes, [&] {
    return generate<Scalar, std::uint32_t>(exec, {700, 50, 90}, 30000, 0.7);
  });
  auto options = options_of(MttkrpStrategy::sorted, 6);
  SECTION("non-negative") {
    options.non_negative = true;
  }
  SECTION("regularization") {
    options.regularization = 0.1;
  }
  SECTION("singular vectors") {
    options.init = CpAlsInit::hosvd;
  }
  SECTION("singular vectors, non-negative") {
    options.init = CpAlsInit::hosvd;
    options.non_negative = true;
  }
  SECTION("a race of starts") {
    options.init = CpAlsInit::automatic;
  }
  SECTION("several starts") {
    options.starts = 3;
  }
  SECTION("half precision") {
    options.gather = GatherPrecision::half;
  }
  check_same_bits(exec, processes, X, options);
}

/// Where large components cancel, or the fit is close to 1, a float's fit comes from the nonzeros,
/// which all processes hold a share of.
TEMPLATE_LIST_TEST_CASE("CP-ALS of several processes of a tensor that a model fits",
                        "[mpi][variants]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const& processes = test::all_processes();
  Dims const dims = GENERATE(Dims{60, 50, 40}, Dims{9, 700, 10, 2});
  auto const X = test::two_outer_products<Scalar>(dims);
  auto options = options_of(
      GENERATE(MttkrpStrategy::sorted, MttkrpStrategy::automatic, MttkrpStrategy::alto), 2);
  if (options.strategy == MttkrpStrategy::alto && detail::is_gpu<typename TestType::ExecutionSpace>)
    return;
  CHECK(check_same_bits(exec, processes, copy_to(exec, X), options).second > 0.99);
}

TEMPLATE_LIST_TEST_CASE("CP-ALS with fused modes whose indices do not fit a word",
                        "[mpi][variants]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const& processes = test::all_processes();
  // Modes of four indices get `bits` bits. Indices of all modes but a short one do not fit a word
  // where those of all but the fused mode, which is longer, do. What is fused on GPUs may be
  // others.
  auto const check = [&](Dims const& dims, int bits, int unpacked) {
    auto X = test::two_outer_products<Scalar>(dims);
    for (int n = 0; n < X.order(); ++n) {
      auto& dim = X.dims[static_cast<std::size_t>(n)];
      if (dim != 4) continue;
      dim = std::uint64_t{1} << bits;
      for (Position p = 0; p < X.nnz(); ++p) X.coordinates(n, p) *= 1u << (bits - 2);
    }
    auto const [problem, fit] = check_same_bits(exec, processes, copy_to(exec, X),
                                                options_of(MttkrpStrategy::automatic, 2));
    CHECK(fit > 0.99);
    if (detail::is_gpu<typename TestType::ExecutionSpace>) return;
    CHECK(problem.products.fused == std::vector<int>{0, 1});
    auto const& whole = problem.products.whole.dims;
    CHECK(detail::fits_packed(whole, 0) == (unpacked != 0));
    CHECK_FALSE(detail::fits_packed(whole, unpacked));
  };
  check({6, 7, 4, 4, 4, 4}, 16, 0);
  check({6, 7, 4, 4, 2, 4, 4}, 15, 3);
}

TEMPLATE_LIST_TEST_CASE("CP-ALS of several processes from a given model", "[mpi][variants]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const& processes = test::all_processes();
  auto const X = generate<Scalar, std::uint32_t>(exec, {3000, 50, 90}, 30000, 0.7);
  auto options = options_of(MttkrpStrategy::automatic, 6);
  options.iterations = 2;
  auto model = cp_als(exec, X, options).model;
  Kokkos::deep_copy(model.factors[1], Scalar(3e30));  // scaled by the largest of all rows
  Kokkos::deep_copy(Kokkos::subview(model.factors[1], 7, Kokkos::ALL), Scalar(5e35));
  options.init = CpAlsInit::given;
  auto whole = make_cp_als_problem(exec, X, options);
  auto start = cp_als_start(exec, X.dims, options, model);
  auto const one = cp_als(exec, whole, options, start);
  auto problem = make_cp_als_problem(processes, exec, part_of(exec, X, processes), options);
  for (int n = 0; n < 3; ++n) {
    auto const rows = problem.rows_of(n);
    auto& A = model.factors[static_cast<std::size_t>(n)];
    A = Kokkos::subview(A, std::make_pair(rows.first(), rows.first() + rows.here(A.extent(0))),
                        Kokkos::ALL);
  }
  auto state = cp_als_start(exec, problem, options, model);
  CHECK(cp_als(exec, problem, options, state).values == one.values);
}

TEMPLATE_LIST_TEST_CASE("Several processes refuse what they cannot share", "[mpi]",
                        sporades::test::ExecutionSpaces) {
  using Exec = TestType;
  Exec const exec{};
  auto const& world = test::all_processes();
  if (world.size() == 1) return;
  auto const X = generate<double, std::uint32_t>(exec, {20, 30, 40}, 1000, 0.);
  auto options = options_of(MttkrpStrategy::sorted, 3);
  auto const fails = [&](auto const& tensor, char const* text) {
    Communicator const processes(MPI_COMM_WORLD);
    CHECK_THROWS_WITH(cp_als(processes, exec, tensor, options),
                      Catch::Matchers::ContainsSubstring(text));
  };
  auto longer = X;
  if (world.rank() == 1) longer.dims[2] = 41;
  fails(longer, "20 x 30 x 41 here and 20 x 30 x 40 on process 0");
  options.strategy = MttkrpStrategy::csf;
  fails(X, "csf");
  options.strategy = MttkrpStrategy::sorted;
  auto wrong = X;
  if (world.rank() == world.size() - 1) {
    wrong = copy_to(exec, X);
    Kokkos::deep_copy(wrong.values, NAN);
  }
  fails(wrong, "NaN");
}

/// Also where rows travel beside kernels, and while exchanges that have no partner are enqueued.
TEMPLATE_LIST_TEST_CASE("Processes that are stopped at different places all end", "[mpi][variants]",
                        sporades::test::ExecutionSpaces) {
  TestType const exec{};
  auto const& world = test::all_processes();
  if (world.size() == 1) return;
  auto const X = made_once(world, [&] {
    return generate<float, std::uint32_t>(exec, {300000, 40, 200000}, 400000, 0.1);
  });
  auto const part = part_of(exec, X, world);
  auto options = options_of(MttkrpStrategy::sorted, 5);
  options.iterations = 20;
  for (int const place : {1, 2, 6, 11}) {
    for (bool const all_stop : {false, true}) {
      Communicator const processes(MPI_COMM_WORLD);
      int left = processes.rank() == 1 ? place : all_stop ? place + 3 : 1000;
      options.stop = [&] { return --left < 0; };
      CHECK_THROWS_AS(cp_als(processes, exec, part, options), RunError);
    }
  }
}

}  // namespace
