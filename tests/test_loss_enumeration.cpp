// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/kernels/loss_enumeration.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/loss_gradient.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using sporades::AbsentEntries;
using sporades::Dims;
using sporades::enumerated_gradient;
using sporades::enumerated_loss;
using sporades::Position;
using sporades::test::loss_definition;
using sporades::test::model_for;
using sporades::test::new_instance;
using sporades::test::room_for;
using sporades::test::tensor_for;
using sporades::test::wrong_entries;

/// Compares with the definition over all cells.
template <class Exec, class Tensor, class Model, class Loss>
void check_enumeration(Exec const& exec, Tensor const& X, Model const& model, Loss const& loss,
                       double floor = 1e-3) {
  CAPTURE(loss.name(), sporades::to_string(X.dims), X.nnz(), model.rank());
  auto const expected = loss_definition(X, model, loss, AbsentEntries::zero);
  double const value = enumerated_loss(exec, X, model, loss);
  CHECK(std::abs(value - expected.value) <= 1e-12 * (1e-100 + expected.magnitude));
  auto plan = make_loss_gradient_plan(exec, X);
  auto const V = room_for(model);
  CHECK(enumerated_loss(exec, plan, model, loss) == value);
  CHECK(enumerated_gradient(exec, plan, model, loss, V) == value);
  exec.fence();
  CHECK(wrong_entries(expected, X.nnz(), V, floor) == 0);
}

TEMPLATE_LIST_TEST_CASE("sums over all cells equal their definitions", "[kernels][loss]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const number = GENERATE(range(0, 14));
  auto const R = GENERATE(1, 3);
  auto const any = sporades::test::all_losses().at(static_cast<std::size_t>(number));
  std::visit(
      [&](auto const& loss) {
        if (!loss.allows(0)) return;
        for (auto const& dims :
             {Dims{7}, Dims{5, 26}, Dims{9, 1, 8}, Dims{16, 7, 5}, Dims{3, 4, 2, 5},
              Dims{3, 2, 3, 2, 4}, Dims{2, 3, 2, 3, 2, 3}, Dims{4, 0, 3}, Dims{1, 1}, Dims{1}})
          for (Position const nnz : {0, 1, 40}) {
            if (dims[dims.size() / 2] == 0 && nnz > 0) continue;
            auto const X = tensor_for<Scalar, std::uint32_t>(exec, dims, nnz, loss);
            check_enumeration(exec, X,
                              model_for<Scalar>(exec, dims, static_cast<std::size_t>(R),
                                                loss.lower_bound() == 0, R == 1, nnz != 1),
                              loss);
          }
      },
      any);
}

TEMPLATE_LIST_TEST_CASE("sums over many cells, columns and modes", "[kernels][loss]",
                        sporades::test::IndexCases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  sporades::BernoulliLogitLoss const loss;
  auto const check = [&](Dims const& dims, std::size_t R) {
    auto const X = tensor_for<Scalar, Index>(exec, dims, 500, loss);
    check_enumeration(exec, X, model_for<Scalar>(exec, dims, R, false, false, true), loss);
  };
  check({30, 20, 10}, 17);
  check({300, 2, 9}, 5);
  check({2, 3000}, 4);  // parts begin inside of fibers
  check({5000, 3}, 2);  // a part a row
  check({3, 4, 5}, 70);
  Dims most_modes(sporades::max_order, 1);
  std::fill_n(most_modes.begin() + 3, 10, 2);
  check(most_modes, 2);
}

TEMPLATE_LIST_TEST_CASE("sums over all cells equal closed forms", "[kernels][loss]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  sporades::GaussianLoss const loss;
  auto const X = tensor_for<Scalar, std::uint32_t>(exec, {70, 60, 50}, 3000, loss);
  auto const model = model_for<Scalar>(exec, X.dims, 6, false, false, true);
  auto plan = make_loss_gradient_plan(exec, X);
  auto const V = room_for(model), W = room_for(model);
  double const exact = loss_gradient(exec, plan, model, loss, AbsentEntries::zero, V);
  double const value = enumerated_gradient(exec, plan, model, loss, W);
  exec.fence();
  CHECK(std::abs(value - exact) <= 1e-12 * exact);
  for (std::size_t n = 0; n < V.size(); ++n) {
    auto const a = sporades::test::matrix_on_host(V[n]), b = sporades::test::matrix_on_host(W[n]);
    double largest = 0, difference = 0;
    for (std::size_t i = 0; i < a.extent(0); ++i)
      for (std::size_t r = 0; r < a.extent(1); ++r) {
        largest = std::max(largest, std::abs(static_cast<double>(a(i, r))));
        difference = std::max(difference, std::abs(static_cast<double>(a(i, r) - b(i, r))));
      }
    CHECK(difference <= 100 * double{std::numeric_limits<Scalar>::epsilon()} * largest);
  }
}

TEMPLATE_LIST_TEST_CASE("sums over all cells of models of extreme scales", "[kernels][loss]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  double const scale = GENERATE(1e-25, 1e-8, 1e8, 1e25);
  auto const scaled = [&](auto const& loss) {
    auto const X = tensor_for<Scalar, std::uint32_t>(exec, {6, 7, 5}, 60, loss);
    auto const model = model_for<Scalar>(exec, X.dims, 3, loss.lower_bound() == 0, true, true);
    auto const host = Kokkos::create_mirror_view(model.weights);
    for (std::size_t r = 0; r < host.extent(0); ++r) host(r) = static_cast<Scalar>(scale);
    Kokkos::deep_copy(model.weights, host);
    check_enumeration(exec, X, model, loss, 0);
  };
  scaled(sporades::BernoulliLogitLoss{});
  scaled(sporades::BernoulliOddsLoss{});
  scaled(sporades::HuberLoss(0.25));
  scaled(sporades::NegativeBinomialLoss(2));
}

