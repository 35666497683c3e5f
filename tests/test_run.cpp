// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/algorithms/tucker.hpp>
#include <sporades/kernels/log_likelihood.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>
#include <support/tools.hpp>

namespace {

using sporades::IterationInfo;
using sporades::StopReason;
using Exec = Kokkos::DefaultExecutionSpace;
using Tensor = sporades::CooTensor<double, std::uint32_t, Exec::memory_space>;

/// Values of random_coo are above 0: counts that are not whole.
Tensor positive_tensor(Exec const& exec) {
  auto const X = sporades::test::random_coo<double, std::uint32_t>(exec, {20, 15, 10}, 600);
  auto const values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, X.values);
  for (std::size_t p = 0; p < values.extent(0); ++p) values(p) = std::abs(values(p));
  Kokkos::deep_copy(X.values, values);
  return X;
}

/// What the observer of a run of two starts, four iterations each, sees; and a run that is stopped
/// in its second start. last(result) is the value that the result's last iteration reached.
template <class Options, class Run, class Last>
void check_observer(Options options, Run const& run, Last const& last) {
  options.starts = 2;
  options.iterations = 4;
  options.tolerance = 0;
  std::vector<IterationInfo> seen;
  auto const whole = run(options, [&](IterationInfo const& now) {
    seen.push_back(now);
    return true;
  });
  CHECK(whole.stop == StopReason::iterations);
  CHECK(!whole.is_stopped());
  CHECK(!whole.converged);
  CHECK(whole.iterations() == 4);
  CHECK(whole.seconds.size() == 4);
  REQUIRE(seen.size() == 8);
  for (int k = 0; k < 8; ++k) {
    CHECK(seen[k].start == k / 4);
    CHECK(seen[k].iteration == k % 4 + 1);
    CHECK(seen[k].seconds > 0);
    if (k % 4 > 0)
      CHECK(seen[k].change == seen[k].value - seen[k - 1].value);
    else
      CHECK(seen[k].change == HUGE_VAL);
  }
  CHECK(whole.start_scores == std::vector<double>{seen[3].value, seen[7].value});
  CHECK(last(whole) == std::max(seen[3].value, seen[7].value));
  CHECK(whole.value() == last(whole));
  int const best = whole.value() == seen[3].value ? 0 : 4;
  REQUIRE(whole.values.size() == 4);
  for (int k = 0; k < 4; ++k) CHECK(whole.values[k] == seen[best + k].value);

  int calls = 0;
  auto const stopped = run(options, [&](IterationInfo const& now) {
    ++calls;
    return now.start == 0 || now.iteration < 2;
  });
  CHECK(calls == 6);
  CHECK(stopped.stop == StopReason::observer);
  CHECK(stopped.is_stopped());
  CHECK(stopped.start_scores == std::vector<double>{seen[3].value});

  options.starts = 1;
  options.iterations = 100;
  options.tolerance = 1e6;
  auto const converged = run(options, sporades::Observer());
  CHECK(converged.stop == StopReason::converged);
  CHECK(converged.converged);
}

sporades::TuckerOptions tucker_options() {
  sporades::TuckerOptions options;
  options.ranks = {4, 3, 2};
  return options;
}

TEST_CASE("all methods show an observer the same, and stop when it says so", "[algorithms][run]") {
  Exec const exec{};
  auto const X = positive_tensor(exec);
  SECTION("CP-ALS") {
    check_observer(
        sporades::CpAlsOptions(),
        [&](auto const& options, sporades::Observer const& observer) {
          return cp_als(exec, X, options, observer);
        },
        [](auto const& result) { return result.fit(); });
  }
  SECTION("CP-APR") {
    sporades::CpAprOptions options;
    options.method = sporades::CpAprMethod::mu;
    options.inner_iterations = 1;
    check_observer(
        options,
        [&](auto const& with, sporades::Observer const& observer) {
          return cp_apr(exec, X, with, observer);
        },
        [](auto const& result) { return result.log_likelihood(); });
  }
  SECTION("Tucker") {
    check_observer(
        tucker_options(),
        [&](auto const& options, sporades::Observer const& observer) {
          return tucker(exec, X, options, observer);
        },
        [](auto const& result) { return result.fit(); });
  }
}

/// Every launch within run() is in a region, all regions are the method's, and each mode has its
/// phase.
template <class Run>
void check_regions(Run const& run, std::string const& method, std::string const& phase) {
  auto const recording = sporades::test::record(run);
  CHECK(!recording.launches.empty());
  CHECK(recording.outside.empty());
  CHECK(recording.inside.empty());
  for (auto const& path : recording.regions) {
    INFO(path);
    CHECK((path + " > ").rfind(method + " > ", 0) == 0);
  }
  for (int n = 0; n < 3; ++n) {
    auto const mode = "mode " + std::to_string(n);
    auto const wanted = method + " > " + mode + " > " + phase + " " + mode;
    INFO(wanted);
    CHECK(std::count(recording.regions.begin(), recording.regions.end(), wanted) > 0);
  }
}

TEST_CASE("Kokkos Tools see the method, its mode and its phase around each kernel",
          "[algorithms][run]") {
  Exec const exec{};
  auto const X = positive_tensor(exec);
  SECTION("CP-ALS") {
    sporades::CpAlsOptions options;
    options.init = sporades::CpAlsInit::random;
    options.iterations = 2;
    auto problem = make_cp_als_problem(exec, X, options);
    auto state = cp_als_start(exec, X, options);
    check_regions([&] { cp_als(exec, problem, options, state); }, "sporades::cp_als", "mttkrp");
  }
  SECTION("CP-APR") {
    sporades::CpAprOptions options;
    options.iterations = 2;
    bool const by_rows = GENERATE(false, true);
    if (!by_rows) options.method = sporades::CpAprMethod::mu;
    auto problem = make_cp_apr_problem(exec, X, options);
    auto state = sporades::cp_apr_start<double>(exec, X.dims, options);
    check_regions([&] { cp_apr(exec, problem, options, state); }, "sporades::cp_apr",
                  by_rows ? "rows" : "phi");
  }
  SECTION("Tucker") {
    auto options = tucker_options();
    options.iterations = 2;
    auto problem = make_tucker_problem(exec, X, options);
    auto state = tucker_start(exec, X, options);
    check_regions([&] { tucker(exec, problem, options, state); }, "sporades::tucker", "ttm_chain");
  }
}

}  // namespace
