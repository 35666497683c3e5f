// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/kernels/log_likelihood.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/cp_apr.hpp>
#include <support/files.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>

namespace {

using sporades::Dims;
using sporades::log_likelihood;
using sporades::LogLikelihood;
using sporades::test::host_ktensor;
using sporades::test::new_instance;

/// Random non-negative factors of columns that do not sum to 1.
template <class Scalar, class ExecutionSpace>
auto random_model(ExecutionSpace const& exec, Dims const& dims, int rank) {
  using Memory = typename ExecutionSpace::memory_space;
  sporades::KruskalTensor<Scalar, Memory> model;
  model.factors = sporades::random_factors<Scalar>(exec, dims, rank, 4);
  model.weights = sporades::Vector<Scalar, Memory>("sporades::test::weights", rank);
  auto const host = Kokkos::create_mirror_view(model.weights);
  for (int r = 0; r < rank; ++r) host(r) = Scalar(1.5) + static_cast<Scalar>(r);
  Kokkos::deep_copy(model.weights, host);
  exec.fence();
  return model;
}

TEMPLATE_LIST_TEST_CASE("the log-likelihood equals its definition", "[kernels][log_likelihood]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = GENERATE(Dims{7}, Dims{5, 6}, Dims{4, 1, 5}, Dims{30, 20, 10}, Dims{3, 4, 2, 5},
                             Dims{3, 2, 3, 2, 4}, Dims{2, 3, 2, 3, 2, 3});
  auto const rank = GENERATE(1, 3, 16, 17, 33);
  auto const nnz = GENERATE(0, 60, 5000);
  auto const X =
      sporades::sum_duplicates(exec, sporades::test::random_counts<Scalar>(exec, dims, nnz)).tensor;
  auto const model = random_model<Scalar>(exec, dims, rank);
  auto dense = sporades::test::to_dense_counts(X);
  set_model(dense, model);
  auto const result = log_likelihood(exec, X, model);
  CHECK(result.zero_model_nonzeros == 0);
  // Factors are exact in Scalar, and all arithmetic is in double.
  double const exact = dense.log_likelihood();
  CHECK(std::abs(result.value - exact) <= 1e-11 * (1 + std::abs(exact)));
}

TEMPLATE_LIST_TEST_CASE("counts whose model is 0 are counted, zeros are not",
                        "[kernels][log_likelihood]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  // Component 0 lives in rows 0 of both modes, component 1 in rows 1.
  auto const X = copy_to(exec, sporades::test::make_coo<Scalar>({2, 2}, {{{0, 0}, Scalar(3)},
                                                                         {{0, 1}, Scalar(2)},
                                                                         {{1, 0}, Scalar(0)},
                                                                         {{1, 1}, Scalar(5)}}));
  auto const host = host_ktensor<Scalar>({2, 4}, {{{1, 0}, {0, 1}}, {{1, 0}, {0, 1}}});
  sporades::KruskalTensor<Scalar, typename TestType::MemorySpace> model;
  for (auto const& A : host.factors) model.factors.push_back(sporades::copy_matrix(exec, A));
  model.weights =
      Kokkos::create_mirror_view_and_copy(typename TestType::MemorySpace{}, host.weights);
  auto const result = log_likelihood(exec, X, model);
  CHECK(result.zero_model_nonzeros == 1);
  CHECK(result.value == -std::numeric_limits<double>::infinity());
  auto const without =
      copy_to(exec, sporades::test::make_coo<Scalar>(
                        {2, 2}, {{{0, 0}, Scalar(3)}, {{1, 0}, Scalar(0)}, {{1, 1}, Scalar(5)}}));
  auto const finite = log_likelihood(exec, without, model);
  CHECK(finite.zero_model_nonzeros == 0);
  CHECK(finite.value == Approx(3 * std::log(2.0) + 5 * std::log(4.0) - 6).epsilon(1e-14));
}

TEMPLATE_LIST_TEST_CASE("the log-likelihood has the same bits on any number of threads",
                        "[kernels][log_likelihood][threads]", sporades::test::AllCases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  auto const X = sporades::test::random_counts<Scalar>(exec, {300, 200, 100}, 50000);
  auto const model = random_model<Scalar>(exec, X.dims, 17);
  for (int repeat = 0; repeat < 2; ++repeat) {
    double const value = log_likelihood(exec, X, model).value;
    sporades::test::check_same_bits(
        std::string("log_likelihood ") + Exec::name() + " bytes " + std::to_string(sizeof(Scalar)),
        sporades::test::hash_bytes(&value, sizeof value));
  }
}

TEMPLATE_LIST_TEST_CASE("the log-likelihood runs on its instance, and allocates once",
                        "[kernels][log_likelihood]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = sporades::test::random_counts<Scalar>(exec, {30, 20, 10}, 5000);
  auto const A = sporades::random_factors<Scalar>(exec, X.dims, 4, 4);
  Kokkos::View<double*, Memory> const weights("sporades::test::weights", 4);
  Kokkos::deep_copy(weights, 1.0);
  exec.fence();
  sporades::detail::LogLikelihoodBuffers<Memory> buffers;
  sporades::test::check_launches(
      exec, [&] { sporades::detail::run_log_likelihood(exec, X, A, weights, buffers); });
  auto const again = sporades::test::record(
      [&] { sporades::detail::run_log_likelihood(exec, X, A, weights, buffers); });
  CHECK(again.allocations.empty());
}

TEST_CASE("a model of another shape is refused", "[kernels][log_likelihood]") {
  using Catch::Matchers::ContainsSubstring;
  Kokkos::DefaultExecutionSpace const exec{};
  auto const X = sporades::test::random_counts<double>(exec, {6, 5, 4}, 30);
  CHECK_THROWS_WITH(log_likelihood(exec, X, random_model<double>(exec, {6, 5}, 3)),
                    ContainsSubstring("2 factors for order 3"));
  CHECK_THROWS_WITH(log_likelihood(exec, X, random_model<double>(exec, {6, 7, 4}, 3)),
                    ContainsSubstring("A[1] is 7 x 3"));
}

}  // namespace
