// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <numeric>
#include <sporades/algorithms/components.hpp>
#include <sporades/algorithms/score.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/cp_als.hpp>
#include <support/models.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using sporades::Dims;
using sporades::score;
using sporades::ScoreMatching;
using sporades::ScoreOptions;
using sporades::test::new_instance;
using sporades::test::random_kruskal;

/// C(r, s) by its definition.
template <class Model>
std::vector<std::vector<double>> congruences(Model const& A, Model const& B, bool penalty) {
  auto const weights_A = sporades::test::on_host(A.weights);
  auto const weights_B = sporades::test::on_host(B.weights);
  std::vector<std::vector<double>> C(A.rank(), std::vector<double>(B.rank()));
  for (int r = 0; r < A.rank(); ++r)
    for (int s = 0; s < B.rank(); ++s) {
      double a = std::abs(double{weights_A(r)}), b = std::abs(double{weights_B(s)}), c = 1;
      for (std::size_t n = 0; n < A.factors.size(); ++n) {
        auto const P = sporades::test::matrix_on_host(A.factors[n]);
        auto const Q = sporades::test::matrix_on_host(B.factors[n]);
        double dot = 0, p = 0, q = 0;
        for (std::size_t i = 0; i < P.extent(0); ++i) {
          dot += double{P(i, r)} * double{Q(i, s)};
          p += double{P(i, r)} * double{P(i, r)};
          q += double{Q(i, s)} * double{Q(i, s)};
        }
        c *= p * q > 0 ? std::abs(dot) / std::sqrt(p * q) : 0;
        a *= std::sqrt(p);
        b *= std::sqrt(q);
      }
      if (penalty && std::max(a, b) > 0) c *= 1 - std::abs(a - b) / std::max(a, b);
      C[r][s] = c;
    }
  return C;
}

TEMPLATE_LIST_TEST_CASE("the score equals its definition", "[algorithms][score]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = GENERATE(Dims{7}, Dims{5, 6}, Dims{30, 20, 10}, Dims{3, 4, 2, 5},
                             Dims{3, 2, 3, 2, 4}, Dims{2, 3, 2, 3, 2, 3});
  std::size_t const S = GENERATE(1, 3, 5);
  std::size_t const R = S + GENERATE(0, 2);
  bool const penalty = GENERATE(true, false);
  auto const A = random_kruskal<Scalar>(exec, dims, R, 1, R != 3);
  auto const B = random_kruskal<Scalar>(exec, dims, S, 2);
  auto const C = congruences(A, B, penalty);
  double const eps = 100 * double{std::numeric_limits<Scalar>::epsilon()};
  std::vector<int> order(R);
  std::iota(order.begin(), order.end(), 0);
  double best = 0;
  do {
    double sum = 0;
    for (std::size_t s = 0; s < S; ++s) sum += C[order[s]][s];
    best = std::max(best, sum / static_cast<double>(S));
  } while (std::next_permutation(order.begin(), order.end()));
  auto left = C;
  double greedy = 0;
  for (std::size_t k = 0; k < S; ++k) {
    std::size_t row = 0, column = 0;
    for (std::size_t r = 0; r < R; ++r)
      for (std::size_t s = 0; s < S; ++s)
        if (left[r][s] > left[row][column]) {
          row = r;
          column = s;
        }
    greedy += left[row][column] / static_cast<double>(S);
    for (std::size_t r = 0; r < R; ++r) left[r][column] = -1;
    for (std::size_t s = 0; s < S; ++s) left[row][s] = -1;
  }
  for (auto const matching : {ScoreMatching::greedy, ScoreMatching::exact}) {
    ScoreOptions options;
    options.weight_penalty = penalty;
    options.matching = matching;
    auto const result = score(exec, A, B, options);
    CAPTURE(R, S, penalty, to_string(matching));
    CHECK(std::abs(result.value - (matching == ScoreMatching::exact ? best : greedy)) <= eps);
    REQUIRE(result.permutation.size() == R);
    REQUIRE(result.components.size() == S);
    double sum = 0;
    for (std::size_t s = 0; s < S; ++s) {
      CHECK(std::abs(result.components[s] - C[result.permutation[s]][s]) <= eps);
      sum += result.components[s] / static_cast<double>(S);
    }
    CHECK(result.value == Approx(sum).epsilon(1e-14));
    CHECK(std::is_permutation(order.begin(), order.end(), result.permutation.begin()));
    CHECK(std::is_sorted(result.permutation.begin() + static_cast<std::ptrdiff_t>(S),
                         result.permutation.end()));
  }
}

