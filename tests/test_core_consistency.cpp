// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstdint>
#include <random>
#include <sporades/algorithms/components.hpp>
#include <sporades/algorithms/core_consistency.hpp>
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/formats/sort_coo.hpp>
#include <sporades/kernels/mttkrp.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/models.hpp>
#include <support/tensors.hpp>
#include <support/tools.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;
using sporades::core_consistency;
using sporades::Dims;
using sporades::Matrix;
using sporades::test::matrix_on_host;
using sporades::test::new_instance;
using sporades::test::on_host;
using sporades::test::random_kruskal;

using LongColumns = std::vector<std::vector<long double>>;  // of one factor

/// The inverse of a matrix of full rank, by Gauss and Jordan.
LongColumns inverse(LongColumns G) {
  std::size_t const R = G.size();
  LongColumns I(R, std::vector<long double>(R, 0));
  for (std::size_t r = 0; r < R; ++r) I[r][r] = 1;
  for (std::size_t c = 0; c < R; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c; r < R; ++r)
      if (std::abs(G[r][c]) > std::abs(G[pivot][c])) pivot = r;
    std::swap(G[c], G[pivot]);
    std::swap(I[c], I[pivot]);
    long double const head = G[c][c];
    for (std::size_t k = 0; k < R; ++k) G[c][k] /= head, I[c][k] /= head;
    for (std::size_t r = 0; r < R; ++r) {
      long double const by = r == c ? 0 : G[r][c];
      for (std::size_t k = 0; k < R; ++k) G[r][k] -= by * G[c][k], I[r][k] -= by * I[c][k];
    }
  }
  return I;
}

/// LongColumns of a factor, of the lengths that the definition gives them.
template <class Model>
std::vector<LongColumns> balanced_columns(Model const& model) {
  auto const N = model.factors.size();
  auto const R = static_cast<std::size_t>(model.rank());
  std::vector<long double> lengths(R, 1);
  std::vector<LongColumns> A(N, LongColumns(R));
  auto const weights = on_host(model.weights);
  for (std::size_t r = 0; r < R; ++r) {
    long double weight = std::abs(static_cast<long double>(weights(r)));
    for (std::size_t n = 0; n < N; ++n) {
      auto const factor = matrix_on_host(model.factors[n]);
      long double squares = 0;
      for (std::size_t i = 0; i < factor.extent(0); ++i) {
        A[n][r].push_back(factor(i, r));
        squares += A[n][r].back() * A[n][r].back();
      }
      for (auto& a : A[n][r]) a /= std::sqrt(squares) * (n == 0 && weights(r) < 0 ? -1 : 1);
      weight *= std::sqrt(squares);
    }
    for (std::size_t n = 0; n < N; ++n)
      for (auto& a : A[n][r]) a *= std::pow(weight, 1 / static_cast<long double>(N));
  }
  return A;
}

/// The core consistency by its definition, nonzero by nonzero.
template <class Tensor, class Model>
double by_definition(Tensor const& X, Model const& model) {
  auto const N = X.dims.size();
  auto const R = static_cast<std::size_t>(model.rank());
  auto const A = balanced_columns(model);
  std::vector<LongColumns> P(N, LongColumns(R));  // of A^+
  for (std::size_t n = 0; n < N; ++n) {
    LongColumns G(R, std::vector<long double>(R, 0));
    for (std::size_t r = 0; r < R; ++r)
      for (std::size_t s = 0; s < R; ++s)
        for (std::size_t i = 0; i < A[n][r].size(); ++i) G[r][s] += A[n][r][i] * A[n][s][i];
    auto const I = inverse(G);
    for (std::size_t r = 0; r < R; ++r) {
      P[n][r].assign(A[n][r].size(), 0);
      for (std::size_t s = 0; s < R; ++s)
        for (std::size_t i = 0; i < A[n][s].size(); ++i) P[n][r][i] += I[r][s] * A[n][s][i];
    }
  }
  auto const coordinates = on_host(X.coordinates);
  auto const values = on_host(X.values);
  std::size_t cells = 1;
  for (std::size_t n = 0; n < N; ++n) cells *= R;
  long double squares = 0;
  for (std::size_t g = 0; g < cells; ++g) {
    long double sum = 0;
    bool is_one = true;
    for (std::size_t p = 0; p < X.nnz(); ++p) {
      long double product = values(p);
      std::size_t rest = g;
      for (std::size_t n = 0; n < N; ++n, rest /= R) {
        product *= P[n][rest % R][coordinates(n, p)];
        is_one = is_one && rest % R == g % R;
      }
      sum += product;
    }
    squares += (sum - is_one) * (sum - is_one);
  }
  return static_cast<double>(100 * (1 - squares / R));
}

/// All cells of the model, and to each a part of noise.
template <class Scalar, class Exec, class Model>
auto tensor_of(Exec const& exec, Model const& model, double noise, double scale = 1) {
  auto const A = balanced_columns(model);
  Dims const dims = model.dims();
  std::uint64_t cells = 1;
  for (auto const dim : dims) cells *= dim;
  Kokkos::DefaultHostExecutionSpace const host;
  auto const X = sporades::detail::allocate_coo<Scalar, std::uint32_t>(host, dims, cells);
  host.fence();
  std::mt19937_64 engine(3);
  std::normal_distribution<double> normal;
  for (std::uint64_t p = 0; p < cells; ++p) {
    std::uint64_t rest = p;
    for (std::size_t n = 0; n < dims.size(); ++n, rest /= dims[n - 1])
      X.coordinates(n, p) = static_cast<std::uint32_t>(rest % dims[n]);
    long double m = 0;
    for (std::size_t r = 0; r < A[0].size(); ++r) {
      long double product = 1;
      for (std::size_t n = 0; n < dims.size(); ++n) product *= A[n][r][X.coordinates(n, p)];
      m += product;
    }
    X.values(p) = static_cast<Scalar>(scale * (static_cast<double>(m) + noise * normal(engine)));
  }
  return sporades::copy_to(exec, X);
}

