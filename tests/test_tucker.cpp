// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cmath>
#include <limits>
#include <support/backends.hpp>
#include <support/files.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>
#include <support/tucker.hpp>

using namespace sporades;
using namespace sporades::test;

namespace {

/// A tensor with an exact decomposition of these ranks.
template <class Scalar, class ExecutionSpace>
auto planted_tucker(ExecutionSpace const& exec, Dims const& dims, std::vector<int> const& ranks) {
  std::size_t const size = sporades::detail::core_size(ranks);
  return full_tensor<Scalar>(exec, dims, [&](auto const& i) {
    double sum = 0;
    for (std::size_t g = 0; g < size; ++g) {
      double term = sporades::detail::random_entry<double>(5, 99, g, 0) - 0.5;
      std::size_t rest = g;
      for (std::size_t n = 0; n < dims.size(); ++n) {
        term *= sporades::detail::random_entry<double>(77, n, i[n], rest % ranks[n]) - 0.5;
        rest /= ranks[n];
      }
      sum += term;
    }
    return sum;
  });
}

struct RankProblem {
  Dims dims;
  std::vector<int> ranks;
  Position nnz;
};

std::vector<RankProblem> rank_problems() {
  return {{{7}, {1}, 5},
          {{12, 9}, {4, 4}, 60},
          {{8, 7, 6}, {3, 2, 4}, 100},
          {{60, 5, 6}, {8, 4, 2}, 90},  // fewer rows that are not empty than in the mode
          {{40, 3, 2}, {6, 3, 2}, 4},   // fewer than the rank
          {{6, 5, 4, 3}, {2, 3, 2, 2}, 150},
          {{4, 3, 2, 3, 2}, {2, 2, 2, 3, 1}, 70},
          {{3, 2, 3, 2, 2, 3}, {2, 1, 2, 2, 2, 2}, 80}};
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("HOOI's fit is that of its model, and does not fall",
                        "[algorithms][tucker]", sporades::test::IndexCases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  typename TestType::ExecutionSpace const exec{};
  bool const is_float = std::is_same_v<Scalar, float>;
  auto const problem = GENERATE(from_range(rank_problems()));
  auto const X = random_coo<Scalar, Index>(exec, problem.dims, problem.nnz, 4);
  auto options = tucker_options(problem.ranks, 12);
  options.init = GENERATE(TuckerInit::random, TuckerInit::hosvd);
  options.strategy = GENERATE(TtmChainStrategy::automatic, TtmChainStrategy::semi_sparse);
  auto const result = tucker(exec, X, options);
  auto const dense = to_dense(X);
  INFO(to_string(problem.dims));
  REQUIRE(result.values.size() == 12);
  REQUIRE(result.model.ranks() == problem.ranks);
  REQUIRE(result.model.dims() == problem.dims);
  double const norm = dense.norm();
  // The residual is a difference of squares: its relative error is epsilon / its square.
  double const residual = tucker_residual(dense, result.model) / norm;
  double const exact = is_float ? 1e-5 : 1e-12;
  CHECK(std::abs((1 - result.fit()) * (1 - result.fit()) - residual * residual) < exact);
  for (auto const& A : result.model.factors)
    CHECK(distance_from_orthonormal(A) < (is_float ? 2e-6 : 1e-12));
  CHECK(sum_of_squares(on_host(result.model.core)) <= norm * norm * (1 + exact));
  for (std::size_t k = 1; k < result.values.size(); ++k) {
    double const square_before = std::pow(1 - result.values[k - 1], 2);
    CHECK(std::pow(1 - result.values[k], 2) <= square_before + exact);
  }
  // Signs: the entry of largest magnitude is positive.
  for (auto const& A : result.model.factors) {
    auto const host = matrix_on_host(A);
    for (std::size_t r = 0; r < host.extent(1); ++r) {
      Scalar largest = 0;
      for (std::size_t i = 0; i < host.extent(0); ++i)
        if (std::abs(host(i, r)) > std::abs(largest)) largest = host(i, r);
      CHECK(largest > 0);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("an exact decomposition is found", "[algorithms][tucker]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const X = planted_tucker<Scalar>(exec, {9, 8, 7, 6}, {3, 2, 4, 2});
  auto options = tucker_options({3, 2, 4, 2}, 20);
  double const exact = std::is_same_v<Scalar, float> ? 2e-3 : 1e-7;
  CHECK(tucker(exec, X, options).fit() > 1 - exact);
  options.ranks = {3, 2, 4, 1};
  CHECK(tucker(exec, X, options).fit() < 0.99);
}

TEMPLATE_LIST_TEST_CASE("HOOI's fit is right to 1e-5 where it is close to 1",
                        "[algorithms][tucker]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const X = planted_tucker<Scalar>(exec, {9, 8, 7, 6}, {3, 2, 4, 2});
  auto options =
      tucker_options(GENERATE(std::vector<int>{3, 2, 4, 2}, std::vector<int>{2, 2, 3, 2}), 6);
  options.strategy =
      GENERATE(TtmChainStrategy::csf, TtmChainStrategy::fused, TtmChainStrategy::semi_sparse);
  auto const dense = to_dense(X);
  double worst = 0;
  auto problem = make_tucker_problem(exec, X, options);
  auto state = tucker_start(exec, X, options);
  tucker(exec, problem, options, state, [&](auto const&) {
    auto const model = sporades::detail::model_of(exec, state);
    double const fit = 1 - tucker_residual(dense, model) / dense.norm();
    worst = std::max(worst, std::abs(fit - state.fits.back()));
    return true;
  });
  CHECK(worst < 1e-5);
}

TEMPLATE_LIST_TEST_CASE("all routes to singular vectors agree", "[algorithms][tucker]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Vectors = sporades::detail::LeftSingularVectors<typename TestType::ExecutionSpace, Scalar,
                                                        std::uint32_t>;
  typename TestType::ExecutionSpace const exec{};
  bool const is_float = std::is_same_v<Scalar, float>;
  struct Shape {
    Dims dims;
    std::vector<int> ranks;
  };
  auto const shape = GENERATE(values<Shape>({{{300, 20, 20}, {5, 12, 11}},  // tall
                                             {{30, 60, 50}, {5, 12, 11}},   // wide
                                             {{700, 30, 4}, {9, 20, 1}},    // odd ranks
                                             {{50, 40, 3}, {2, 4, 3}}}));
  auto const X = random_coo<Scalar, std::uint32_t>(exec, shape.dims, 9000, 6, 2);
  auto const A = random_factors<Scalar>(exec, X.dims, 1, 1);
  Factors<Scalar, typename TestType::MemorySpace> factors;
  for (int n = 0; n < 3; ++n)
    factors.push_back(random_matrix<Scalar>(exec, X.dims[n], shape.ranks[n], 3));
  auto plan = make_ttm_chain_plan(exec, X, shape.ranks);
  auto const product = ttm_chain(exec, plan, factors, 0);
  double const tolerance = is_float ? 1e-7 : 1e-15;
  Vectors gram(exec, SingularVectorMethod::gram);
  gram.tall().orthonormalize(factors[0], 1, 0);
  auto const route = GENERATE(SingularVectorMethod::lanczos, SingularVectorMethod::svd);
  Vectors second(exec, route);
  auto left = factors[0], other = factors[0];
  gram(product, left, 1, 0, tolerance);
  second(product, other, 1, 0, tolerance);
  std::size_t const R = left.extent(1);
  REQUIRE(gram.squares().size() == R);
  REQUIRE(second.squares().size() == R);
  for (std::size_t r = 0; r < R; ++r)
    CHECK(second.squares()[r] == Approx(gram.squares()[r]).epsilon(is_float ? 1e-4 : 1e-9));
  CHECK(distance_from_orthonormal(other) < (is_float ? 2e-6 : 1e-12));
  // Both bases span one space: the products of the two make an orthogonal matrix.
  auto const U = matrix_on_host(left), V = matrix_on_host(other);
  double captured = 0;
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t s = 0; s < R; ++s) {
      double sum = 0;
      for (std::size_t i = 0; i < U.extent(0); ++i) sum += double(U(i, r)) * double(V(i, s));
      captured += sum * sum;
    }
  CHECK(captured == Approx(double(R)).epsilon(is_float ? 1e-2 : 1e-6));
  // Singular vectors: Y^T u has the length of its singular value.
  auto const Y = matrix_on_host(product.Y);
  auto const rows = on_host(product.rows);
  for (auto const& vectors : {U, V})
    for (std::size_t r = 0; r < R; ++r) {
      double square = 0;
      for (std::size_t c = 0; c < Y.extent(1); ++c) {
        double sum = 0;
        for (std::size_t i = 0; i < Y.extent(0); ++i) sum += double(Y(i, c)) * vectors(rows(i), r);
        square += sum * sum;
      }
      CHECK(square == Approx(gram.squares()[r]).epsilon(is_float ? 1e-3 : 1e-6));
    }
}

TEST_CASE("the automatic route is Lanczos where both sides are large", "[algorithms][tucker]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, {900, 40, 40, 30}, 60000, 6, 1.5);
  auto options = tucker_options({6, 7, 7, 6}, 30);
  auto const automatic = tucker(exec, X, options);
  options.singular_vectors = SingularVectorMethod::gram;
  auto const gram = tucker(exec, X, options);
  // 294 columns, 900 rows: mode 0 goes another way, to nearly the same fits.
  CHECK(automatic.fit() != gram.fit());
  CHECK(automatic.fit() == Approx(gram.fit()).epsilon(1e-3));
  for (std::size_t k = 1; k < automatic.values.size(); ++k)
    CHECK(automatic.values[k] >= automatic.values[k - 1] - 1e-14);
}

TEMPLATE_LIST_TEST_CASE("HOOI goes on from a snapshot with the same bits", "[algorithms][tucker]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {200, 30, 20}, 4000);
  auto options = tucker_options({5, 4, 3}, 7);
  options.singular_vectors = GENERATE(SingularVectorMethod::automatic,
                                      SingularVectorMethod::lanczos, SingularVectorMethod::svd);
  auto problem = make_tucker_problem(exec, X, options);
  auto state = tucker_start(exec, X, options);
  sporades::Snapshot saved;
  auto const whole = tucker(exec, problem, options, state, [&](auto const& now) {
    if (now.iteration == 3) saved = snapshot(exec, state);
    return true;
  });
  auto again = sporades::restore<decltype(state)>(exec, saved);
  CHECK(again.iterations() == 3);
  auto const rest = tucker(exec, problem, options, again);
  CHECK(rest.values == whole.values);
  CHECK(hash_bits(rest.model.core) == hash_bits(whole.model.core));
  for (int n = 0; n < 3; ++n)
    CHECK(hash_bits(rest.model.factors[n]) == hash_bits(whole.model.factors[n]));
}

TEMPLATE_LIST_TEST_CASE("one seed gives one Tucker model on any number of threads",
                        "[algorithms][tucker][threads]", sporades::test::AllCases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  typename TestType::ExecutionSpace const exec{};
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {3000, 200, 50}, 40000, 9, 2);
  auto options = tucker_options({5, 8, 6}, 4);
  options.init = GENERATE(TuckerInit::random, TuckerInit::hosvd);
  options.singular_vectors = GENERATE(SingularVectorMethod::gram, SingularVectorMethod::lanczos);
  auto const result = tucker(exec, X, options);
  auto const name = std::string("tucker ") + Memory::name() + " " + typeid(Scalar).name() +
                    (options.init == TuckerInit::hosvd ? " hosvd" : "") +
                    (options.singular_vectors == SingularVectorMethod::gram ? " gram" : " lanczos");
  check_same_bits(name + " fits",
                  hash_bytes(result.values.data(), result.values.size() * sizeof(double)));
  check_same_bits(name + " core", hash_bits(result.model.core));
  for (int n = 0; n < 3; ++n)
    check_same_bits(name + " factor " + std::to_string(n),
                    hash_bits(sporades::detail::with_padding(result.model.factors[n])));
}

TEST_CASE("several starts of HOOI are different ones", "[algorithms][tucker]") {
  Kokkos::DefaultExecutionSpace const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, {20, 15, 10}, 600);
  auto options = tucker_options({4, 4, 4}, 1);
  options.starts = 4;  // seeds 1 to 4 would span the same columns
  auto fits = tucker(exec, X, options).start_scores;
  REQUIRE(fits.size() == 4);
  std::sort(fits.begin(), fits.end());
  for (int k = 1; k < 4; ++k) CHECK(fits[k] - fits[k - 1] > 1e-6);
}

TEMPLATE_LIST_TEST_CASE("HOOI starts, stops and is timed as asked", "[algorithms][tucker]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {20, 15, 10}, 600);
  auto options = tucker_options({3, 2, 4}, 30);
  auto const stopped = tucker(exec, X, options, [](auto const& now) { return now.iteration < 3; });
  CHECK(stopped.stop == StopReason::observer);
  CHECK(stopped.values.size() == 3);
  CHECK(stopped.kernels.empty());
  options.tolerance = 1;
  auto const converged = tucker(exec, X, options);
  CHECK(converged.converged);
  CHECK(converged.values.size() == 2);
  // A given start goes on where a run ended; the signs that were fixed change nothing.
  options.tolerance = 0;
  auto const first = tucker(exec, X, options);
  auto given = options;
  given.init = TuckerInit::given;
  given.iterations = 1;
  auto problem = make_tucker_problem(exec, X, given);
  auto state = tucker_start(exec, X.dims, given, first.model);
  options.iterations = 31;
  double const exact = std::is_same_v<Scalar, float> ? 1e-5 : 1e-12;
  CHECK(std::abs(tucker(exec, problem, given, state).fit() - tucker(exec, X, options).fit()) <
        exact);
  options.time_kernels = true;
  options.iterations = 4;
  options.init = GENERATE(TuckerInit::random, TuckerInit::hosvd);
  options.singular_vectors =
      GENERATE(SingularVectorMethod::automatic, SingularVectorMethod::lanczos);
  check_launches(exec, [&] {
    auto const kernels = tucker(exec, X, options).kernels;
    REQUIRE(kernels.count("ttm_chain mode 2") == 1);
    CHECK(kernels.at("ttm_chain mode 2").calls == 4);
    CHECK(kernels.at("singular vectors mode 0").calls == 4);
    CHECK(kernels.at("core").calls == 4);
  });
}

TEMPLATE_LIST_TEST_CASE("what HOOI cannot do is refused", "[algorithms][tucker][bad_input]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {6, 5, 4}, 50);
  auto const message = [&](TuckerOptions const& options) {
    return message_of([&] { tucker(exec, X, options); });
  };
  auto options = tucker_options({2, 2, 2}, 3);
  CHECK(message(tucker_options({2, 2}, 3)) == "tucker: 2 ranks for a tensor of order 3");
  CHECK(message(tucker_options({2, 2, 5}, 3)) ==
        "tucker: rank 5 of mode 2 is larger than the mode, 4");
  CHECK(message(tucker_options({5, 2, 2}, 3)) ==
        "tucker: rank 5 of mode 0 is larger than the product of the other ranks, 4");
  CHECK(message(tucker_options({2, 0, 2}, 3)) == "tucker: rank 0 of mode 1 is not in 1 to 65535");
  CHECK(message(tucker_options({2, 2, 2}, 0)) == "tucker: 0 iterations: at least 1");
  CHECK(message(tucker_options({2, 2, 2}, 1, -1)) ==
        "tucker: tolerance -1 is not 0 or a positive number");
  options.starts = 0;
  CHECK(message(options) == "tucker: 0 starts: at least 1");
  options.starts = 2;
  options.init = TuckerInit::given;
  CHECK(message(options) == "tucker: 2 starts: a given one is the only one");
  options = tucker_options({2, 2, 2}, 3);
  options.memory_limit = -1;
  CHECK(message(options) == "tucker: memory limit -1 is not 0 or a positive number of bytes");
  options = tucker_options({2, 2, 2}, 3);
  options.init = TuckerInit::given;
  CHECK(message(options) ==
        "tucker: init is `given`, and no start was given: pass a TuckerTensor to tucker_start");
  options = tucker_options({2, 2, 2}, 3);
  options.memory_limit = 64;
  CHECK(message(options).find("the memory limit is 64 B") != std::string::npos);
  auto const empty = random_coo<Scalar, std::uint32_t>(exec, {6, 5, 4}, 0);
  CHECK(message_of([&] {
          tucker(exec, empty, tucker_options({2, 2, 2}, 3));
        }) == "tucker: X (6 x 5 x 4) has no nonzeros: nothing to fit");
  auto const bad = full_tensor<Scalar>(exec, {2, 2}, [](auto const& i) {
    return i[0] == 1 && i[1] == 0 ? std::numeric_limits<double>::quiet_NaN() : 1.0;
  });
  CHECK(message_of([&] {
          tucker(exec, bad, tucker_options({1, 1}, 3));
        }) == "tucker: value 2 of X (counted from 0) is NaN or infinite");
  auto problem = make_tucker_problem(exec, X, tucker_options({2, 2, 2}, 3));
  options = tucker_options({2, 1, 2}, 3);
  auto state = tucker_start(exec, X, options);
  CHECK(message_of([&] { tucker(exec, problem, options, state); }) ==
        "tucker: the problem was made for other ranks");
  options.ranks = {2, 2, 2};
  CHECK(message_of([&] { tucker(exec, problem, options, state); }) ==
        "tucker: the start's factor of mode 1 is 5 x 1, expected 5 x 2");
}