TEMPLATE_LIST_TEST_CASE("a model is alike to itself in another order", "[algorithms][score]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const A = random_kruskal<Scalar>(exec, {30, 20, 10}, 16);
  std::vector<int> order(16);
  for (int k = 0; k < 16; ++k) order[k] = (5 * k + 3) % 16;
  auto const B = arrange(exec, normalize(exec, A, {sporades::ColumnNorm::one, 2}), order);
  for (auto const matching : {ScoreMatching::greedy, ScoreMatching::exact}) {
    auto const result = score(exec, A, B, {true, matching});
    CHECK(result.value == Approx(1).epsilon(1e-5));
    CHECK(result.permutation == order);
  }
}

TEST_CASE("greedy and exact matching differ where the best pair costs more than it brings",
          "[algorithms][score]") {
  std::vector<double> const C{0.9, 0.8,  //
                              0.8, 0.1,  //
                              0.0, 0.0};
  CHECK(sporades::detail::match_greedily(C, 3, 2) == std::vector<int>{0, 1});
  CHECK(sporades::detail::match_exactly(C, 3, 2) == std::vector<int>{1, 0});
  // Equal pairs: the first by column, then by row.
  CHECK(sporades::detail::match_greedily(std::vector<double>(6, 0), 3, 2) ==
        std::vector<int>{0, 1});
}

TEST_CASE("dead components count as unlike", "[algorithms][score]") {
  Kokkos::DefaultExecutionSpace const exec{};
  auto const A = copy_to(
      exec, sporades::test::host_ktensor<double>({1, 0}, {{{1, 1}, {0, 1}}, {{0, 1}, {1, 1}}}));
  auto const B = copy_to(
      exec, sporades::test::host_ktensor<double>({1, 2}, {{{1, 0}, {0, 0}}, {{0, 0}, {1, 0}}}));
  CHECK(score(exec, A, B).value == 0.5);
  CHECK(score(exec, B, A).value == 0.5);
  CHECK(score(exec, A, A).value == Approx(1).epsilon(1e-14));
}

TEMPLATE_LIST_TEST_CASE("the score has the same bits on any number of threads",
                        "[algorithms][score][threads]", sporades::test::AllCases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  auto const A = random_kruskal<Scalar>(exec, {3000, 2000, 100}, 17, 1);
  auto const B = random_kruskal<Scalar>(exec, {3000, 2000, 100}, 16, 2);
  double const value = score(exec, A, B).value;
  sporades::test::check_same_bits(
      std::string("score ") + Exec::name() + " bytes " + std::to_string(sizeof(Scalar)),
      sporades::test::hash_bytes(&value, sizeof value));
}

TEST_CASE("score runs on its instance, and refuses what it cannot compare", "[algorithms][score]") {
  auto const exec = new_instance<Kokkos::DefaultExecutionSpace>();
  auto const A = random_kruskal<double>(exec, {30, 20, 10}, 3);
  sporades::test::check_launches(exec, [&] { score(exec, A, A); });
  CHECK_THROWS_WITH(score(exec, A, random_kruskal<double>(exec, {30, 20, 10}, 4)),
                    ContainsSubstring("the first model has 3 components, the second 4"));
  CHECK_THROWS_WITH(score(exec, A, random_kruskal<double>(exec, {30, 20, 11}, 3)),
                    ContainsSubstring("one tensor is 30 x 20 x 10, the other 30 x 20 x 11"));
  auto broken = A;
  broken.weights = sporades::detail::to_view(exec, "weights", std::vector<double>{1, NAN, 2});
  CHECK_THROWS_WITH(score(exec, A, broken), ContainsSubstring("holds NaN or infinity"));
}

}  // namespace
