// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/detail/cp_apr/cp_apr_method.hpp>
#include <sporades/kernels/phi.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/cp_apr.hpp>
#include <support/same_bits.hpp>
#include <support/streaming.hpp>

using namespace sporades;
using namespace sporades::test;

TEMPLATE_LIST_TEST_CASE("Streamed products have the bits of others", "[kernels][streaming]",
                        Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  auto const problem = GENERATE(from_range(streamed_problems()));
  auto const X = random_coo<Scalar, Index>(exec, problem.dims, problem.nnz, 5, problem.skew);
  auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  for (auto strategy :
       {MttkrpStrategy::automatic, MttkrpStrategy::sorted, MttkrpStrategy::fibers}) {
    MttkrpOptions options{strategy, 5, {RowOrder::lexicographic}};
    if (strategy == MttkrpStrategy::fibers) options.rows.order = RowOrder::automatic;
    auto resident = make_mttkrp_plan(exec, X, options);
    for (auto const& way : ways()) {
      // It takes one of the others: that it takes the same streamed and not is seen once.
      if (strategy == MttkrpStrategy::automatic && way.streams != 3) continue;
      INFO(to_string(problem.dims) << ", " << to_string(strategy) << ", streams " << way.streams
                                   << ", memory " << way.memory);
      options.streaming = way;
      auto out_of_core = make_mttkrp_plan(exec, host, options);
      bool const is_streamed =
          problem.nnz * (4 + sizeof(Scalar)) * problem.dims.size() > way.memory;
      for (int n = 0; n < X.order(); ++n) {
        if (problem.nnz > 0 && is_streamed)
          CHECK(sporades::detail::is_out_of_core(out_of_core.formats, n));
        CHECK(out_of_core.choices[n].strategy == resident.choices[n].strategy);
        CHECK(out_of_core.choices[n].split == resident.choices[n].split);
      }
      for (int R : {33, 5, 1}) {  // the widest with all ways, the others with one each
        if (R == 5 && way.streams != 3) continue;
        if (R == 1 && way.streams != 5) continue;
        INFO("R " << R);
        auto const A = random_factors<Scalar>(exec, problem.dims, R, 3);
        for (int n = 0; n < X.order(); ++n) {
          auto const V = make_matrix<Scalar>(exec, "V", problem.dims[n], R);
          auto const W = make_matrix<Scalar>(exec, "W", problem.dims[n], R);
          Kokkos::deep_copy(exec, W, Scalar(7));
          mttkrp(exec, resident, A, n, V);
          mttkrp(exec, out_of_core, A, n, W);
          CHECK(hash_bits(V) == hash_bits(W));
        }
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("Streamed Phi has the bits of others", "[kernels][streaming]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  auto const problem = GENERATE(from_range(streamed_problems()));
  int const R = GENERATE(4, 7, 70, 260);  // one pass and two
  if (R > 100 && problem.nnz > 6000) return;
  auto const X = random_coo<Scalar, Index>(exec, problem.dims, problem.nnz, 5, problem.skew);
  auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  auto const A = random_factors<Scalar>(exec, problem.dims, R, 3);
  PhiOptions options{PhiStrategy::pull, R};
  auto resident = make_phi_plan(exec, X, options);
  for (auto const& way : ways()) {
    INFO(to_string(problem.dims) << ", R " << R << ", streams " << way.streams << ", memory "
                                 << way.memory);
    if (R == 4 && way.streams != 3) continue;
    if (R > 10 && way.streams % 2 == 0) continue;
    options.streaming = way;
    auto out_of_core = make_phi_plan(exec, host, options);
    for (int n = 0; n < X.order(); ++n) {
      auto const V = make_matrix<Scalar>(exec, "V", problem.dims[n], R);
      auto const W = make_matrix<Scalar>(exec, "W", problem.dims[n], R);
      Kokkos::deep_copy(exec, W, Scalar(7));
      phi(exec, resident, A, A[n], n, V);
      phi(exec, out_of_core, A, A[n], n, W);
      CHECK(hash_bits(V) == hash_bits(W));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("A GPU streams only the copies that do not fit", "[kernels][streaming]",
                        Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  using Memory = typename TestType::MemorySpace;
  typename TestType::ExecutionSpace const exec{};
  constexpr bool on_gpu = sporades::detail::is_gpu<typename TestType::ExecutionSpace>;
  Dims const dims{500, 400, 300};
  int const R = GENERATE(5, 70);  // Phi in one pass, and in two with a weight a nonzero
  auto const X = random_coo<Scalar, Index>(exec, dims, 60000, 5, 2);
  auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  auto const A = random_factors<Scalar>(exec, dims, R, 3);
  std::uint64_t const copy = X.nnz() * (4 + sizeof(Scalar));
  std::uint64_t const window = (1 << 12) + 4096,
                      instance =
                          sporades::detail::instance_bytes<typename TestType::ExecutionSpace>;
  std::uint64_t const windows = 2 * (window + instance);
  REQUIRE(windows < copy);  // so that what is left for windows holds no copy
  std::uint64_t const weights = X.nnz() * sizeof(Scalar);
  auto resident = make_mttkrp_plan(exec, X, {MttkrpStrategy::sorted, R});
  auto resident_phi = make_phi_plan(exec, X, {PhiStrategy::pull, R});
  for (std::uint64_t fit : {0, 1, 2, 3}) {
    if (!on_gpu && fit % 3 != 0) continue;  // a host streams all or nothing
    Streaming const streaming{fit * copy + (fit < 3 ? windows : 0), 2, 1 << 12};
    MttkrpOptions options{MttkrpStrategy::sorted, R};
    options.streaming = streaming;
    PhiOptions phi_options{PhiStrategy::pull, R, Pi::on_the_fly, streaming};
    if (R == 70) phi_options.streaming.memory += weights;
    auto out_of_core = make_mttkrp_plan(exec, host, options);
    auto out_of_core_phi = make_phi_plan(exec, host, phi_options);
    INFO(fit << " resident copies, R " << R);
    for (auto const* plan : {&out_of_core, &out_of_core_phi.products}) {
      auto const streamed =
          static_cast<std::uint64_t>(sporades::detail::count_out_of_core(plan->formats));
      if (on_gpu) CHECK(streamed == 3 - fit);
      if (!on_gpu) CHECK(streamed == (fit < 3 ? 3 : 0));
    }
    for (int n = 0; n < 3; ++n) {
      auto const V = make_matrix<Scalar>(exec, "V", dims[n], R);
      auto const W = make_matrix<Scalar>(exec, "W", dims[n], R);
      mttkrp(exec, resident, A, n, V);
      mttkrp(exec, out_of_core, A, n, W);
      CHECK(hash_bits(V) == hash_bits(W));
      phi(exec, resident_phi, A, A[n], n, V);
      Kokkos::deep_copy(exec, W, Scalar(7));
      phi(exec, out_of_core_phi, A, A[n], n, W);
      CHECK(hash_bits(V) == hash_bits(W));
    }
    // Windows take what resident copies, and weights, leave.
    if (on_gpu && fit < 3) {
      CHECK(out_of_core.work.carry.windows.bytes() <= streaming.memory - fit * copy + 2048);
      CHECK(out_of_core_phi.products.work.carry.windows.bytes() <=
            streaming.memory - fit * copy + 2048);
    }
  }
  // Without a limit what is on the host is streamed.
  auto const all = make_mttkrp_plan(exec, host, {MttkrpStrategy::sorted, R});
  using Given = typename decltype(host)::MemorySpace;
  if (!std::is_same_v<Memory, Given>)
    CHECK(sporades::detail::count_out_of_core(all.formats) == all.order());
}

TEST_CASE("Streaming refuses what it cannot do", "[kernels][streaming]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, Dims{6, 5, 4}, 40, 1, 1);
  MttkrpOptions options;
  options.streaming.streams = 0;
  CHECK_THROWS_AS(make_mttkrp_plan(exec, X, options), Error);
  auto const wide = random_coo<double, std::uint32_t>(exec, Dims(6, 8000), 40, 1, 1);
  options = {MttkrpStrategy::sorted};
  options.streaming.memory = 1;
  CHECK_THROWS_WITH(make_mttkrp_plan(exec, wide, options),
                    Catch::Matchers::ContainsSubstring("cannot be streamed"));
}

TEMPLATE_LIST_TEST_CASE("A streamed CP-ALS gives the model of others", "[algorithms][streaming]",
                        Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  // Duplicates, a scale far from 1, and modes that a dimension tree fuses in the second.
  Dims const dims = GENERATE(Dims{300, 200, 100}, Dims{4000, 3, 4, 5});
  auto const X = random_coo<Scalar, std::uint32_t>(exec, dims, 30000, 5, 2);
  Kokkos::deep_copy(exec, Kokkos::subview(X.values, std::make_pair(0, 3)), Scalar(3e20));
  CpAlsOptions options;
  options.init = CpAlsInit::random;
  options.rank = 9;
  options.iterations = 4;
  options.tolerance = 0;
  options.strategy = GENERATE(MttkrpStrategy::automatic, MttkrpStrategy::sorted);
  auto const resident = cp_als(exec, X, options);
  auto out_of_core_options = options;
  out_of_core_options.streaming = {1 << 14, 3, 0};
  auto problem = make_cp_als_problem(exec, copy_to(Kokkos::DefaultHostExecutionSpace{}, X),
                                     out_of_core_options);
  auto state = cp_als_start(exec, X, options);
  auto const two = [&](IterationInfo const& now) { return now.iteration != 2; };
  cp_als(exec, problem, out_of_core_options, state, two);
  auto again = restore<decltype(state)>(exec, snapshot(exec, state));
  auto const out_of_core = cp_als(exec, problem, out_of_core_options, again);
  CHECK(out_of_core.values == resident.values);
  CHECK(hash_bits(out_of_core.model.weights) == hash_bits(resident.model.weights));
  for (std::size_t n = 0; n < dims.size(); ++n)
    CHECK(hash_bits(out_of_core.model.factors[n]) == hash_bits(resident.model.factors[n]));
}

TEMPLATE_LIST_TEST_CASE("A streamed log-likelihood has the bits of others", "[kernels][streaming]",
                        Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  using Memory = typename TestType::MemorySpace;
  auto const problem = GENERATE(from_range(streamed_problems()));
  auto const X = random_counts<Scalar, Index>(exec, problem.dims, problem.nnz, 5, problem.skew);
  auto const A = random_factors<Scalar>(exec, problem.dims, 5, 3);
  Kokkos::deep_copy(exec, Kokkos::subview(A[0], std::make_pair(0, 1), Kokkos::ALL), Scalar(0));
  Kokkos::View<double*, Memory> const weights("weights", 5);
  Kokkos::deep_copy(weights, 0.25);
  sporades::detail::LogLikelihoodBuffers<Memory> buffers;
  auto const resident = sporades::detail::run_log_likelihood(exec, X, A, weights, buffers);
  if (problem.nnz > 20) CHECK(resident.zero_model_nonzeros > 0);
  auto const out_of_core =
      sporades::detail::to_out_of_core(exec, copy_to(Kokkos::DefaultHostExecutionSpace{}, X));
  for (auto const& way : ways()) {
    INFO(to_string(problem.dims) << ", streams " << way.streams << ", memory " << way.memory);
    sporades::detail::Windows<Memory> windows;
    windows.options = way;
    auto const streamed = sporades::detail::run_log_likelihood(exec, out_of_core.tensor, A, weights,
                                                               buffers, &windows);
    CHECK(streamed.value == resident.value);
    CHECK(streamed.zero_model_nonzeros == resident.zero_model_nonzeros);
    CHECK((windows.bytes() > 0) == (problem.nnz > 0));
  }
}

TEMPLATE_LIST_TEST_CASE("A streamed CP-APR gives the model of others", "[algorithms][streaming]",
                        Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  using State = CpAprState<Scalar, typename TestType::MemorySpace>;
  typename TestType::ExecutionSpace const exec{};
  auto const problem = GENERATE(from_range(streamed_problems()));
  bool const is_hard = GENERATE(false, true);
  double const unit = is_hard ? 0.375 : 1.0;  // fractions are scaled
  auto const X = random_counts<Scalar, Index>(exec, problem.dims, problem.nnz, 5, problem.skew);
  auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  if (unit != 1) {
    for (Position p = 0; p < problem.nnz; ++p) host.values(p) *= static_cast<Scalar>(unit);
    Kokkos::deep_copy(exec, X.values, host.values);
  }
  auto options = apr_options(6, 3);
  options.method = GENERATE(CpAprMethod::mu, CpAprMethod::pdnr, CpAprMethod::pqnr);
  if (options.method == CpAprMethod::mu) options.strategy = PhiStrategy::pull;
  options.inner_iterations = 3;
  auto out_of_core_options = options;
  out_of_core_options.streaming = {1 << 14, 3, 0};
  if (problem.nnz == 0) {
    CHECK_THROWS_WITH(make_cp_apr_problem(exec, host, out_of_core_options),
                      Catch::Matchers::ContainsSubstring("has no nonzeros"));
    return;
  }
  // A row of zeros in the start: counts have a model of 0, which is raised.
  auto start = cp_apr_start<Scalar>(exec, problem.dims, options);
  if (is_hard)
    Kokkos::deep_copy(exec, Kokkos::subview(start.factors[0], std::make_pair(0, 1), Kokkos::ALL),
                      Scalar(0));
  INFO(to_string(problem.dims) << ", is_hard " << is_hard << ", method "
                               << to_string(options.method));
  auto const saved = snapshot(exec, start);
  auto resident_problem = make_cp_apr_problem(exec, X, options);
  auto resident_state = restore<State>(exec, saved);
  auto const resident = cp_apr(exec, resident_problem, options, resident_state);
  auto out_of_core_problem = make_cp_apr_problem(exec, host, out_of_core_options);
  auto out_of_core_state = restore<State>(exec, saved);
  CHECK_FALSE(resident_problem.out_of_core);
  bool const is_streamed = problem.nnz * (4 + sizeof(Scalar)) * problem.dims.size() > 1 << 14;
  if (is_streamed) CHECK(out_of_core_problem.out_of_core);
  CHECK(out_of_core_problem.unit == resident_problem.unit);
  auto const two = [](IterationInfo const& now) { return now.iteration != 2; };
  cp_apr(exec, out_of_core_problem, out_of_core_options, out_of_core_state, two);
  auto again = restore<State>(exec, snapshot(exec, out_of_core_state));
  auto const out_of_core = cp_apr(exec, out_of_core_problem, out_of_core_options, again);
  REQUIRE(out_of_core.history.size() == resident.history.size());
  for (std::size_t k = 0; k < resident.history.size(); ++k) {
    CHECK(out_of_core.history[k].log_likelihood == resident.history[k].log_likelihood);
    CHECK(out_of_core.history[k].zero_model_nonzeros == resident.history[k].zero_model_nonzeros);
  }
  CHECK(hash_bits(out_of_core.model.weights) == hash_bits(resident.model.weights));
  for (std::size_t n = 0; n < problem.dims.size(); ++n)
    CHECK(hash_bits(out_of_core.model.factors[n]) == hash_bits(resident.model.factors[n]));
}

TEMPLATE_LIST_TEST_CASE("Rows are solved with the same bits from windows",
                        "[algorithms][streaming]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  typename TestType::ExecutionSpace const exec{};
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const problem = GENERATE(from_range(streamed_problems()));
  Position const segment = GENERATE(1, 37, 100000);  // all rows are long, some, none
  Position const window = problem.nnz > 1000 ? 3000 : GENERATE(1, 50);
  if (segment == 1 && problem.nnz > 100) return;
  int const n = 0, R = 5;
  auto const X = random_counts<Scalar>(exec, problem.dims, problem.nnz, 5, problem.skew);
  auto const sorted_X = sorted(exec, X, {n});
  auto const resident = sporades::detail::make_row_subproblems(exec, sorted_X, n, R, segment);
  auto const out_of_core =
      sporades::detail::make_row_subproblems(exec, copy_to(host, sorted_X), n, R, segment, window);
  CHECK(out_of_core.out_of_core);
  CHECK(resident.long_rows.extent(0) == out_of_core.long_rows.extent(0));
  if (segment == 37 && problem.nnz > 5000 && problem.dims[0] <= 500)
    CHECK(out_of_core.long_windows.size() > 1);
  auto const A = random_factors<Scalar>(exec, problem.dims, R, 3);
  sporades::detail::Windows<Memory> windows;
  sporades::detail::RowWorkspace<Memory> resident_workspace, out_of_core_workspace;
  for (auto steps :
       {sporades::detail::RowSteps::damped_newton, sporades::detail::RowSteps::quasi_newton}) {
    INFO(to_string(problem.dims) << ", segments of " << segment << ", windows of " << window);
    sporades::detail::RowOptions options;
    options.steps = steps;
    auto const B = copy_matrix(exec, A[n]), C = copy_matrix(exec, A[n]);
    sporades::detail::solve_rows(exec, resident, A, B, options, resident_workspace);
    sporades::detail::solve_rows(exec, out_of_core, A, C, options, out_of_core_workspace, &windows);
    CHECK(hash_bits(B) == hash_bits(C));
    CHECK(on_host(resident_workspace.violation)() == on_host(out_of_core_workspace.violation)());
    CHECK(on_host(resident_workspace.inner_iterations)() ==
          on_host(out_of_core_workspace.inner_iterations)());
  }
}
