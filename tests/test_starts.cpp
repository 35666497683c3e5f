// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <set>
#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/algorithms/detail/cp_als/cp_als_method.hpp>
#include <sporades/algorithms/tucker.hpp>
#include <sporades/kernels/log_likelihood.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>

namespace {

using sporades::CpAlsInit;
using sporades::detail::Starts;
using sporades::test::random_coo;
using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;

/// Small counts: the values of random_coo times 10, rounded up.
template <class Tensor>
Tensor counts_of(Tensor const& X) {
  auto const values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, X.values);
  for (std::size_t p = 0; p < values.extent(0); ++p)
    values(p) = std::ceil(10 * std::abs(values(p)));
  Kokkos::deep_copy(X.values, values);
  return X;
}

/// options.starts = 3 against three runs of the seeds that seed_of_start gives, and against a run
/// that is stopped after each iteration and continued from copies of what it carries.
template <class Problem, class Options, class Start, class Run, class OfStarts, class Score>
void check_starts(Exec const& exec, Problem& problem, Options options, Start const& start,
                  Run const& run, OfStarts const& of_starts, Score const& score) {
  using State = decltype(start(options));
  std::vector<double> scores;
  for (int k = 0; k < 3; ++k) {
    auto one = options;
    one.seed = sporades::seed_of_start(options.seed, k);
    auto state = start(one);
    scores.push_back(score(run(problem, one, state)));
  }
  CHECK(std::set<double>(scores.begin(), scores.end()).size() == 3);
  auto const best = std::max_element(scores.begin(), scores.end());

  options.starts = 3;
  Starts<State> starts;
  starts.state = start(options);
  auto const result = of_starts(problem, options, starts, sporades::Observer());
  CHECK(result.start_scores == scores);
  CHECK(score(result) == *best);
  CHECK(result.seed ==
        sporades::seed_of_start(options.seed, static_cast<int>(best - scores.begin())));
  CHECK(!result.is_stopped());

  Starts<State> pieces;
  pieces.state = start(options);
  int runs = 0;
  for (bool stopped = true; stopped && runs < 50; ++runs) {
    int seen = -1;
    auto const piece = of_starts(problem, options, pieces, [&](sporades::IterationInfo const& now) {
      seen = now.start;
      return false;
    });
    if (piece.is_stopped()) CHECK(seen == pieces.current);
    stopped = piece.is_stopped();
    pieces.state = sporades::restore<State>(exec, snapshot(exec, pieces.state));
    if (!pieces.scores.empty())
      pieces.best_state = sporades::restore<State>(exec, snapshot(exec, pieces.best_state));
    if (stopped) continue;
    CHECK(piece.start_scores == scores);
    CHECK(score(piece) == *best);
    CHECK(piece.seed == result.seed);
  }
  CHECK(runs > 3);
}

TEST_CASE("several starts are different, the best is kept, and a stopped run goes on",
          "[algorithms][starts]") {
  Exec const exec{};
  auto const X = counts_of(random_coo<double, std::uint32_t>(exec, {20, 15, 10}, 600));
  SECTION("CP-ALS") {
    sporades::CpAlsOptions options;
    options.init = CpAlsInit::random;
    options.rank = 4;
    options.iterations = 4;
    options.tolerance = 0;
    auto problem = make_cp_als_problem(exec, X, options);
    check_starts(
        exec, problem, options, [&](auto const& one) { return cp_als_start(exec, X, one); },
        [&](auto& prepared, auto const& one, auto& state) {
          return cp_als(exec, prepared, one, state);
        },
        [&](auto& prepared, auto const& all, auto& starts, auto const& observer) {
          return sporades::detail::run_from_starts(exec, prepared, all, starts, observer);
        },
        [](auto const& result) { return result.fit(); });
    options.starts = 3;
    CHECK(cp_als(exec, X, options).start_scores.size() == 3);
    options.init = CpAlsInit::given;
    CHECK_THROWS_WITH(cp_als(exec, X, options), "cp_als: 3 starts: a given one is the only one");
  }
  SECTION("CP-APR") {
    sporades::CpAprOptions options;
    options.rank = 4;
    options.iterations = 4;
    options.tolerance = 0;
    auto problem = make_cp_apr_problem(exec, X, options);
    check_starts(
        exec, problem, options,
        [&](auto const& one) { return sporades::cp_apr_start<double>(exec, X.dims, one); },
        [&](auto& prepared, auto const& one, auto& state) {
          return cp_apr(exec, prepared, one, state);
        },
        [&](auto& prepared, auto const& all, auto& starts, auto const& observer) {
          return sporades::detail::run_from_starts(exec, prepared, all, starts, observer);
        },
        [](auto const& result) { return result.log_likelihood(); });
    options.starts = 0;
    CHECK_THROWS_WITH(cp_apr(exec, X, options), "cp_apr: 0 starts: at least 1");
  }
  SECTION("HOOI") {
    sporades::TuckerOptions options;
    options.ranks = {4, 3, 2};
    options.iterations = 4;
    options.tolerance = 0;
    auto problem = make_tucker_problem(exec, X, options);
    check_starts(
        exec, problem, options, [&](auto const& one) { return tucker_start(exec, X, one); },
        [&](auto& prepared, auto const& one, auto& state) {
          return tucker(exec, prepared, one, state);
        },
        [&](auto& prepared, auto const& all, auto& starts, auto const& observer) {
          return sporades::detail::run_from_starts(exec, prepared, all, starts, observer);
        },
        [](auto const& result) { return result.fit(); });
  }
}

