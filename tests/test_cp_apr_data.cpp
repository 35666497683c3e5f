// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fstream>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/cp_apr.hpp>
#include <support/expected.hpp>

namespace {

using sporades::cp_apr;
using sporades::cp_apr_start;
using sporades::Dims;
using sporades::test::apr_options;
using sporades::test::matrix_on_host;
using sporades::test::new_instance;
using sporades::test::read;
using sporades::test::shared_file;

std::vector<double> numbers(std::string const& path) {
  std::ifstream file(path);
  std::vector<double> result;
  for (double x; file >> x;) result.push_back(x);
  return result;
}

template <class Scalar>
std::vector<std::vector<Scalar>> rows_of_two(std::string const& path) {
  std::vector<std::vector<Scalar>> rows;
  auto const all = numbers(path);
  for (std::size_t k = 0; k + 1 < all.size(); k += 2)
    rows.push_back({static_cast<Scalar>(all[k]), static_cast<Scalar>(all[k + 1])});
  return rows;
}

struct Gold {
  std::string name;
  std::size_t outer;
  int inner;
  double start, last, kkt;
};

TEMPLATE_LIST_TEST_CASE("MATLAB's CP-APR from the same start", "[algorithms][cp_apr]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  constexpr bool is_double = std::is_same_v<Scalar, double>;
  auto const gold =
      GENERATE(values<Gold>({{"count", 250, 3278, -12067.38130155, -3145.325606102, 9.98e-5},
                             {"binary", 26, 459, -3851.837037814, -485.1933936314, 8.99e-5},
                             {"count_dense", 5, 85, 0, 568166649.2445, 9.47e-5},
                             {"binary_dense", 4, 72, 0, -12000.00004602, 8.70e-5}}));
  bool const is_dense = gold.start == 0;
  auto const folder = shared_file("cp_apr/init_mode0.txt");
  if (folder.empty()) return;
  auto const base = folder.substr(0, folder.size() - 14);
  INFO(gold.name);
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  Dims const dims{10, 30, 40};
  auto const X = is_dense ? sporades::test::full_tensor<Scalar>(
                                exec, dims,
                                [&](auto const& i) {
                                  return gold.name == "binary_dense"
                                             ? 1.0
                                             : 1.0 + (i[0] * 30.0 + i[1]) * 40.0 + i[2];
                                })
                          : [&] {
                              auto tensor = read<Scalar>(exec, base + gold.name + "_10x30x40.tns");
                              tensor.dims = dims;
                              return tensor;
                            }();
  std::vector<std::vector<std::vector<Scalar>>> start;
  for (int n = 0; n < 3; ++n)
    start.push_back(rows_of_two<Scalar>(base + "init_mode" + std::to_string(n) + ".txt"));
  auto options = apr_options(2, 1000, 1e-4);
  if (!is_double) options.iterations = 3;
  options.init = sporades::CpAprInit::given;
  auto problem = make_cp_apr_problem(exec, X, options);
  auto state =
      cp_apr_start(exec, dims, options, sporades::test::host_ktensor<Scalar>({1, 1}, start));
  if (!is_dense) {
    Kokkos::View<double*, typename TestType::MemorySpace> const weights("sporades::test::w", 2);
    auto const host = Kokkos::create_mirror_view(weights);
    for (int r = 0; r < 2; ++r) host(r) = state.weights[r];
    Kokkos::deep_copy(weights, host);
    exec.fence();
    sporades::detail::LogLikelihoodBuffers<typename TestType::MemorySpace> buffers;
    double const value =
        sporades::detail::run_log_likelihood(exec, problem.counts, state.factors, weights, buffers)
            .value;
    CHECK(value == Approx(gold.start).epsilon(is_double ? 1e-11 : 1e-5));
  }
  auto const result = cp_apr(exec, problem, options, state);
  CHECK(result.history.back().zero_model_nonzeros == 0);
  if (!is_double) return;  // how a run goes on depends on the last bits

  CHECK(result.converged);
  CHECK(result.history.size() == gold.outer);
  int inner = 0;
  for (auto const& iteration : result.history) inner += iteration.inner_iterations;
  CHECK(inner == gold.inner);
  CHECK(result.log_likelihood() == Approx(gold.last).epsilon(1e-12));
  CHECK(std::abs(result.history.back().kkt_violation - gold.kkt) < 0.006e-5);
  auto const expected = base + "expected_" + gold.name;
  auto const lambda = numbers(expected + "_lambda.txt");
  auto const weights =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, result.model.weights);
  REQUIRE(lambda.size() == 2);
  for (int r = 0; r < 2; ++r) CHECK(std::abs(weights(r) / lambda[r] - 1) < 1e-10);
  for (int n = 0; n < 3; ++n) {
    auto const A = matrix_on_host(result.model.factors[n]);
    auto const B = rows_of_two<double>(expected + "_mode" + std::to_string(n) + ".txt");
    REQUIRE(B.size() == dims[n]);
    double square = 0;
    for (std::size_t i = 0; i < dims[n]; ++i)
      for (int r = 0; r < 2; ++r) square += (A(i, r) - B[i][r]) * (A(i, r) - B[i][r]);
    CHECK(std::sqrt(square) < 1e-10);
  }
}

