// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <sporades/algorithms/cp_als.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/cp_als.hpp>
#include <support/same_bits.hpp>

/// Systems that are nearly singular: fits that do not fall, and the best model of those that do.

namespace {

using sporades::cp_als;
using sporades::cp_als_start;
using sporades::CpAlsInit;
using sporades::CpAlsOptions;
using sporades::test::hash_bits;
using sporades::test::new_instance;
using sporades::test::options_of;

/// Of rank 3, and of three parts that differ in size: 1, 8e-3 and 3e-4 of the norm.
template <class Scalar, class ExecutionSpace>
auto affine(ExecutionSpace const& exec) {
  return sporades::test::full_tensor<Scalar>(exec, {30, 40, 20}, [](auto const& i) {
    return 800.0 * double(i[0]) + 20.0 * double(i[1]) + double(i[2]);
  });
}

template <class Result>
double best_of(Result const& result) {
  return *std::max_element(result.values.begin(), result.values.end());
}

template <class Result, class Tensor>
double fit_of_model(Result const& result, Tensor const& X) {
  auto dense = sporades::test::to_dense(X);
  sporades::test::set_model(dense, result.model);
  return dense.fit();
}

TEMPLATE_LIST_TEST_CASE("an affine tensor is fitted to its rounding, whatever the start",
                        "[algorithms][cp_als]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = affine<Scalar>(exec);
  bool const is_float = std::is_same_v<Scalar, float>;
  for (int rank : {3, 4, 10})
    for (std::uint64_t seed = 1; seed <= 6; ++seed)
      for (auto init : {CpAlsInit::random, CpAlsInit::automatic}) {
        auto options = options_of(rank, 50, 1e-5);
        options.seed = seed;
        options.init = init;
        auto const result = cp_als(exec, X, options);
        CAPTURE(rank, seed, init == CpAlsInit::automatic, result.iterations());
        CHECK(result.fit() >= best_of(result) - (is_float ? 1e-6 : 1e-5));
        // Three components have weights of up to thousands of norms, which cancel one another.
        bool const cancels = rank == 3;
        double const fit = fit_of_model(result, X);
        CHECK(fit > 1 - (is_float ? (cancels ? 1e-3 : 1e-4) : (cancels ? 1e-5 : 1e-7)));
        CHECK(std::abs(fit - result.fit()) < (is_float ? 1e-5 : cancels ? 1e-4 : 2e-6));
      }
}

TEST_CASE("fits in double do not fall by more than roundings on an affine tensor",
          "[algorithms][cp_als]") {
  Kokkos::DefaultExecutionSpace const exec{};
  auto const X = affine<double>(exec);
  for (int rank : {4, 10})
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      auto options = options_of(rank, 100);
      options.seed = seed;
      double fall = 0, before = 0;
      auto problem = make_cp_als_problem(exec, X, options);
      auto state = cp_als_start(exec, X, options);
      auto dense = sporades::test::to_dense(X);
      cp_als(exec, problem, options, state, [&](sporades::IterationInfo const&) {
        set_model(dense, state.weights, state.factors);
        double const fit = dense.fit();
        fall = std::max(fall, before - fit);
        before = fit;
        return true;
      });
      CAPTURE(rank, seed, before);
      CHECK(fall < 1e-6);  // with the product of the inverse 1e-3 and more
      CHECK(before > 1 - 1e-7);
    }
}

/// A run that goes on from snapshots after each iteration has the model and the bits of one that
/// was never stopped, the kept iterate included.
TEST_CASE("the best iterate outlives a snapshot", "[algorithms][cp_als]") {
  Kokkos::DefaultExecutionSpace const exec{};
  using State = sporades::CpAlsState<float, Kokkos::DefaultExecutionSpace::memory_space>;
  auto const X = affine<float>(exec);
  int kept = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    auto options = options_of(4, 25);
    options.seed = seed;
    options.slices = seed % 2 == 0 ? 4 : 1;
    if (options.slices > 1) options.strategy = sporades::MttkrpStrategy::sorted;
    auto problem = make_cp_als_problem(exec, X, options);
    auto whole_state = cp_als_start(exec, X, options);
    auto const whole = cp_als(exec, problem, options, whole_state);
    auto state = cp_als_start(exec, X, options);
    auto pieces = cp_als(exec, problem, options, state, [](auto const&) { return false; });
    while (pieces.is_stopped()) {
      state = sporades::restore<State>(exec, snapshot(exec, state));
      pieces = cp_als(exec, problem, options, state, [](auto const&) { return false; });
    }
    CHECK(pieces.values == whole.values);
    CHECK(pieces.model_iteration == whole.model_iteration);
    CHECK(hash_bits(pieces.model.factors[1]) == hash_bits(whole.model.factors[1]));
    CHECK(whole.fit() == whole.values[whole.model_iteration - 1]);
    CHECK(whole.fit() >= best_of(whole) - 1e-6);
    CHECK(std::abs(fit_of_model(whole, X) - whole.fit()) < 1e-5);
    if (whole.model_iteration == 25) continue;
    ++kept;
    // A state cannot lose what it keeps.
    auto broken = snapshot(exec, whole_state);
    broken.arrays.erase("kept-factor-1");
    CHECK_THROWS_WITH(sporades::restore<State>(exec, broken),
                      "cp_als: the snapshot has no array kept-factor-1");
    whole_state.kept_weights.clear();
    CHECK_THROWS_WITH(cp_als(exec, problem, options, whole_state),
                      Catch::Matchers::ContainsSubstring("the state keeps iteration"));
  }
  CHECK(kept > 0);
}

TEST_CASE("where systems are well-conditioned nothing is kept", "[algorithms][cp_als]") {
  Kokkos::DefaultExecutionSpace const exec{};
  auto const X = sporades::test::random_coo<double, std::uint32_t>(exec, {40, 30, 20}, 2000);
  auto options = options_of(4, 10);
  auto problem = make_cp_als_problem(exec, X, options);
  auto state = cp_als_start(exec, X, options);
  auto const result = cp_als(exec, problem, options, state);
  CHECK(state.system_kinds == 0);
  CHECK(state.kept_factors.empty());
  CHECK(result.model_iteration == 10);
  // The last one of a non-negative run is the best, and a regularized one does not aim at fits.
  auto const Y = affine<double>(exec);
  for (bool non_negative : {false, true}) {
    options.non_negative = non_negative;
    options.regularization = non_negative ? 0 : 1e-12;
    auto other = make_cp_als_problem(exec, Y, options);
    auto of_other = cp_als_start(exec, Y, options);
    CHECK(cp_als(exec, other, options, of_other).model_iteration == 10);
    CHECK(of_other.kept_factors.empty());
  }
}

}  // namespace