TEST_CASE("starts of neighbouring seeds are other ones", "[algorithms][starts]") {
  std::set<std::uint64_t> upper;  // without the bits that only change the order of columns
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    for (int k = 1; k < 8; ++k) upper.insert(sporades::seed_of_start(seed, k) >> 16);
  CHECK(upper.size() == 56);
  CHECK(sporades::seed_of_start(7, 0) == 7);
}

TEST_CASE("init automatic goes on with the better of two starts", "[algorithms][starts]") {
  Exec const exec{};
  // Three components without noise in disjoint slices, of which two random columns may take one.
  sporades::Dims const dims{12, 12, 12};
  std::vector<std::vector<std::uint32_t>> coordinates(3);
  std::vector<double> values;
  for (std::uint32_t r = 0; r < 3; ++r)
    for (std::uint32_t i = 0; i < 64; ++i) {
      std::uint32_t const at[] = {4 * r + i / 16, 4 * r + i / 4 % 4, 4 * r + i % 4};
      for (int n = 0; n < 3; ++n) coordinates[n].push_back(at[n]);
      values.push_back(r + 1.0);
    }
  auto X = sporades::detail::allocate_coo<double, std::uint32_t>(exec, dims, values.size());
  auto const places = Kokkos::create_mirror_view(X.coordinates);
  auto const numbers = Kokkos::create_mirror_view(X.values);
  for (std::size_t p = 0; p < values.size(); ++p) {
    for (int n = 0; n < 3; ++n) places(n, p) = coordinates[n][p];
    numbers(p) = values[p];
  }
  Kokkos::deep_copy(X.coordinates, places);
  Kokkos::deep_copy(X.values, numbers);

  sporades::CpAlsOptions options;
  options.rank = 3;
  int random_misses = 0;
  for (std::uint64_t seed = 0; seed < 80; seed += 4) {
    options.seed = seed;
    options.init = CpAlsInit::random;
    if (cp_als(exec, X, options).fit() < 0.99) ++random_misses;
    options.init = CpAlsInit::automatic;
    CHECK(cp_als(exec, X, options).fit() > 0.999);
  }
  CHECK(random_misses > 0);

  // The race is that of the two starts, each as far as it came.
  auto problem = make_cp_als_problem(exec, X, options);
  auto state = cp_als_start(exec, X, options);
  auto const fits = sporades::detail::cp_als_race(exec, problem, options, state);
  options.init = CpAlsInit::random;
  options.iterations = 3;
  REQUIRE(fits.size() == 2);
  CHECK(fits[1] == cp_als(exec, X, options).fit());
  CHECK(state.fits.back() == std::max(fits[0], fits[1]));
  CHECK(state.iterations() <= 3);

  // What would take much memory, or has no singular vectors to read, has no race.
  options.init = CpAlsInit::automatic;
  CHECK(sporades::detail::has_cp_als_race(options, 3, 1000000));
  CHECK(!sporades::detail::has_cp_als_race(options, 3, 100000000));
  CHECK(!sporades::detail::has_cp_als_race(options, 1, 1000));
  options.starts = 2;
  CHECK(!sporades::detail::has_cp_als_race(options, 3, 1000));
  CHECK(sporades::detail::has_singular_start(options, 3, 1000));
  CHECK(!sporades::detail::has_singular_start(options, 3, 100000000));
}

/// The scores of `starts` starts of a method that decomposes X.
template <class Options, class Run>
void check_more_are_no_worse(Options options, Run const& run) {
  auto const one = run(options);
  options.starts = 2;
  auto const two = run(options);
  options.starts = 5;
  auto const five = run(options);
  CHECK(two.value() >= one.value());
  CHECK(five.value() >= two.value());
  REQUIRE(five.start_scores.size() == 5);
  CHECK(std::equal(two.start_scores.begin(), two.start_scores.end(), five.start_scores.begin()));
  CHECK(five.start_scores[static_cast<std::size_t>(five.start)] == five.value());
}