TEMPLATE_LIST_TEST_CASE("sums over all cells have the same bits on any number of threads",
                        "[kernels][loss][threads]", sporades::test::AllCases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  sporades::BernoulliOddsLoss const loss;
  auto const X = tensor_for<Scalar, std::uint32_t>(exec, {60, 50, 40}, 3000, loss);
  auto const model = model_for<Scalar>(exec, X.dims, 9, true, false, true);
  auto plan = make_loss_gradient_plan(exec, X);
  auto const name = Exec::name() + std::string(" bytes ") + std::to_string(sizeof(Scalar));
  for (int repeat = 0; repeat < 2; ++repeat) {
    auto const V = room_for(model);
    double const value = enumerated_gradient(exec, plan, model, loss, V);
    exec.fence();
    sporades::test::check_same_bits("enumerated_loss " + name,
                                    sporades::test::hash_bytes(&value, sizeof value));
    for (std::size_t n = 0; n < V.size(); ++n)
      sporades::test::check_same_bits("enumerated_gradient " + name + " " + std::to_string(n),
                                      sporades::test::hash_bits(V[n]));
  }
}

TEST_CASE("sums over all cells run on their instance", "[kernels][loss]") {
  auto const exec = new_instance<Kokkos::DefaultExecutionSpace>();
  sporades::BernoulliOddsLoss const loss;
  auto const X = tensor_for<double, std::uint32_t>(exec, {30, 20, 10}, 300, loss);
  auto const model = model_for<double>(exec, X.dims, 4, true, false, true);
  auto plan = make_loss_gradient_plan(exec, X);
  auto const V = room_for(model);
  auto const recording = sporades::test::check_launches(exec, [&] {
    enumerated_loss(exec, X, model, loss);
    enumerated_gradient(exec, plan, model, loss, V);
  });
  CHECK(recording.outside.empty());
}

TEST_CASE("a model without components has cells, too", "[kernels][loss]") {
  Kokkos::DefaultExecutionSpace const exec{};
  sporades::BernoulliLogitLoss const loss;
  auto const X = tensor_for<double, std::uint32_t>(exec, {6, 7, 5}, 60, loss);
  check_enumeration(exec, X, model_for<double>(exec, X.dims, 0, false, false, true), loss);
}

TEMPLATE_LIST_TEST_CASE("sums over all cells refuse bad input", "[kernels][loss]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  sporades::BernoulliOddsLoss const loss;
  auto const X = tensor_for<Scalar, std::uint32_t>(exec, {30, 20, 10}, 400, loss);
  auto const model = model_for<Scalar>(exec, X.dims, 3, true, true, true);
  auto plan = make_loss_gradient_plan(exec, X);
  auto const V = room_for(model);
  sporades::EnumerationOptions options;
  options.most_cells = 6000;
  CHECK_NOTHROW(enumerated_loss(exec, X, model, loss, options));
  options.most_cells = 5999;
  auto const untouched = sporades::test::hash_bits(V[1]);
  for (bool const is_gradient : {false, true})
    CHECK_THROWS_WITH(is_gradient ? enumerated_gradient(exec, plan, model, loss, V, options)
                                  : enumerated_loss(exec, X, model, loss, options),
                      ContainsSubstring(is_gradient ? "enumerated_gradient: 30 x 20 x 10 are 6000 "
                                                      "cells, more than 5999 (Enum"
                                                    : "enumerated_loss: 30 x 20 x 10 are 6000 ") &&
                          ContainsSubstring("multiply-adds a second they would take about 1 s"));
  CHECK(sporades::test::hash_bits(V[1]) == untouched);
  options.most_cells = -1;
  CHECK_THROWS_WITH(enumerated_loss(exec, X, model, loss, options),
                    ContainsSubstring("most_cells is -1"));
  options.most_cells = 1e300;  // indices of cells have 64 bits
  auto const vast = tensor_for<Scalar, std::uint32_t>(exec, Dims(16, 40), 4, loss);
  CHECK_THROWS_WITH(
      enumerated_loss(exec, vast, model_for<Scalar>(exec, vast.dims, 2, true, true, true), loss,
                      options),
      ContainsSubstring("more than 4e+18"));
  CHECK_THROWS_WITH(
      enumerated_loss(exec, X, model, sporades::ZeroTruncatedPoissonLoss{}),
      ContainsSubstring("enumerated_loss: zero-truncated-poisson takes finite numbers "
                        ">= 1, so that absent entries cannot be zeros"));
  CHECK_THROWS_WITH(
      enumerated_loss(exec, X, model_for<Scalar>(exec, {30, 20, 11}, 3, true, true, true), loss),
      ContainsSubstring("enumerated_loss: one tensor is 30 x 20 x 10, the other 30 x 20 x 11"));
  CHECK_THROWS_WITH(enumerated_gradient(exec, plan, model, loss, {V[0], V[1]}),
                    ContainsSubstring("enumerated_gradient: V has 2 matrices"));
  auto const bad = sporades::test::copy_of(exec, X);
  auto const values = Kokkos::create_mirror_view(bad.values);
  Kokkos::deep_copy(values, bad.values);
  values(7) = 2;
  Kokkos::deep_copy(bad.values, values);
  CHECK_THROWS_WITH(enumerated_loss(exec, bad, model, loss),
                    ContainsSubstring("enumerated_loss: nonzero 7, of indices") &&
                        ContainsSubstring("is 2, and bernoulli-odds takes 0, 1 and numbers"));
}

}  // namespace
