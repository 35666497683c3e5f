// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/kernels/phi.hpp>
#include <sporades/kernels/sspttm.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/cp_apr.hpp>
#include <support/same_bits.hpp>
#include <support/tensors.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

std::vector<Problem> problems() {
  return {{{5}, 9, 1},
          {{7, 4}, 20, 1},
          {{2, 300, 200}, 9000, 1},    // two rows: every window's edge cuts a row
          {{500, 400, 300}, 6000, 6},  // one row has most nonzeros; many are empty
          {{9, 8, 1, 6}, 700, 1},
          {{30, 2, 20, 10}, 5000, 2},
          {{3000, 2000, 2500, 1700}, 8000, 2},  // words of 64 bits
          {{3, 4, 2, 3, 2, 4}, 600, 1},
          {{4, 3}, 0, 1}};
}

std::vector<Streaming> ways() {
  return {{1, 1, 0}, {1, 3, 0}, {1 << 14, 2, 0}, {1, 5, 1 << 12}, {1 << 13, 4, 1 << 20}};
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("Streamed products have the bits of others", "[kernels][streaming]",
                        Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  auto const problem = GENERATE(from_range(problems()));
  int const R = GENERATE(1, 5, 33);
  auto const X = random_coo<Scalar, Index>(exec, problem.dims, problem.nnz, 5, problem.skew);
  auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  auto const A = random_factors<Scalar>(exec, problem.dims, R, 3);
  for (auto strategy :
       {MttkrpStrategy::automatic, MttkrpStrategy::sorted, MttkrpStrategy::fibers}) {
    MttkrpOptions options{strategy, R, RowOrder::lexicographic};
    if (strategy == MttkrpStrategy::fibers) options.order = RowOrder::automatic;
    auto near = make_mttkrp_plan(exec, X, options);
    for (auto const& way : ways()) {
      INFO(to_string(problem.dims) << ", R " << R << ", " << to_string(strategy) << ", streams "
                                   << way.streams << ", memory " << way.memory);
      options.streaming = way;
      auto far = make_mttkrp_plan(exec, host, options);
      bool const is_streamed =
          problem.nnz * (4 + sizeof(Scalar)) * problem.dims.size() > way.memory;
      for (int n = 0; n < X.order(); ++n) {
        if (problem.nnz > 0 && is_streamed) CHECK(far.packed[n].far != nullptr);
        CHECK(far.choices[n].strategy == near.choices[n].strategy);
        CHECK(far.choices[n].split == near.choices[n].split);
        auto const V = make_matrix<Scalar>(exec, "V", problem.dims[n], R);
        auto const W = make_matrix<Scalar>(exec, "W", problem.dims[n], R);
        Kokkos::deep_copy(exec, W, Scalar(7));
        mttkrp(exec, near, A, n, V);
        mttkrp(exec, far, A, n, W);
        CHECK(hash_bits(V) == hash_bits(W));
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("Streamed Phi has the bits of others", "[kernels][streaming]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  auto const problem = GENERATE(from_range(problems()));
  int const R = GENERATE(4, 7, 70, 260);  // one pass and two
  if (R > 100 && problem.nnz > 6000) return;
  auto const X = random_coo<Scalar, Index>(exec, problem.dims, problem.nnz, 5, problem.skew);
  auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  auto const A = random_factors<Scalar>(exec, problem.dims, R, 3);
  PhiOptions options{PhiStrategy::pull, R};
  auto near = make_phi_plan(exec, X, options);
  for (auto const& way : ways()) {
    INFO(to_string(problem.dims) << ", R " << R << ", streams " << way.streams << ", memory "
                                 << way.memory);
    options.streaming = way;
    auto far = make_phi_plan(exec, host, options);
    for (int n = 0; n < X.order(); ++n) {
      auto const V = make_matrix<Scalar>(exec, "V", problem.dims[n], R);
      auto const W = make_matrix<Scalar>(exec, "W", problem.dims[n], R);
      Kokkos::deep_copy(exec, W, Scalar(7));
      phi(exec, near, A, A[n], n, V);
      phi(exec, far, A, A[n], n, W);
      CHECK(hash_bits(V) == hash_bits(W));
    }
  }
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
  options.rank = 9;
  options.iterations = 4;
  options.tolerance = 0;
  options.strategy = GENERATE(MttkrpStrategy::automatic, MttkrpStrategy::sorted);
  auto const near = cp_als(exec, X, options);
  auto far_options = options;
  far_options.streaming = {1 << 14, 3, 0};
  auto problem =
      make_cp_als_problem(exec, copy_to(Kokkos::DefaultHostExecutionSpace{}, X), far_options);
  auto state = cp_als_start(exec, X, options);
  auto const two = [&](IterationInfo const& now) { return now.iteration != 2; };
  cp_als(exec, problem, far_options, state, two);
  auto again = restore<decltype(state)>(exec, snapshot(exec, state));
  auto const far = cp_als(exec, problem, far_options, again);
  CHECK(far.values == near.values);
  CHECK(hash_bits(far.model.weights) == hash_bits(near.model.weights));
  for (std::size_t n = 0; n < dims.size(); ++n)
    CHECK(hash_bits(far.model.factors[n]) == hash_bits(near.model.factors[n]));
}

TEMPLATE_LIST_TEST_CASE("A streamed log-likelihood has the bits of others", "[kernels][streaming]",
                        Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  using Memory = typename TestType::MemorySpace;
  auto const problem = GENERATE(from_range(problems()));
  auto const X = random_counts<Scalar, Index>(exec, problem.dims, problem.nnz, 5, problem.skew);
  auto const A = random_factors<Scalar>(exec, problem.dims, 5, 3);
  Kokkos::deep_copy(exec, Kokkos::subview(A[0], std::make_pair(0, 1), Kokkos::ALL), Scalar(0));
  Kokkos::View<double*, Memory> const weights("weights", 5);
  Kokkos::deep_copy(weights, 0.25);
  sporades::detail::LogLikelihoodBuffers<Memory> buffers;
  auto const near = sporades::detail::run_log_likelihood(exec, X, A, weights, buffers);
  if (problem.nnz > 20) CHECK(near.zero_model_nonzeros > 0);
  auto const far = sporades::detail::to_far(exec, copy_to(Kokkos::DefaultHostExecutionSpace{}, X));
  for (auto const& way : ways()) {
    INFO(to_string(problem.dims) << ", streams " << way.streams << ", memory " << way.memory);
    sporades::detail::Windows<Memory> windows;
    windows.options = way;
    auto const streamed =
        sporades::detail::run_log_likelihood(exec, far.tensor, A, weights, buffers, &windows);
    CHECK(streamed.value == near.value);
    CHECK(streamed.zero_model_nonzeros == near.zero_model_nonzeros);
    CHECK((windows.bytes() > 0) == (problem.nnz > 0));
  }
}

TEMPLATE_LIST_TEST_CASE("A streamed CP-APR gives the model of others", "[algorithms][streaming]",
                        Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  using State = CpAprState<Scalar, typename TestType::MemorySpace>;
  typename TestType::ExecutionSpace const exec{};
  auto const problem = GENERATE(from_range(problems()));
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
  auto far_options = options;
  far_options.streaming = {1 << 14, 3, 0};
  if (problem.nnz == 0) {
    CHECK_THROWS_WITH(make_cp_apr_problem(exec, host, far_options),
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
  auto near_problem = make_cp_apr_problem(exec, X, options);
  auto near_state = restore<State>(exec, saved);
  auto const near = cp_apr(exec, near_problem, options, near_state);
  auto far_problem = make_cp_apr_problem(exec, host, far_options);
  auto far_state = restore<State>(exec, saved);
  CHECK_FALSE(near_problem.far);
  bool const is_streamed = problem.nnz * (4 + sizeof(Scalar)) * problem.dims.size() > 1 << 14;
  if (is_streamed) CHECK(far_problem.far);
  CHECK(far_problem.unit == near_problem.unit);
  auto const two = [](IterationInfo const& now) { return now.iteration != 2; };
  cp_apr(exec, far_problem, far_options, far_state, two);
  auto again = restore<State>(exec, snapshot(exec, far_state));
  auto const far = cp_apr(exec, far_problem, far_options, again);
  REQUIRE(far.history.size() == near.history.size());
  for (std::size_t k = 0; k < near.history.size(); ++k) {
    CHECK(far.history[k].log_likelihood == near.history[k].log_likelihood);
    CHECK(far.history[k].zero_model_nonzeros == near.history[k].zero_model_nonzeros);
  }
  CHECK(hash_bits(far.model.weights) == hash_bits(near.model.weights));
  for (std::size_t n = 0; n < problem.dims.size(); ++n)
    CHECK(hash_bits(far.model.factors[n]) == hash_bits(near.model.factors[n]));
}

TEMPLATE_LIST_TEST_CASE("Rows are solved with the same bits from windows",
                        "[algorithms][streaming]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  typename TestType::ExecutionSpace const exec{};
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const problem = GENERATE(from_range(problems()));
  Position const segment = GENERATE(1, 37, 100000);  // all rows are long, some, none
  Position const window = problem.nnz > 1000 ? 3000 : GENERATE(1, 50);
  if (segment == 1 && problem.nnz > 100) return;
  int const n = 0, R = 5;
  auto const X = random_counts<Scalar>(exec, problem.dims, problem.nnz, 5, problem.skew);
  auto const sorted_X = sorted(exec, X, {n});
  auto const near = sporades::detail::make_row_subproblems(exec, sorted_X, n, R, segment);
  auto const far =
      sporades::detail::make_row_subproblems(exec, copy_to(host, sorted_X), n, R, segment, window);
  CHECK(far.far);
  CHECK(near.long_rows.extent(0) == far.long_rows.extent(0));
  if (segment == 37 && problem.nnz > 5000 && problem.dims[0] <= 500)
    CHECK(far.long_windows.size() > 1);
  auto const A = random_factors<Scalar>(exec, problem.dims, R, 3);
  sporades::detail::Windows<Memory> windows;
  sporades::detail::RowWorkspace<Memory> near_workspace, far_workspace;
  for (auto steps :
       {sporades::detail::RowSteps::damped_newton, sporades::detail::RowSteps::quasi_newton}) {
    INFO(to_string(problem.dims) << ", segments of " << segment << ", windows of " << window);
    sporades::detail::RowOptions options;
    options.steps = steps;
    auto const B = copy_matrix(exec, A[n]), C = copy_matrix(exec, A[n]);
    sporades::detail::solve_rows(exec, near, A, B, options, near_workspace);
    sporades::detail::solve_rows(exec, far, A, C, options, far_workspace, &windows);
    CHECK(hash_bits(B) == hash_bits(C));
    CHECK(on_host(near_workspace.violation)() == on_host(far_workspace.violation)());
    CHECK(on_host(near_workspace.inner_iterations)() == on_host(far_workspace.inner_iterations)());
  }
}

TEMPLATE_LIST_TEST_CASE("Streamed SpTTM has the bits of others", "[kernels][streaming]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  auto const problem = GENERATE(from_range(problems()));
  int const R = GENERATE(1, 5, 33);
  auto const X = random_coo<Scalar, Index>(exec, problem.dims, problem.nnz, 5, problem.skew);
  auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  SpttmOptions options;
  options.strategy = SpttmStrategy::lanes;
  options.rank = R;
  auto near = make_spttm_plan(exec, X, options);
  for (auto const& way : ways()) {
    options.streaming = way;
    auto far = make_spttm_plan(exec, host, options);
    for (int n = 0; n < X.order(); ++n) {
      INFO(to_string(problem.dims) << ", mode " << n << ", R " << R << ", streams " << way.streams
                                   << ", memory " << way.memory);
      auto const U = random_matrix<Scalar>(exec, problem.dims[n], R, 3);
      auto const Y = make_spttm_output(exec, near, n, R);
      auto const Z = make_spttm_output(exec, far, n, R);
      std::uint64_t const bytes = Z.storage_bytes() - Z.coordinates.size() * sizeof(Index);
      if (far.storage_bytes() > way.memory + far.carry.bytes()) CHECK(far.tensors[n].far);
      CHECK((Z.far_values != nullptr) == (far.tensors[n].far && bytes > way.memory));
      spttm(exec, near, U, n, Y);
      for (int repeat = 0; repeat < 2; ++repeat) {
        Kokkos::deep_copy(exec, Z.values, Scalar(7));
        spttm(exec, far, U, n, Z);
        CHECK(hash_bits(Y.values) == hash_bits(Z.values));
      }
      Kokkos::deep_copy(exec, Z.values, Scalar(7));
      auto const turned = random_matrix<Scalar>(exec, R, problem.dims[n], 4);
      spttm(exec, near, turned, n, Y, TtmMatrix::rank_by_mode);
      spttm(exec, far, turned, n, Z, TtmMatrix::rank_by_mode);
      CHECK(hash_bits(Y.values) == hash_bits(Z.values));
    }
  }
}

// Chains of products, each on the last sorted mode of the one before, until blocks are large.
TEMPLATE_LIST_TEST_CASE("Streamed SspTTM has the bits of others", "[kernels][streaming]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  auto const problem = GENERATE(from_range(std::vector<Problem>{{{7, 4}, 20, 1},
                                                                {{2, 300, 200}, 1500, 1},
                                                                {{500, 400, 300}, 3000, 6},
                                                                {{30, 2, 20, 10}, 2000, 2},
                                                                {{6, 5, 7, 4, 8}, 1500, 1},
                                                                {{4, 3, 2}, 0, 1}}));
  int const R = GENERATE(1, 5, 33);
  int const n = GENERATE(0, 1);
  auto const X = random_coo<Scalar, Index>(exec, problem.dims, problem.nnz, 5, problem.skew);
  auto const A = random_factors<Scalar>(exec, problem.dims, R, 3);
  SpttmOptions options;
  options.strategy = SpttmStrategy::lanes;
  options.rank = R;
  auto near_first = make_spttm_plan(exec, X, options);
  for (auto const& way : {Streaming{1, 1, 0}, Streaming{1 << 13, 3, 0}, Streaming{1, 5, 1 << 12}}) {
    options.streaming = way;
    auto far_first =
        make_spttm_plan(exec, copy_to(Kokkos::DefaultHostExecutionSpace{}, X), options);
    auto Y = make_spttm_output(exec, near_first, n, R);
    auto far_Y = make_spttm_output(exec, far_first, n, R);
    spttm(exec, near_first, A[n], n, Y);
    spttm(exec, far_first, A[n], n, far_Y);
    while (!Y.sorted_modes.empty() && Y.fibers() * Y.block_size() * R < 1 << 18) {
      int const m = Y.sorted_modes.back();
      INFO(to_string(problem.dims) << ", modes " << n << " to " << m << ", R " << R << ", streams "
                                   << way.streams << ", memory " << way.memory);
      auto near = make_sspttm_plan(exec, Y, m, {R, {}});
      auto far = make_sspttm_plan(exec, far_Y, m, {R, way});
      CHECK(!near.far);
      if (far_Y.far_coordinates || far_Y.far_values) CHECK(far.far);
      CHECK(far.blocks.extent(0) == 0);
      auto const Z = make_sspttm_output(exec, near, R);
      auto const far_Z = make_sspttm_output(exec, far, R);
      std::uint64_t const bytes = far_Z.storage_bytes() - far_Z.coordinates.size() * sizeof(Index);
      CHECK(!Z.far_values);
      CHECK((far_Z.far_values != nullptr) == (far.far && bytes > way.memory));
      CHECK(far_Z.far_coordinates == far.far);
      Kokkos::deep_copy(exec, far_Z.values, Scalar(7));
      sspttm(exec, near, Y, A[m], Z);
      sspttm(exec, far, far_Y, A[m], far_Z);
      CHECK(hash_bits(Z.values) == hash_bits(far_Z.values));
      CHECK((far.carry.windows.bytes() > 0) == (far.far && Y.fibers() > 0));
      Y = Z;
      far_Y = far_Z;
    }
  }
}

TEMPLATE_LIST_TEST_CASE("SspTTM streams any tensor that is sorted for it", "[kernels][streaming]",
                        Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  int const R = 7;
  Dims const dims{60, 3, 400, 5};
  auto const X = random_coo<Scalar, Index>(exec, dims, 4000, 5, 3);
  auto const Y = make_scoo(exec, X, GENERATE(std::vector<int>{1}, std::vector<int>{3, 1}));
  int const n = Y.sorted_modes.back();  // with short fibers, and long ones
  auto const U = random_matrix<Scalar>(exec, dims[n], R, 3);
  auto near = make_sspttm_plan(exec, Y, n);
  auto const Z = make_sspttm_output(exec, near, R);
  sspttm(exec, near, Y, U, Z);
  auto const expected = hash_bits(Z.values);
  // Rows without padding, of the host and in far memory.
  auto host = copy_to(Kokkos::DefaultHostExecutionSpace{}, Y);
  decltype(host.values) const packed("packed", Y.fibers(), Y.block_size());
  Kokkos::deep_copy(packed, host.values);
  host.values = packed;
  auto far = Y;
  far.far_values = sporades::detail::allocate_far(exec, packed.span() * sizeof(Scalar));
  far.values =
      decltype(far.values)(static_cast<Scalar*>(far.far_values.get()), Y.fibers(), Y.block_size());
  Kokkos::deep_copy(far.values, packed);
  for (auto const& way : ways()) {
    INFO("streams " << way.streams << ", memory " << way.memory);
    auto const check = [&](auto& plan, auto const& given) {
      CHECK(plan.far);
      auto const W = make_sspttm_output(exec, plan, R);
      Kokkos::deep_copy(exec, W.values, Scalar(7));
      sspttm(exec, plan, given, U, W);
      CHECK(hash_bits(W.values) == expected);
    };
    SspttmOptions const options{R, way};
    auto of_near = make_sspttm_plan(exec, Y, n, options);
    auto of_host = make_sspttm_plan(exec, host, n, options);
    auto of_far = make_sspttm_plan(exec, far, n, options);
    check(of_near, Y);
    check(of_near, far);
    check(of_host, host);
    check(of_far, far);
    check(of_far, Y);
  }
  auto of_far = make_sspttm_plan(exec, far, n);
  CHECK(of_far.far);
  std::uint64_t const bytes = Y.storage_bytes() + near.fibers.storage_bytes();
  CHECK(!make_sspttm_plan(exec, Y, n, {R, {bytes}}).far);
  CHECK(make_sspttm_plan(exec, Y, n, {R, {bytes - 1}}).far);
}

TEST_CASE("SspTTM says what it cannot stream", "[kernels][streaming]") {
  using Catch::Matchers::ContainsSubstring;
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, Dims{6, 5, 4}, 40, 1, 1);
  auto Y = make_scoo(exec, X, {1});
  SspttmOptions options;
  options.streaming.memory = 100;
  CHECK_THROWS_WITH(make_sspttm_plan(exec, Y, 0, options),
                    ContainsSubstring("must be sorted by its sparse modes, 0 last; it is sorted by "
                                      "modes { 0 2 }"));
  Y.far_coordinates = sporades::detail::allocate_far(exec, 1);
  CHECK_THROWS_WITH(make_sspttm_plan(exec, Y, 0), ContainsSubstring("0 last"));
  Y.sorted_modes = {};
  CHECK_THROWS_WITH(make_sspttm_plan(exec, Y, 2), ContainsSubstring("sorted by modes { }"));
  options.streaming.streams = 0;
  CHECK_THROWS_WITH(make_sspttm_plan(exec, Y, 2, options), ContainsSubstring("0 streams"));
}

TEST_CASE("SpTTM says which strategy streams", "[kernels][streaming]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, Dims{6, 5, 4}, 40, 1, 1);
  SpttmOptions options;
  options.streaming.memory = 100;
  options.strategy = SpttmStrategy::spmm_rows;
  CHECK_THROWS_WITH(make_spttm_plan(exec, X, options),
                    Catch::Matchers::ContainsSubstring("spmm_rows cannot stream"));
  options.streaming.streams = 0;
  CHECK_THROWS_AS(make_spttm_plan(exec, X, options), Error);
}