TEMPLATE_LIST_TEST_CASE("the core consistency equals its definition",
                        "[algorithms][core_consistency]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = GENERATE(Dims{7}, Dims{5, 6}, Dims{30, 20, 10}, Dims{4, 30, 20},
                             Dims{5, 4, 6, 5}, Dims{4, 3, 3, 3, 4}, Dims{3, 3, 3, 3, 3, 3});
  std::size_t const R = GENERATE(1, 2, 3);
  if (dims.size() == 1 && R > 1) return;  // columns of one mode are never independent enough
  auto const X = sporades::test::random_coo<Scalar, std::uint32_t>(exec, dims, 60);
  auto const model = random_kruskal<Scalar>(exec, dims, R, 4);
  CAPTURE(dims, R);
  double const expected = by_definition(X, model);
  double const tolerance = std::is_same_v<Scalar, float> ? 2e-4 : 1e-9;
  auto const is_expected = WithinAbs(expected, tolerance * (100 + std::abs(expected)));
  CHECK_THAT(core_consistency(exec, X, model), is_expected);
  int const last = static_cast<int>(dims.size()) - 1;
  CHECK_THAT(core_consistency(exec, sporades::sorted(exec, X, {last}), model), is_expected);
  auto plan = sporades::make_mttkrp_plan(exec, X);
  CHECK_THAT(core_consistency(exec, plan, model), is_expected);
}

TEMPLATE_LIST_TEST_CASE("a model's own tensor has a core consistency of 100, at any scale",
                        "[algorithms][core_consistency]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = GENERATE(Dims{9, 8, 7}, Dims{5, 6, 4, 5});
  double const scale = GENERATE(1.0, 1e-25, 1e25);
  auto model = random_kruskal<Scalar>(exec, dims, 3, 5);
  auto const X = tensor_of<Scalar>(exec, model, 0, scale);
  std::vector<Scalar> weights;
  auto const unscaled = on_host(model.weights);
  for (std::size_t r = 0; r < 3; ++r) weights.push_back(static_cast<Scalar>(scale * unscaled(r)));
  model.weights = sporades::detail::to_view(exec, "weights", weights);
  CHECK_THAT(core_consistency(exec, X, model),
             WithinAbs(100, std::is_same_v<Scalar, float> ? 1e-3 : 1e-9));
}

TEMPLATE_LIST_TEST_CASE("the core consistency finds the rank of a planted tensor",
                        "[algorithms][core_consistency]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = tensor_of<Scalar>(exec, random_kruskal<Scalar>(exec, {30, 25, 20}, 4, 2), 0.01);
  sporades::CpAlsOptions options;
  options.iterations = 300;
  options.tolerance = 1e-7;
  options.starts = 3;
  auto const of_rank = [&](int R) {
    options.rank = R;
    return core_consistency(exec, X, sporades::cp_als(exec, X, options).model);
  };
  CHECK(of_rank(4) > 90);
  CHECK(of_rank(6) < 50);
}

TEMPLATE_LIST_TEST_CASE("columns of a core are multiplied some at a time",
                        "[algorithms][core_consistency]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = sporades::test::random_coo<Scalar, std::uint32_t>(exec, {12, 14, 13, 11}, 50);
  auto const model = random_kruskal<Scalar>(exec, X.dims, 5, 6);  // 125 columns, by 32
  double const expected = by_definition(X, model);
  CHECK_THAT(core_consistency(exec, X, model),
             WithinAbs(expected,
                       (std::is_same_v<Scalar, float> ? 1e-3 : 1e-9) * (100 + std::abs(expected))));
}

TEST_CASE("what has no core consistency is refused", "[algorithms][core_consistency]") {
  Kokkos::DefaultExecutionSpace const exec;
  auto const X = sporades::test::random_coo<double, std::uint32_t>(exec, {5, 6, 7}, 20);
  CHECK_THROWS_WITH(core_consistency(exec, X, random_kruskal<double>(exec, {5, 6, 7}, 0)),
                    ContainsSubstring("no components"));
  CHECK_THROWS_WITH(core_consistency(exec, X, random_kruskal<double>(exec, {5, 6, 8}, 2)),
                    ContainsSubstring("5 x 6 x 8"));
  CHECK_THROWS_WITH(core_consistency(exec, X, random_kruskal<double>(exec, {5, 6, 7}, 60000)),
                    ContainsSubstring("60000^3"));
  auto outside = sporades::test::random_coo<double, std::uint32_t>(exec, {5, 6, 7}, 20);
  Kokkos::deep_copy(Kokkos::subview(outside.coordinates, 1, Kokkos::ALL), 9);
  CHECK_THROWS_WITH(core_consistency(exec, outside, random_kruskal<double>(exec, {5, 6, 7}, 2)),
                    ContainsSubstring("9"));
}

TEST_CASE("a component of weight 0 counts as missing", "[algorithms][core_consistency]") {
  Kokkos::DefaultHostExecutionSpace const exec;
  auto model = random_kruskal<double>(exec, {6, 7, 5}, 3, 5);
  exec.fence();
  model.weights(1) = 0;
  auto const X = [&] {
    auto const kept = sporades::extract(exec, model, {0, 2});
    return tensor_of<double>(exec, kept, 0);
  }();
  CHECK_THAT(core_consistency(exec, X, model), WithinAbs(100 * (1 - 1.0 / 3), 1e-9));
}

}  // namespace