TEMPLATE_LIST_TEST_CASE("SparTen's problem reaches its optimum from three starts",
                        "[algorithms][cp_apr]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const path = shared_file("cp_apr/cpapr_10x10x10_tensor.txt");
  if (path.empty()) return;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = read<Scalar>(exec, path);
  constexpr bool is_double = std::is_same_v<Scalar, double>;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    auto options = apr_options(5, is_double ? 400 : 100, 1e-4);
    options.seed = seed;
    auto const result = cp_apr(exec, X, options);
    INFO("seed " << seed << ", " << result.history.size() << " iterations");
    CHECK(std::abs(result.log_likelihood() - 8794116.732462) < (is_double ? 2e-6 : 5));
    if (!is_double) continue;
    CHECK(result.converged);
    std::vector<double> const lambda{427999.1731, 320790.6128, 142546.1105, 106733.2936, 1930.8101};
    auto const weights =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, result.model.weights);
    for (int r = 0; r < 5; ++r) CHECK(std::abs(weights(r) - lambda[r]) < 0.01);
  }
}

TEMPLATE_LIST_TEST_CASE("SparTen's problem is solved in fewer iterations row by row",
                        "[algorithms][cp_apr]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  if (std::is_same_v<Scalar, float>) return;
  auto const path = shared_file("cp_apr/cpapr_10x10x10_tensor.txt");
  if (path.empty()) return;
  typename TestType::ExecutionSpace const exec{};
  auto const X = read<Scalar>(exec, path);
  for (auto method : {sporades::CpAprMethod::pdnr, sporades::CpAprMethod::pqnr}) {
    auto options = apr_options(5, 100, 1e-4);
    options.method = method;
    auto const result = cp_apr(exec, X, options);
    INFO(sporades::to_string(method) << ", " << result.history.size() << " iterations");
    CHECK(result.converged);
    CHECK(result.history.size() < 40);  // multiplicative updates: 83
    CHECK(result.log_likelihood() == Approx(8794116.732462).epsilon(1e-11));
    CHECK(result.history.back().zero_model_nonzeros == 0);
  }
}

/// In float, how a run goes on depends on the last bits.
TEMPLATE_LIST_TEST_CASE("log-likelihoods of real counts", "[algorithms][cp_apr]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  constexpr bool is_double = std::is_same_v<Scalar, double>;
  auto const run = GENERATE(from_range(sporades::test::expected_runs("cp-apr")));
  auto const path = run.path();
  if (path.empty()) return;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  int const last = is_double ? run.last() : std::min(run.last(), 20);
  auto const options = apr_options(run.ranks[0], run.converges ? last + 50 : last, 1e-4);
  auto const result = cp_apr(exec, read<Scalar>(exec, path), options);
  for (auto const& [iteration, log_likelihood] : run.values) {
    if (iteration > last) break;
    INFO(run.tensor << ", iteration " << iteration);
    REQUIRE(result.history.size() >= static_cast<std::size_t>(iteration));
    CHECK(result.history[iteration - 1].log_likelihood ==
          Approx(log_likelihood).epsilon(is_double ? 1e-9 : 2e-3));
  }
  if (!is_double) return;
  CHECK(result.history.size() == static_cast<std::size_t>(last));
  CHECK(result.converged == run.converges);
}

/// The mean of its model is 3e-10, near epsilon: a likelihood there is from the first iteration on.
TEMPLATE_LIST_TEST_CASE("thinly spread real counts have a model that is nowhere 0",
                        "[algorithms][cp_apr]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const path = shared_file("real/shakespeare-speaker-trigram-4d.tns.gz");
  if (path.empty()) return;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const result = cp_apr(exec, read<Scalar>(exec, path), apr_options(10, 3));
  for (auto const& iteration : result.history) CHECK(iteration.zero_model_nonzeros == 0);
  CHECK(result.history[0].log_likelihood > -2.36e6);
  CHECK(result.log_likelihood() > result.history[0].log_likelihood);
}

}  // namespace
