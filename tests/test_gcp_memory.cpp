// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/definitions.hpp>
#include <sporades/algorithms/generate.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/memory.hpp>

// The memory of GCP before it runs.

using namespace sporades;

TEMPLATE_LIST_TEST_CASE("memory_need counts what GCP holds", "[algorithms][memory][gcp]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  auto const exec = test::new_instance<typename TestType::ExecutionSpace>();
  auto const trial = GENERATE(from_range(test::memory_trials()));
  auto const loss = GENERATE("gaussian", "poisson");
  auto const absent = GENERATE(AbsentEntries::zero, AbsentEntries::missing);
  auto const method = GENERATE(GcpMethod::automatic, GcpMethod::lbfgsb);
  int const starts = GENERATE(1, 2);
  CAPTURE(to_string(trial.dims), trial.nnz, trial.rank, loss, to_string(absent), to_string(method),
          starts);
  if (trial.rank > 16 && (starts > 1 || method != GcpMethod::automatic)) return;
  auto X = generate<Scalar, std::uint32_t>(exec, trial.dims, trial.nnz, trial.skew);
  GcpOptions options;
  options.rank = trial.rank;
  options.loss = loss_from_name(loss);
  options.absent = absent;
  options.method = method;
  options.starts = starts;
  options.iterations = options.tuning.history + 2;  // all pairs are there
  options.tolerance = 0;
  auto const need = memory_need(exec, X, options);
  auto const recording = test::record([&] {
    auto own = test::copy_of(exec, X);
    gcp(exec, hand_over(own), options);
  });
  double const held = test::peak_of<Memory>(recording);
  INFO("counted " << need.peak << ", held " << held);
  CHECK(need.peak >= held);
  CHECK(need.peak <= test::most_counted * held + 20000);
}
