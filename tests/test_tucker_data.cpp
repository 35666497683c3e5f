// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// HOOI and its parts on peers' data, against their published results.

#include <fstream>
#include <support/backends.hpp>
#include <support/expected.hpp>
#include <support/tucker.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

std::vector<double> numbers_in(std::string const& path) {
  std::ifstream file(path);
  REQUIRE(file.is_open());
  std::vector<double> numbers;
  for (double x; file >> x;) numbers.push_back(x);
  return numbers;
}

/// Slices of mode 0 divided by their entry of largest magnitude, as TuckerMPI's scaling Max.
template <class Tensor>
void scale_slices(Tensor const& X) {
  std::vector<double> largest(X.dims[0]);
  for (Position p = 0; p < X.nnz(); ++p) {
    auto& most = largest[X.coordinates(0, p)];
    most = std::max(most, std::abs(X.values(p)));
  }
  for (Position p = 0; p < X.nnz(); ++p) X.values(p) /= largest[X.coordinates(0, p)];
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("the fits of Tensor Toolbox's Tucker example", "[tucker][shared]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  if (!std::is_same_v<Scalar, double>) return;
  typename TestType::ExecutionSpace const exec{};
  auto const path = shared_file("tucker/tucker_doc_5x4x3.tns");
  if (path.empty()) return;
  auto const X = read<Scalar>(exec, path);
  auto options = tucker_options({2, 2, 2}, 3000, 1e-14);
  options.starts = 30;
  auto const best = tucker(exec, X, options);
  CHECK(std::abs(best.fit() - 0.4728620873) < 1e-8);
  int global = 0, local = 0;
  REQUIRE(best.start_scores.size() == 30);
  for (double fit : best.start_scores) {
    global += std::abs(fit - 0.4728620873) < 1e-8;
    local += std::abs(fit - 0.3567779169) < 1e-8;
  }
  CHECK(global > 0);
  CHECK(local > 0);
  CHECK(global + local == 30);
  auto const first_best = std::find(best.start_scores.begin(), best.start_scores.end(), best.fit());
  int const k = static_cast<int>(first_best - best.start_scores.begin());
  REQUIRE(k < 30);
  CHECK(best.seed == seed_of_start(options.seed, k));
  options = tucker_options({2, 2, 1}, 3000, 1e-14);
  options.starts = 3;
  for (double fit : tucker(exec, X, options).start_scores)
    CHECK(std::abs(fit - 0.4332223947) < 1e-8);
}

TEMPLATE_LIST_TEST_CASE("the fit of aminoacids", "[tucker][shared]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const path = shared_file("cp_als/aminoacid_data.txt.gz");
  if (path.empty()) return;
  auto const X = read<Scalar>(exec, path);
  bool const is_double = std::is_same_v<Scalar, double>;
  auto const result = tucker(exec, X, tucker_options({3, 3, 3}, 200, is_double ? 1e-13 : 1e-6));
  CHECK(std::abs(result.fit() - 0.975537107427) < (is_double ? 1e-11 : 1e-4));
  double const norm = std::sqrt(sum_of_squares(on_host(result.model.core)));
  CHECK(norm == Approx(4.797758799701e4).epsilon(is_double ? 1e-11 : 1e-5));
}

TEMPLATE_LIST_TEST_CASE("fits of HOOI on real tensors", "[tucker]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  bool const is_double = std::is_same_v<Scalar, double>;
  auto const run = GENERATE(from_range(expected_runs("tucker")));
  auto const path = run.path();
  if (path.empty()) return;
  auto const X = read<Scalar>(exec, path);
  for (auto const strategy :
       {TtmChainStrategy::csf, TtmChainStrategy::fused, TtmChainStrategy::semi_sparse}) {
    auto options = tucker_options(run.ranks, run.last());
    options.strategy = strategy;
    auto const result = tucker(exec, X, options);
    // In float a fit of 5e-6 is a difference of squares below the rounding.
    double const exact = is_double ? 2e-12 : 1e-3;
    for (auto const& [iteration, fit] : run.values) {
      INFO(run.tensor << ", iteration " << iteration);
      CHECK(std::abs(result.values[iteration - 1] - fit) < exact);
    }
    for (std::size_t k = 1; is_double && k < result.values.size(); ++k)
      CHECK(result.values[k] >= result.values[k - 1] - 1e-14);
    for (auto const& A : result.model.factors)
      CHECK(distance_from_orthonormal(A) < (is_double ? 1e-12 : 2e-6));
  }
}

TEMPLATE_LIST_TEST_CASE("TuckerMPI's sequentially truncated HOSVD", "[tucker][shared]",
                        sporades::test::ExecutionSpaces) {
  TestType const exec{};
  using Memory = typename TestType::memory_space;
  int const number = GENERATE(1, 2, 3, 4);
  auto const folder =
      shared_file("tucker/tuckermpi_sthosvd/test_sthosvd_" + std::to_string(number));
  if (folder.empty()) return;
  INFO(folder);
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const on_host_X = read<double>(host, folder + "/tensor_data.txt");
  if (number == 4) scale_slices(on_host_X);
  auto const X = copy_to(exec, on_host_X);
  // Modes that come later are multiplied by the identity: X_(n) (A_0, ..., A_{n-1}, I, ..., I).
  Factors<double, Memory> A;
  std::vector<int> ranks;
  for (auto dim : X.dims) {
    ranks.push_back(static_cast<int>(dim));
    std::vector<double> identity(dim * dim);
    for (std::size_t i = 0; i < dim; ++i) identity[i * dim + i] = 1;
    A.push_back(sporades::detail::matrix_of(exec, "identity", identity, dim, dim));
  }
  sporades::detail::LeftSingularVectors<TestType, double, std::uint32_t> left(exec);
  TtmChainProduct<double, std::uint32_t, Memory> product;
  TtmChainPlan<double, std::uint32_t, Memory> plan;
  for (int n = 0; n < X.order(); ++n) {
    auto const gold = numbers_in(folder + "/goldFactorMatrix_" + std::to_string(n) + ".txt");
    auto const values = numbers_in(folder + "/goldEigvals_" + std::to_string(n) + ".txt");
    plan = make_ttm_chain_plan(exec, X, ranks);
    product = ttm_chain(exec, plan, A, n);
    auto all = A[n];
    left(product, all, 1, n, 1e-15);
    for (std::size_t r = 0; r < left.squares().size(); ++r)
      CHECK(std::abs(left.squares()[r] - values[r]) < 1e-11 * values[0]);
    // TuckerMPI's factor: column by column, up to sign; its rank.
    auto const U = matrix_on_host(all);
    std::size_t const rows = X.dims[n], R = gold.size() / rows;
    A[n] = make_matrix<double>(exec, "factor", rows, R);
    Matrix<double, Kokkos::HostSpace> const kept("kept", rows, R);
    for (std::size_t r = 0; r < R; ++r) {
      double inner = 0;
      for (std::size_t i = 0; i < rows; ++i) inner += U(i, r) * gold[r * rows + i];
      CHECK(std::abs(std::abs(inner) - 1) < 1e-9);
      for (std::size_t i = 0; i < rows; ++i) {
        CHECK(std::abs(U(i, r) * (inner < 0 ? -1 : 1) - gold[r * rows + i]) < 1e-6);
        kept(i, r) = U(i, r) * (inner < 0 ? -1 : 1);
      }
    }
    A[n] = copy_matrix(exec, kept);
    ranks[n] = static_cast<int>(R);
  }
  // The core: A_{N-1}^T Y_(N-1), whose rows are the last mode's, columns in Tensor Toolbox's order.
  auto const core = numbers_in(folder + "/goldCoreTensor.txt");
  int const last = X.order() - 1;
  std::size_t const R = A[last].extent(1), others = core.size() / R;
  plan = make_ttm_chain_plan(exec, X, ranks);
  Matrix<double, Memory> const Y("Y", X.dims[last], others);
  ttm_chain(exec, plan, A, last, Y);
  exec.fence();
  auto const host_Y = matrix_on_host(Y), host_A = matrix_on_host(A[last]);
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t c = 0; c < others; ++c) {
      double sum = 0;
      for (std::size_t i = 0; i < X.dims[last]; ++i) sum += host_A(i, r) * host_Y(i, c);
      CHECK(std::abs(sum - core[r * others + c]) < 1e-5);
    }
}
