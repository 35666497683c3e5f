// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/detail/hosvd.hpp>
#include <sporades/core/detail/dense.hpp>
#include <sporades/formats/files/ktensor_file.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/cp_als.hpp>
#include <support/expected.hpp>
#include <support/tensors.hpp>

namespace {

using sporades::cp_als;
using sporades::cp_als_start;
using sporades::CpAlsInit;
using sporades::Dims;
using sporades::test::host_ktensor;
using sporades::test::matrix_on_host;
using sporades::test::new_instance;
using sporades::test::options_of;
using sporades::test::read;
using sporades::test::shared_file;
using sporades::test::to_dense;

TEMPLATE_LIST_TEST_CASE("GenTen's small problem from its start", "[algorithms][cp_als]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const path = shared_file("cp_als/test_sptensor.txt");
  if (path.empty()) return;
  auto const X = read<Scalar>(exec, path);
  auto const start = host_ktensor<Scalar>(
      {2, 1}, {{{Scalar(.8), Scalar(.5)}, {Scalar(.2), Scalar(.5)}},
               {{Scalar(.5), Scalar(.5)}, {Scalar(.1), Scalar(.5)}, {Scalar(.5), Scalar(.1)}},
               {{Scalar(.7), Scalar(.7)},
                {Scalar(.7), Scalar(.1)},
                {Scalar(.1), Scalar(.1)},
                {Scalar(.1), Scalar(.7)}}});
  auto const options = options_of(2, 100, 1e-6);
  auto problem = make_cp_als_problem(exec, X, options);
  auto state = cp_als_start(exec, X.dims, options, start);
  auto const result = cp_als(exec, problem, options, state);
  double const exact = std::is_same_v<Scalar, float> ? 1e-4 : 1e-9;
  CHECK(std::abs(result.values[0] - .932788857) < exact);
  CHECK(std::abs(result.values[1] - .984366844) < exact);
  CHECK(std::abs(result.values[2] - .992954863) < exact);
  CHECK(result.fit() > 0.99);
  if (std::is_same_v<Scalar, double>) {
    CHECK(result.values.size() == 30);
    CHECK(result.converged);
    CHECK(std::abs(result.fit() - .999997335) < 1e-9);
  }
  auto const weights =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, result.model.weights);
  CHECK(std::abs(double(weights(0)) - 2.828427) < 2.5e-3);  // ours are in descending order
  CHECK(std::abs(double(weights(1)) - 2.0) < 2.5e-3);
  double const h = std::sqrt(0.5);
  std::vector<std::vector<std::array<double, 2>>> const answer{
      {{h, 1}, {h, 0}}, {{h, h}, {h, 0}, {0, h}}, {{h, h}, {0, h}, {0, 0}, {h, 0}}};
  for (int n = 0; n < 3; ++n) {
    auto const A = matrix_on_host(result.model.factors[n]);
    for (std::size_t i = 0; i < A.extent(0); ++i)
      for (int r = 0; r < 2; ++r) CHECK(std::abs(double(A(i, r)) - answer[n][i][r]) < 2.5e-3);
  }
}

TEMPLATE_LIST_TEST_CASE("singular vectors of an unfolding", "[algorithms][hosvd]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  constexpr bool is_float = std::is_same_v<Scalar, float>;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = GENERATE(Dims{60, 9, 8}, Dims{5, 50}, Dims{7, 6, 5, 4}, Dims{12});
  auto const X = sporades::test::random_coo<Scalar, std::uint32_t>(exec, dims, 400, 3, 1.5);
  auto const dense = to_dense(X);
  for (int n = 0; n < X.order(); ++n) {
    auto const I = static_cast<int>(dims[n]);
    int const R = std::min(4, I);
    // X_(n) X_(n)^T by its definition.
    std::vector<double> M(static_cast<std::size_t>(I) * I);
    std::size_t stride = 1;
    for (int m = n + 1; m < X.order(); ++m) stride *= dims[m];
    for (std::size_t e = 0; e < dense.values.size(); ++e) {
      auto const i = dense.coordinates(e)[n];
      for (int k = 0; k < I; ++k)
        M[i * I + k] += dense.values[e] * dense.values[e + k * stride - i * stride];
    }
    auto const eigen = sporades::detail::symmetric_eigen(M, I);
    auto const U =
        matrix_on_host(sporades::detail::leading_singular_vectors({}, exec, X, n, R).here);
    int const rank = X.order() == 1 ? 1 : R;
    for (int r = 0; r < rank; ++r) {
      double dot = 0;
      for (int i = 0; i < I; ++i)
        dot += double(U(i, r)) * eigen.vectors[static_cast<std::size_t>(I - 1 - r) * I + i];
      CHECK(std::abs(dot) == Approx(1).epsilon(is_float ? 1e-2 : 1e-6));
    }
    // Past the rank come the random start's columns.
    for (int r = rank; r < R; ++r)
      CHECK(U(1, r) == sporades::detail::random_entry<Scalar>(1, n, 1, r));
  }
  auto const wide =
      matrix_on_host(sporades::detail::leading_singular_vectors({}, exec, X, 0, 70).here);
  CHECK(wide(3, 69) == sporades::detail::random_entry<Scalar>(1, 0, 3, 69));
}

