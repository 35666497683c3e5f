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
                                          CpAlsOptions options, int iterations,
                                          Observer const& observer) {
  Communicator const processes(MPI_COMM_WORLD);
  options.iterations = iterations;
  cp_als(processes, exec, brought, options, observer);
  return processes.traffic();
}

struct Trial {
  Dims dims;
  Position nnz;
  double skew;
  int rank;
};

template <class TestType>
auto random_tensor(Trial const& trial) {
  typename TestType::ExecutionSpace const exec{};
  return test::made_once(test::all_processes(), [&] {
    auto const all =
        generate<typename TestType::Scalar, std::uint32_t>(exec, trial.dims, trial.nnz, trial.skew);
    return sum_duplicates(exec, all).tensor;
  });
}

/// Each name's messages and bytes in an iteration are those of the model.
template <class TestType, class Tensor>
void check_model(Tensor const& X, CpAlsOptions options, Observer const& observer = {}) {
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  auto const& processes = test::all_processes();
  options.tolerance = 0;
  CAPTURE(to_string(X.dims), X.nnz(), to_string(options.strategy), processes.size(),
          processes.rank(), sizeof(typename Tensor::Scalar));
  auto const brought = test::part_of(exec, X, processes);
  auto const two = traffic_of(exec, brought, options, 2, observer),
             four = traffic_of(exec, brought, options, 4, observer);
  auto const model =
      detail::model_iteration<Exec>(copy_to(Kokkos::DefaultHostExecutionSpace{}, X), options,
                                    processes.size(), static_cast<bool>(observer));
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

TEMPLATE_LIST_TEST_CASE("The model of an iteration of CP-ALS has the traffic of one",
                        "[mpi][variants]", sporades::test::Cases) {
  CpAlsOptions options;
  options.init = CpAlsInit::random;
  options.strategy = GENERATE(MttkrpStrategy::sorted, MttkrpStrategy::fibers, MttkrpStrategy::alto);
  bool const is_alto = options.strategy == MttkrpStrategy::alto;
  if (is_alto && detail::is_gpu<typename TestType::ExecutionSpace>) return;
  auto const trial =
      GENERATE(Trial{{60, 50, 40}, 40000, 0.9, 5}, Trial{{200, 300, 150}, 60000, 1.4, 8},
               Trial{{40, 3, 50, 7}, 20000, 0.6, 4}, Trial{{4000, 300, 2, 60}, 50000, 0.9, 16},
               Trial{{1, 3, 1}, 3, 0, 2}, Trial{{70000, 30}, 30000, 0.5, 3});
  if (is_alto && trial.dims[0] > 1000) return;  // needs atomics
  options.rank = trial.rank;
  auto const X = random_tensor<TestType>(trial);
  check_model<TestType>(X, options);
  check_model<TestType>(X, options, [](IterationInfo const&) { return true; });
}

TEMPLATE_LIST_TEST_CASE("The model of an iteration with fused modes has the traffic of one",
                        "[mpi]", sporades::test::Cases) {
  auto const trial =
      GENERATE(Trial{{30000, 2, 700}, 50000, 0.5, 16}, Trial{{20, 9, 3000, 10}, 60000, 0.8, 5},
               Trial{{5, 4, 6, 3, 7, 2, 5}, 3000, 0.3, 4});
  CpAlsOptions options;
  options.init = CpAlsInit::random;
  options.rank = trial.rank;
  auto const X = random_tensor<TestType>(trial);
  REQUIRE_FALSE(
      detail::choose_fused_modes<typename TestType::ExecutionSpace, typename TestType::Scalar>(
          X.dims, X.nnz(), trial.rank)
          .empty());
  check_model<TestType>(X, options);
}

}  // namespace
