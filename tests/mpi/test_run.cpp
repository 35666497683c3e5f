// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/algorithms/generate.hpp>
#include <sporades/algorithms/tucker.hpp>
#include <support/catch.hpp>

#include "parts.hpp"

using namespace sporades;

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;

/// This process's nonzeros of a tensor of 40 x 30 x 20, and options of runs that do not converge.
struct Runs {
  Exec exec;
  Communicator processes = test::all_processes();
  CooTensor<double, std::uint32_t, Memory> part = test::part_of(
      exec,
      test::made_once(processes,
                      [&] {
                        return generate<double, std::uint32_t>(exec, {40, 30, 20}, 3000, 0.3);
                      }),
      processes);
  CpAlsOptions als;
  CpAprOptions apr;
  TuckerOptions tucker;

  Runs() {
    als.rank = apr.rank = 3;
    als.init = CpAlsInit::random;
    tucker.ranks = {2, 2, 2};
    als.iterations = apr.iterations = tucker.iterations = 4;
    als.tolerance = apr.tolerance = tucker.tolerance = 0;
  }
};

TEST_CASE("An observer of one process stops all", "[mpi]") {
  Runs const of;
  Observer const observer = [&](IterationInfo const& now) {
    return of.processes.rank() + 1 < of.processes.size() || now.iteration < 2;
  };
  auto const check = [](RunResult const& result) {
    CHECK(result.is_stopped());
    CHECK(result.iterations() == 2);
  };
  check(cp_als(of.processes, of.exec, of.part, of.als, observer));
  check(cp_apr(of.processes, of.exec, of.part, of.apr, observer));
  check(tucker(of.processes, of.exec, of.part, of.tucker, observer));
}

TEST_CASE("A problem of several processes comes with its start", "[mpi]") {
  Runs of;
  auto const same = [](RunResult const& steps, RunResult const& whole) {
    CHECK(steps.values == whole.values);
  };
  for (auto const init : {CpAlsInit::random, CpAlsInit::hosvd}) {
    of.als.init = init;
    CpAlsState<double, Memory> state;
    auto problem = make_cp_als_problem(of.processes, of.exec, of.part, of.als, &state);
    same(cp_als(of.exec, problem, of.als, state), cp_als(of.processes, of.exec, of.part, of.als));
  }
  for (auto const init : {TuckerInit::random, TuckerInit::hosvd}) {
    of.tucker.init = init;
    TuckerState<double, Memory> state;
    auto problem = make_tucker_problem(of.processes, of.exec, of.part, of.tucker, &state);
    same(tucker(of.exec, problem, of.tucker, state),
         tucker(of.processes, of.exec, of.part, of.tucker));
  }
}

TEST_CASE("Processes that share a tensor have no limit of memory", "[mpi]") {
  Runs of;
  if (of.processes.size() == 1) return;
  of.als.memory = of.apr.memory = of.tucker.memory = 1 << 30;
  auto const why = Catch::Matchers::ContainsSubstring("options.memory is for one process");
  Communicator const one(MPI_COMM_WORLD), two(MPI_COMM_WORLD), three(MPI_COMM_WORLD);
  CHECK_THROWS_WITH(cp_als(one, of.exec, of.part, of.als), why);
  CHECK_THROWS_WITH(cp_apr(two, of.exec, of.part, of.apr), why);
  CHECK_THROWS_WITH(tucker(three, of.exec, of.part, of.tucker), why);
}

}  // namespace
