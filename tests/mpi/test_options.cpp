// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/algorithms/generate.hpp>
#include <sporades/algorithms/tucker.hpp>
#include <sporades/kernels/mttkrp.hpp>
#include <support/catch.hpp>

#include "parts.hpp"

using namespace sporades;

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;

template <class Scalar>
CooTensor<Scalar, std::uint32_t, Memory> part() {
  Exec const exec{};
  auto const& processes = test::all_processes();
  return test::part_of(
      exec,
      test::made_once(processes,
                      [&] {
                        return generate<Scalar, std::uint32_t>(exec, {40, 30, 20}, 3000, 0.3);
                      }),
      processes);
}

/// Calls call(processes, options) where the last process has options that `change` changes: all
/// get an error that names the option.
template <class Options, class Change, class Call>
void expect_refused(char const* name, Options options, Change const& change, Call const& call) {
  Communicator const processes(MPI_COMM_WORLD);
  if (processes.size() == 1) return;
  if (processes.rank() + 1 == processes.size()) change(options);
  INFO(name);
  CHECK_THROWS_WITH(
      call(processes, options),
      Catch::Matchers::ContainsSubstring(std::string(": ") + name + ": process 0 has ") &&
          Catch::Matchers::ContainsSubstring(", and process "));
}

TEST_CASE("Processes whose options of CP-ALS differ are refused", "[mpi]") {
  auto const X = part<double>();
  CpAlsOptions given;
  given.rank = 3;
  given.iterations = 2;
  auto const refused = [&](char const* name, auto const& change) {
    expect_refused(name, given, change, [&](auto const& processes, CpAlsOptions const& options) {
      cp_als(processes, Exec(), X, options);
    });
  };
  refused("rank", [](auto& options) { options.rank = 4; });
  refused("rank", [](auto& options) { options.rank = 0; });  // refused on one alone, too
  refused("iterations", [](auto& options) { options.iterations = 3; });
  refused("tolerance", [](auto& options) { options.tolerance *= 1 + 1e-15; });
  refused("seed", [](auto& options) { options.seed = std::uint64_t{1} << 63; });
  refused("init", [](auto& options) { options.init = CpAlsInit::hosvd; });
  refused("starts", [](auto& options) { options.starts = 2; });
  refused("non_negative", [](auto& options) { options.non_negative = true; });
  refused("regularization", [](auto& options) { options.regularization = 1; });
  refused("strategy", [](auto& options) { options.strategy = MttkrpStrategy::sorted; });
  refused("dimension_tree", [](auto& options) { options.dimension_tree = false; });
  refused("gather", [](auto& options) { options.gather = GatherPrecision::half; });
  refused("slices", [](auto& options) { options.slices = 2; });
  refused("memory", [](auto& options) { options.memory = 1 << 30; });
}

TEST_CASE("Processes whose options of CP-APR differ are refused", "[mpi]") {
  auto const X = part<double>();
  CpAprOptions given;
  given.rank = 3;
  given.iterations = 2;
  auto const refused = [&](char const* name, auto const& change) {
    expect_refused(name, given, change, [&](auto const& processes, CpAprOptions const& options) {
      cp_apr(processes, Exec(), X, options);
    });
  };
  refused("rank", [](auto& options) { options.rank = 4; });
  refused("iterations", [](auto& options) { options.iterations = 3; });
  refused("inner_iterations", [](auto& options) { options.inner_iterations = 3; });
  refused("tolerance", [](auto& options) { options.tolerance = 0; });
  refused("seed", [](auto& options) { options.seed = 2; });
  refused("starts", [](auto& options) { options.starts = 2; });
  refused("method", [](auto& options) { options.method = CpAprMethod::mu; });
  refused("kappa", [](auto& options) { options.kappa = 0.02; });
}

TEST_CASE("Processes whose options of Tucker differ are refused", "[mpi]") {
  auto const X = part<double>();
  TuckerOptions given;
  given.ranks = {2, 2, 2};
  given.iterations = 2;
  auto const refused = [&](char const* name, auto const& change) {
    expect_refused(name, given, change, [&](auto const& processes, TuckerOptions const& options) {
      tucker(processes, Exec(), X, options);
    });
  };
  refused("ranks", [](auto& options) { options.ranks = {2, 3, 2}; });
  refused("ranks", [](auto& options) { options.ranks = {2, 2}; });
  refused("iterations", [](auto& options) { options.iterations = 3; });
  refused("init", [](auto& options) { options.init = TuckerInit::hosvd; });
  refused("singular_vectors",
          [](auto& options) { options.singular_vectors = SingularVectorMethod::gram; });
}

TEST_CASE("Processes whose options of plans differ are refused", "[mpi]") {
  auto const X = part<double>();
  MttkrpOptions given;
  given.rank = 3;
  auto const refused = [&](char const* name, auto const& change) {
    expect_refused(name, given, change, [&](auto const& processes, MttkrpOptions const& options) {
      make_mttkrp_plan(processes, Exec(), X, options);
    });
  };
  refused("rank", [](auto& options) { options.rank = 8; });
  refused("strategy", [](auto& options) { options.strategy = MttkrpStrategy::fibers; });
  refused("slices.rows", [](auto& options) { options.slices.rows = {{0}, {0, 1}, {}}; });
  expect_refused(
      "seed", 1, [](int& seed) { seed = 2; },
      [](auto const& processes, int seed) {
        generate_like<double>(processes, Exec(), "uber", 1000, static_cast<std::uint64_t>(seed));
      });
}

TEST_CASE("Processes that compute in other precisions, or other methods, are refused", "[mpi]") {
  auto const X = part<double>();
  auto const Y = part<float>();
  CpAlsOptions options;
  options.rank = 3;
  options.iterations = 2;
  CpAprOptions counts;
  counts.rank = 3;
  counts.iterations = 2;
  expect_refused(
      "the precision", false, [](bool& is_float) { is_float = true; },
      [&](auto const& processes, bool is_float) {
        is_float ? void(cp_als(processes, Exec(), Y, options))
                 : void(cp_als(processes, Exec(), X, options));
      });
  Communicator const processes(MPI_COMM_WORLD);
  if (processes.size() == 1) return;
  bool const is_last = processes.rank() + 1 == processes.size();
  CHECK_THROWS_WITH(
      is_last ? void(make_cp_apr_problem(processes, Exec(), X, counts))
              : void(make_cp_als_problem(processes, Exec(), X, options)),
      Catch::Matchers::ContainsSubstring("process 0 calls make_cp_als_problem, and process "));
}

TEST_CASE("An observer of one process alone is refused, and one that throws anything ends all",
          "[mpi]") {
  auto const X = part<double>();
  CpAlsOptions options;
  options.rank = 3;
  options.iterations = 5;
  options.tolerance = 0;
  options.init = CpAlsInit::random;  // else it sees the iterations after a race
  expect_refused(
      "an observer", Observer{},
      [](Observer& observer) { observer = [](IterationInfo const&) { return true; }; },
      [&](auto const& processes, Observer const& observer) {
        cp_als(processes, Exec(), X, options, observer);
      });
  Communicator const processes(MPI_COMM_WORLD);
  bool const throws = processes.rank() + 1 == processes.size();
  Observer const observer = [&](IterationInfo const& now) -> bool {
    if (throws && now.iteration == 2) throw 7;
    return true;
  };
  if (throws)
    CHECK_THROWS_AS(cp_als(processes, Exec(), X, options, observer), int);
  else
    CHECK_THROWS_WITH(cp_als(processes, Exec(), X, options, observer),
                      Catch::Matchers::ContainsSubstring("an exception that is no std::exception"));
}

}  // namespace
