// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/definitions.hpp>
#include <sporades/algorithms/generate.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/memory.hpp>

// The memory of GCP before it runs.

using namespace sporades;

namespace {

/// A run takes no more than is counted before, and what is counted is at most so many times as
/// much.
template <class ExecutionSpace, class Tensor>
void check_need(ExecutionSpace const& exec, Tensor const& X, GcpOptions const& options,
                double most) {
  auto const need = memory_need(exec, X, options);
  auto const recording = test::record([&] {
    auto own = test::copy_of(exec, X);
    gcp(exec, hand_over(own), options);
  });
  double const held = test::peak_of<typename Tensor::MemorySpace>(recording);
  INFO("counted " << need.peak << ", held " << held);
  CHECK(need.peak >= held);
  CHECK(need.peak <= most * held + 20000);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("memory_need counts what GCP holds", "[algorithms][memory][gcp]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = test::new_instance<typename TestType::ExecutionSpace>();
  auto const trial = GENERATE(from_range(test::memory_trials()));
  auto const loss = GENERATE("gaussian", "poisson");
  auto const absent = GENERATE(AbsentEntries::zero, AbsentEntries::missing);
  auto const method = GENERATE(GcpMethod::automatic, GcpMethod::lbfgsb);
  int const starts = GENERATE(1, 2);
  CAPTURE(to_string(trial.dims), trial.nnz, trial.rank, loss, to_string(absent), to_string(method),
          starts);
  bool const is_poisson = loss == std::string("poisson");
  if (is_poisson != (absent == AbsentEntries::missing)) return;  // both losses, and both kinds
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
  check_need(exec, X, options, test::most_counted);
}

TEMPLATE_LIST_TEST_CASE("memory_need counts what GCP draws and enumerates",
                        "[algorithms][memory][gcp]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = test::new_instance<typename TestType::ExecutionSpace>();
  auto const trial = GENERATE(test::MemoryTrial{{1000, 800, 600}, 9000, 0.8, 16},
                              test::MemoryTrial{{500, 700}, 8000, 0.2, 20},
                              test::MemoryTrial{{64, 64, 64, 64, 64}, 5000, 0, 5},
                              test::MemoryTrial{{300000, 200, 100}, 6000, 0.5, 3},
                              test::MemoryTrial{{40, 30, 20}, 8000, 0, 33});
  auto const loss = GENERATE("beta:1.5", "bernoulli-logit");
  auto const zeros = GENERATE(GcpZeros::samples, GcpZeros::enumeration);
  auto const method = GENERATE(GcpMethod::automatic, GcpMethod::adam);
  Position const nonzeros = GENERATE(0, 3000);
  if (zeros == GcpZeros::enumeration && sporades::detail::dense_size(trial.dims) > 1e6) return;
  if (nonzeros > 0 && (zeros != GcpZeros::samples || method != GcpMethod::adam)) return;
  if (nonzeros == 0 && zeros == GcpZeros::samples && method == GcpMethod::adam) return;
  CAPTURE(to_string(trial.dims), trial.nnz, trial.rank, loss, to_string(zeros), to_string(method),
          nonzeros);
  auto X = generate<Scalar, std::uint32_t>(exec, trial.dims, trial.nnz, trial.skew);
  Kokkos::deep_copy(X.values, Scalar(1));
  GcpOptions options;
  options.rank = trial.rank;
  options.loss = loss_from_name(loss);
  options.method = method;
  options.tuning.zeros = zeros;
  options.tuning.nonzeros = nonzeros;
  options.tuning.epoch = 7;
  options.iterations = zeros == GcpZeros::samples ? 1 : 8;
  options.tolerance = 0;
  // Cells that are drawn twice are counted as if they were not.
  check_need(exec, X, options, 1.4);
}
