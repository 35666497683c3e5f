// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/loss_samples.hpp>
#include <support/same_bits.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using sporades::AbsentEntries;
using sporades::estimated_gradient;
using sporades::estimated_loss;
using sporades::LossSampleOptions;
using sporades::Position;
using sporades::test::all_samplers;
using sporades::test::loss_definition;
using sporades::test::Mean;
using sporades::test::model_for;
using sporades::test::new_instance;
using sporades::test::room_for;
using sporades::test::tensor_for;

/// Draws of 5000 rows, 1 column of them all but 0, have their chances: by chi square, which is
/// past 5 standard deviations by chance less than once in a hundred thousand.
TEST_CASE("indices are drawn in proportion to their columns", "[kernels][loss]") {
  using sporades::detail::SumTree;
  std::uint64_t const rows = 5000;
  std::size_t const R = 3;
  sporades::Matrix<float, Kokkos::HostSpace> const A("A", rows, R);
  for (std::uint64_t i = 0; i < rows; ++i) {
    A(i, 0) = static_cast<float>(sporades::test::example_fraction(i) - 0.5);
    A(i, 1) = i == 4321 ? 1e-30f : i == 77 ? -3e-30f : 0;
    A(i, 2) = i < 64 ? 1 : 1e-10f;  // rows that are rare, but not never
  }
  Kokkos::DefaultHostExecutionSpace const exec{};
  std::vector<double> sums(SumTree::size(rows, R));
  std::vector<double> group_sums(SumTree::group_sums(rows, R));
  double const* const all_sums =
      sporades::detail::write_sum_tree(exec, A, sums.data(), group_sums.data());
  SumTree const tree{sums.data(), rows, R};
  Position const draws = 1000000;
  for (std::size_t r = 0; r < R; ++r) {
    std::vector<double> counts(rows, 0);
    double all = 0;
    for (std::uint64_t i = 0; i < rows; ++i) all += std::abs(static_cast<double>(A(i, r)));
    CHECK(std::abs(all_sums[r] - all) <= 1e-12 * all);
    for (std::uint64_t group = 0; group * R < group_sums.size(); ++group) {
      double sum = 0;
      for (std::uint64_t i = 16 * group; i < std::min(rows, 16 * group + 16); ++i) sum += A(i, r);
      CHECK(std::abs(group_sums[group * R + r] - sum) <= 1e-12 * all);
    }
    for (Position s = 0; s < draws; ++s)
      ++counts[tree.index(sporades::detail::small_factor(A), r, 12345, s, 11)];
    double chi = 0, cells = -1, rest = 0, rest_expected = 0;
    for (std::uint64_t i = 0; i < rows; ++i) {
      double const expected =
          static_cast<double>(draws) * std::abs(static_cast<double>(A(i, r))) / all;
      if (expected == 0) CHECK(counts[i] == 0);
      if (expected < 5) {
        rest += counts[i];
        rest_expected += expected;
        continue;
      }
      ++cells;
      chi += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
    CAPTURE(r, chi, cells, rest, rest_expected);
    CHECK(std::abs(chi - cells) <= 5 * std::sqrt(2 * cells));
    CHECK(std::abs(rest - rest_expected) <= 5 * std::sqrt(rest_expected) + 1);
  }
}

TEST_CASE("errors of estimates fall with the root of the samples", "[kernels][loss]") {
  Kokkos::DefaultExecutionSpace const exec{};
  sporades::BernoulliOddsLoss const loss;
  auto const X = tensor_for<double, std::uint32_t>(exec, {20, 300, 9}, 2000, loss);
  auto const model = model_for<double>(exec, X.dims, 5, true, false, true);
  auto const exact = loss_definition(X, model, loss, AbsentEntries::zero);
  auto const V = room_for(model);
  auto const error = [&](LossSampleOptions options, Position samples) {
    options.samples = samples;
    auto plan = make_loss_samples_plan(exec, X, options);
    Mean squares;
    for (std::uint64_t step = 0; step < 30; ++step) {
      estimated_gradient(exec, plan, model, loss, step, V);
      for (std::size_t n = 0; n < V.size(); ++n) {
        auto const host = sporades::test::matrix_on_host(V[n]);
        for (std::size_t i = 0; i < host.extent(0); ++i)
          for (std::size_t r = 0; r < host.extent(1); ++r) {
            double const e = host(i, r) - exact.gradient[n][i * host.extent(1) + r];
            squares.add(e * e);
          }
      }
    }
    return std::sqrt(squares.value());
  };
  for (auto const& options : all_samplers(2, 0)) {
    CAPTURE(to_string(options.sampler));
    double const ratio = error(options, 400) / error(options, 40000);
    CHECK(ratio > 8.5);
    CHECK(ratio < 11.5);
  }
}

TEMPLATE_LIST_TEST_CASE("samples that are held serve other models", "[kernels][loss]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  sporades::BernoulliOddsLoss const loss;
  auto const X = tensor_for<Scalar, std::uint32_t>(exec, {5, 3, 6}, 30, loss);
  auto const model = model_for<Scalar>(exec, X.dims, 2, true, false, true);
  auto const other = model_for<Scalar>(exec, X.dims, 3, true, true, true);
  auto const exact = loss_definition(X, other, loss, AbsentEntries::zero);
  for (auto const& options : all_samplers(40, X.nnz())) {
    CAPTURE(to_string(options.sampler), options.nonzeros);
    auto plan = make_loss_samples_plan(exec, X, options);
    auto const V = room_for(model), W = room_for(model), U = room_for(other);
    CHECK_THROWS_WITH(estimated_loss(exec, plan, model, loss),
                      ContainsSubstring("estimated_loss: no samples are held: draw_loss_samples"));
    double const value = estimated_gradient(exec, plan, model, loss, 4, W).value;
    draw_loss_samples(exec, plan, model, 4);
    Mean estimates, norm;
    for (std::uint64_t step = 0; step < 200; ++step) {
      draw_loss_samples(exec, plan, model, step);
      double const estimate = estimated_gradient(exec, plan, other, loss, U).value;
      CHECK(estimated_loss(exec, plan, other, loss).value == estimate);
      estimates.add(estimate);
      double sum = 0;
      for (auto const& of_mode : U) {
        auto const host = sporades::test::matrix_on_host(of_mode);
        for (std::size_t i = 0; i < host.extent(0); ++i)
          for (std::size_t r = 0; r < host.extent(1); ++r) sum += static_cast<double>(host(i, r));
      }
      norm.add(sum);
    }
    CHECK(std::abs(estimates.value() - exact.value) <= 5 * estimates.error());
    double sum = 0;
    for (auto const& of_mode : exact.gradient)
      for (double const entry : of_mode) sum += entry;
    CHECK(std::abs(norm.value() - sum) <= 5 * norm.error());
    draw_loss_samples(exec, plan, model, 4);
    CHECK(estimated_gradient(exec, plan, model, loss, V).value == value);
    exec.fence();
    for (std::size_t n = 0; n < V.size(); ++n)
      CHECK(sporades::test::hash_bits(V[n]) == sporades::test::hash_bits(W[n]));
    sporades::BetaLoss const polynomial(3);  // draws no cells, and does not take those held
    auto const held = estimated_gradient(exec, plan, model, polynomial, V);
    auto const drawn = estimated_gradient(exec, plan, model, polynomial, 4, W);
    CHECK(held.value == drawn.value);
    CHECK(held.standard_error == drawn.standard_error);
    exec.fence();
    for (std::size_t n = 0; n < V.size(); ++n)
      CHECK(sporades::test::hash_bits(V[n]) == sporades::test::hash_bits(W[n]));
    CHECK_THROWS_WITH(estimated_loss(exec, plan, model, loss),
                      ContainsSubstring("estimated_loss: no samples are held"));
  }
}

}  // namespace