TEST_CASE("the start of singular vectors is one of several, which contain the fewer ones",
          "[algorithms][starts]") {
  Exec const exec{};
  auto const X = counts_of(random_coo<double, std::uint32_t>(exec, {20, 15, 10}, 600));
  SECTION("CP-ALS") {
    sporades::CpAlsOptions options;
    CHECK(options.init == CpAlsInit::automatic);
    options.rank = 4;
    options.iterations = 12;
    options.tolerance = 0;
    auto const run = [&](auto const& with) { return cp_als(exec, X, with); };
    for (std::uint64_t seed : {1, 2, 3}) {
      options.seed = seed;
      for (auto init : {CpAlsInit::automatic, CpAlsInit::hosvd}) {
        options.init = init;
        check_more_are_no_worse(options, run);
        auto several = options;
        several.starts = 3;
        auto const scores = run(several).start_scores;
        // The random ones after it are those of any run.
        several.init = CpAlsInit::random;
        several.starts = 2;
        auto const random = run(several).start_scores;
        CHECK(std::equal(random.begin(), random.end(), scores.begin() + 1));
      }
    }
    // One start of singular vectors is the first of several.
    options.init = CpAlsInit::hosvd;
    double const one = run(options).fit();
    options.starts = 2;
    CHECK(run(options).start_scores[0] == one);
  }
  SECTION("HOOI") {
    sporades::TuckerOptions options;
    options.ranks = {4, 3, 2};
    options.iterations = 6;
    options.tolerance = 0;
    options.init = sporades::TuckerInit::hosvd;
    check_more_are_no_worse(options, [&](auto const& with) { return tucker(exec, X, with); });
  }
}

TEST_CASE("a stop check ends a run inside an iteration", "[algorithms][starts]") {
  Exec const exec{};
  auto const X = counts_of(random_coo<double, std::uint32_t>(exec, {300, 200, 150}, 3000));
  int asked = 0, last = 1;
  auto const stop = [&] { return ++asked == last; };
  auto const check_stops = [&](auto const& run, int least) {
    asked = 0;
    last = 0;
    run();  // one iteration
    int const all = asked;
    INFO(all);
    CHECK(all >= least);
    for (last = 1; last <= all; ++last) {
      asked = 0;
      CHECK_THROWS_AS(run(), sporades::Stopped);
      CHECK(asked == last);
    }
  };
  SECTION("CP-ALS") {
    sporades::CpAlsOptions options;
    options.init = CpAlsInit::random;
    options.rank = 3;
    options.iterations = 1;
    options.stop = stop;
    check_stops([&] { cp_als(exec, X, options); }, 6);
  }
  SECTION("CP-APR") {
    sporades::CpAprOptions options;
    options.rank = 3;
    options.iterations = 1;
    options.inner_iterations = 2;
    options.method = sporades::CpAprMethod::mu;
    options.stop = stop;
    check_stops([&] { cp_apr(exec, X, options); }, 6);
    options.method = sporades::CpAprMethod::pqnr;
    check_stops([&] { cp_apr(exec, X, options); }, 3);
  }
  SECTION("HOOI") {
    sporades::TuckerOptions options;
    options.ranks = {3, 3, 3};
    options.iterations = 1;
    options.stop = stop;
    options.singular_vectors = sporades::SingularVectorMethod::gram;
    check_stops([&] { tucker(exec, X, options); }, 9);
    options.singular_vectors = sporades::SingularVectorMethod::lanczos;
    check_stops([&] { tucker(exec, X, options); }, 15);
  }
}

TEST_CASE("states whose arrays do not fit are refused", "[algorithms][starts][bad_input]") {
  Exec const exec{};
  auto const X = counts_of(random_coo<double, std::uint32_t>(exec, {40, 3, 20}, 300));
  // Its rows are used as they are, without the padding that the methods write to.
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> const unpadded("unpadded", 40, 3);
  auto const narrow = sporades::make_matrix<double>(exec, "narrow", 40, 2);
  auto const check = [&](auto const& state, auto const& run, auto const& clear,
                         std::string const& text) {
    auto changed = state;
    changed.factors[0] = sporades::make_factor(exec, unpadded);
    CHECK_THROWS_WITH(run(changed),
                      Catch::Matchers::ContainsSubstring("3 columns and a row stride of 3"));
    changed.factors[0] = narrow;
    CHECK_THROWS_WITH(run(changed), Catch::Matchers::ContainsSubstring("has 2 columns"));
    changed = state;
    clear(changed);
    CHECK_THROWS_WITH(run(changed), Catch::Matchers::ContainsSubstring(text));
  };
  sporades::CpAlsOptions als;
  als.init = CpAlsInit::random;
  als.rank = 3;
  auto als_problem = make_cp_als_problem(exec, X, als);
  check(
      cp_als_start(exec, X, als), [&](auto& state) { cp_als(exec, als_problem, als, state); },
      [](auto& state) { state.grams.pop_back(); }, "a Gram matrix of 3 x 3");
  sporades::CpAprOptions apr;
  apr.rank = 3;
  auto apr_problem = make_cp_apr_problem(exec, X, apr);
  check(
      sporades::cp_apr_start<double>(exec, X.dims, apr),
      [&](auto& state) { cp_apr(exec, apr_problem, apr, state); },
      [](auto& state) { state.zero_marks.clear(); }, "must have zero_marks");
}

}  // namespace
