// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/detail/cp_als/model_processes.hpp>
#include <sporades/algorithms/generate.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>

#include "parts.hpp"

using namespace sporades;

namespace {

/// What this process sent in so many iterations, building the problem included.
template <class Exec, class Tensor>
std::map<std::string, Traffic> traffic_of(Exec const& exec, Tensor const& brought,
                                          CpAlsOptions options, int iterations) {
  Communicator const processes(MPI_COMM_WORLD);
  options.iterations = iterations;
  cp_als(processes, exec, brought, options);
  return processes.traffic();
}

struct Trial {
  Dims dims;
  Position nnz;
  double skew;
  int rank;
};

TEMPLATE_LIST_TEST_CASE("The model of an iteration of CP-ALS has the traffic of one",
                        "[mpi][variants]", sporades::test::MixedCases) {
  using Exec = typename TestType::ExecutionSpace;
  using Scalar = typename TestType::Scalar;
  Exec const exec{};
  Kokkos::DefaultHostExecutionSpace const host{};
  Communicator const processes(MPI_COMM_WORLD);
  CpAlsOptions options;
  options.strategy = GENERATE(MttkrpStrategy::sorted, MttkrpStrategy::fibers, MttkrpStrategy::alto);
  bool const is_alto = options.strategy == MttkrpStrategy::alto;
  if (is_alto && detail::is_gpu<Exec>) return;
  auto const trial =
      GENERATE(Trial{{60, 50, 40}, 40000, 0.9, 5}, Trial{{200, 300, 150}, 60000, 1.4, 8},
               Trial{{40, 3, 50, 7}, 20000, 0.6, 4}, Trial{{4000, 300, 2, 60}, 50000, 0.9, 16},
               Trial{{1, 3, 1}, 3, 0, 2}, Trial{{70000, 30}, 30000, 0.5, 3});
  if (is_alto && trial.dims[0] > 1000) return;  // needs atomics
  options.rank = trial.rank;
  options.tolerance = 0;
  auto const X = test::made_once(processes, [&] {
    auto const all = generate<Scalar, std::uint32_t>(exec, trial.dims, trial.nnz, trial.skew);
    return sum_duplicates(exec, all).tensor;
  });
  CAPTURE(to_string(X.dims), X.nnz(), to_string(options.strategy), processes.size(),
          processes.rank(), sizeof(Scalar));
  auto const brought = test::part_of(exec, X, processes);
  auto const two = traffic_of(exec, brought, options, 2),
             four = traffic_of(exec, brought, options, 4);
  auto const model = detail::model_iteration<Exec>(copy_to(host, X), options, processes.size());
  auto const me = static_cast<std::size_t>(processes.rank());
  std::map<std::string, detail::Volume> measured;
  for (auto const& [name, all] : four) {
    auto const before = two.count(name) > 0 ? two.at(name) : Traffic{};
    measured[name] = {(all.messages - before.messages), all.bytes - before.bytes};
  }
  if (measured["sums of values"].bytes > 0) return;  // a float's fit that comes from the nonzeros
  for (auto const& [name, one] : measured) {
    INFO(name);
    auto const found = model.exchanges.find(name);
    auto const expected =
        found == model.exchanges.end() ? detail::Volume{} : found->second.sent[me];
    CHECK(one.messages == 2 * expected.messages);
    CHECK(one.bytes == 2 * expected.bytes);
  }
  for (auto const& [name, one] : model.exchanges)
    if (one.sent[me].bytes > 0) CHECK(measured.count(name) == 1);
}

}  // namespace