TEMPLATE_LIST_TEST_CASE("published fits of the amino acids data", "[algorithms][cp_als][hosvd]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const path = shared_file("cp_als/aminoacid_data.txt.gz");
  if (path.empty() || std::is_same_v<Scalar, float>) return;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = read<Scalar>(exec, path);
  CHECK(std::sqrt(sporades::detail::norm_squared(exec, X.values)) ==
        Approx(47991.9501320893).epsilon(1e-12));

  // Tensor Toolbox's printed run from singular vectors: 7 digits.
  auto options = options_of(3, 100, 1e-6);
  options.init = CpAlsInit::hosvd;
  auto const hosvd = cp_als(exec, X, options);
  REQUIRE(hosvd.values.size() == 73);
  CHECK(hosvd.converged);
  std::vector<std::pair<int, double>> const published{
      {10, .9334888}, {20, .9604549}, {30, .9712518}, {40, .9741285}, {43, .9744312},
      {50, .9747733}, {60, .9749128}, {70, .9749430}, {73, .9749461}};
  for (auto const& [iteration, fit] : published) {
    INFO("iteration " << iteration);
    CHECK(std::abs(hosvd.values[iteration - 1] - fit) < 6e-8);
  }
  options.tolerance = 1e-4;
  CHECK(cp_als(exec, X, options).values.size() == 43);

  auto const random = cp_als(exec, X, options_of(3, 1000, 1e-10));
  std::vector<std::pair<int, double>> const computed{
      {1, .528154253519},  {2, .806967750140},  {3, .860735875457},  {5, .935598725011},
      {10, .954508868616}, {20, .968213928070}, {100, .974951433871}};
  for (auto const& [iteration, fit] : computed) {
    INFO("iteration " << iteration);
    CHECK(std::abs(random.values[iteration - 1] - fit) < 1e-11);
  }
  CHECK(std::abs(random.fit() - 0.97495148220) < 1e-9);
  auto const weights =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, random.model.weights);
  CHECK(std::abs(weights(0) - 33487.44) < 0.01);
  CHECK(std::abs(weights(1) - 23483.42) < 0.02);
  CHECK(std::abs(weights(2) - 21192.12) < 0.01);

  auto const more = cp_als(exec, X, options_of(16, 20, 1e-4));  // GenTen, another start: 0.98832
  CHECK(more.fit() > 0.985);
  CHECK(more.fit() < 0.9925);
}

TEMPLATE_LIST_TEST_CASE("fits of real tensors", "[algorithms][cp_als]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const run = GENERATE(from_range(sporades::test::expected_runs("cp-als")));
  auto const path = run.path();
  if (path.empty()) return;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const options = options_of(run.ranks[0], run.last());
  auto const fits = cp_als(exec, read<Scalar>(exec, path), options).values;
  for (auto const& [iteration, fit] : run.values) {
    INFO(run.tensor << ", iteration " << iteration);
    double const exact = iteration == 1 ? 1e-9 : 1e-6;
    double const exact_in_float = iteration == 1 ? 1e-5 : 1e-3;
    CHECK(std::abs(fits[iteration - 1] - fit) <
          (std::is_same_v<Scalar, float> ? exact_in_float : exact));
  }
}

TEMPLATE_LIST_TEST_CASE("matrix multiplication has rank 7, not 6", "[algorithms][cp_als]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const path = shared_file("matmul/matmul_2-2-2.tns");
  auto const strassen = shared_file("matmul/strassen_rank7.ktns");
  if (path.empty() || strassen.empty()) return;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = read<Scalar>(exec, path);
  double const exact = std::is_same_v<Scalar, float> ? 1e-3 : 1e-7;
  auto options = options_of(7, 5);
  auto problem = make_cp_als_problem(exec, X, options);
  auto state = cp_als_start(exec, X.dims, options, sporades::read_ktensor<Scalar>(strassen));
  CHECK(cp_als(exec, problem, options, state).fit() > 1 - exact);

  if (std::is_same_v<Scalar, float>) return;
  // Plain iterations from most random starts creep along degenerate models; a ridge keeps clear of
  // them, and without it the rest of the way is short.
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    auto from = options_of(7, 1500, 1e-12);
    from.seed = seed;
    from.regularization = 0.01;
    auto random = cp_als_start(exec, X, from);
    auto const near = cp_als(exec, problem, from, random);
    CHECK(near.fit() < 0.96);
    auto to = options_of(7, random.iterations() + 300);
    CHECK(cp_als(exec, problem, to, random).fit() > 1 - 1e-6);

    from.rank = to.rank = 6;
    auto fewer = cp_als_start(exec, X, from);
    cp_als(exec, problem, from, fewer);
    to.iterations = fewer.iterations() + 300;
    CHECK(cp_als(exec, problem, to, fewer).fit() < 0.9);
  }
}

}  // namespace
