// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/cp_apr.hpp>
#include <support/same_bits.hpp>

/// Counts in another unit, and counts so thinly spread that their models are below epsilon.

namespace {

using sporades::cp_apr;
using sporades::CpAprMethod;
using sporades::Dims;
using sporades::Position;
using sporades::test::apr_options;
using sporades::test::hash_bits;
using sporades::test::new_instance;

/// Counts from 1 on, and 1 among them, times the factor.
template <class Scalar, class ExecutionSpace>
auto counts_times(ExecutionSpace const& exec, Dims const& dims, Position nnz, double factor) {
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const X = sporades::test::random_counts<Scalar>(host, dims, nnz);
  host.fence();
  for (Position p = 0; p < nnz; ++p)
    X.values(p) = static_cast<Scalar>((1 + double(X.values(p))) * factor);
  return sporades::copy_to(exec, X);
}

template <class Tensor>
double sum_of_values(Tensor const& X) {
  auto const values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, X.values);
  double sum = 0;
  for (Position p = 0; p < X.nnz(); ++p) sum += static_cast<double>(values(p));
  return sum;
}

TEMPLATE_LIST_TEST_CASE("counts in a unit of 2^-k have the same model, bit for bit",
                        "[algorithms][cp_apr]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const method = GENERATE(CpAprMethod::mu, CpAprMethod::pdnr, CpAprMethod::pqnr);
  auto const k = GENERATE(3, 27, 60);
  double const unit = std::ldexp(1.0, -k);
  INFO(sporades::to_string(method) << ", unit " << unit);
  Dims const dims{20, 15, 10};
  auto options = apr_options(3, 15, 1e-3);
  options.method = method;
  auto const whole = counts_times<Scalar>(exec, dims, 600, 1);
  auto const a = cp_apr(exec, whole, options);
  auto const b = cp_apr(exec, counts_times<Scalar>(exec, dims, 600, unit), options);
  REQUIRE(a.history.size() == b.history.size());
  CHECK(a.converged == b.converged);
  double const mass = sum_of_values(whole);
  for (std::size_t i = 0; i < a.history.size(); ++i) {
    if (i > 0)  // the random start is no multiple of the unit, and forgotten after an iteration
      CHECK(a.history[i].kkt_violation == b.history[i].kkt_violation);
    CHECK(a.history[i].inner_iterations == b.history[i].inner_iterations);
    CHECK(b.history[i].log_likelihood / unit ==
          Approx(a.history[i].log_likelihood + mass * std::log(unit)).epsilon(1e-12));
  }
  auto const weights = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, a.model.weights);
  auto const scaled = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, b.model.weights);
  for (int r = 0; r < 3; ++r) CHECK(double(scaled(r)) == unit * double(weights(r)));
  for (int n = 0; n < 3; ++n)
    CHECK(hash_bits(sporades::detail::with_padding(a.model.factors[n])) ==
          hash_bits(sporades::detail::with_padding(b.model.factors[n])));
}

TEMPLATE_LIST_TEST_CASE("counts in any unit reach the likelihood of whole numbers",
                        "[algorithms][cp_apr]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const method = GENERATE(CpAprMethod::mu, CpAprMethod::pdnr, CpAprMethod::pqnr);
  auto const factor = GENERATE(1e-8, 1e-6, 1e-3, 1e3, 1e8);
  Dims const dims{20, 15, 10};
  auto options = apr_options(3, 40, 1e-4);
  options.method = method;
  auto const whole = counts_times<Scalar>(exec, dims, 600, 1);
  double const expected = cp_apr(exec, whole, options).log_likelihood();
  auto const result = cp_apr(exec, counts_times<Scalar>(exec, dims, 600, factor), options);
  double const reached = result.log_likelihood() / factor - std::log(factor) * sum_of_values(whole);
  CAPTURE(sporades::to_string(method), factor, result.history.size(), reached, expected);
  CHECK(std::abs(reached - expected) < 1e-4 * std::abs(expected));
}

/// Updates that divide by an epsilon above the model of a nonzero shrink its entries to 0. In the
/// first tensor the mean of the model is 1e-11, below the default epsilon; in the second it is
/// 1e-4, and epsilon is 1.
TEMPLATE_LIST_TEST_CASE("counts whose models are below epsilon get one", "[algorithms][cp_apr]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  bool const is_thin = GENERATE(true, false);
  auto const X = counts_times<Scalar>(
      exec, is_thin ? Dims{3000, 2500, 2000, 1500} : Dims{200, 150, 120}, 400, 1);
  auto options = apr_options(4, 30);
  if (!is_thin) options.epsilon = 1;
  auto problem = make_cp_apr_problem(exec, X, options);
  auto state = sporades::cp_apr_start<Scalar>(exec, X.dims, options);
  std::vector<sporades::Snapshot> saved;
  auto const result = cp_apr(exec, problem, options, state, [&](auto const&) {
    saved.push_back(snapshot(exec, state));
    return true;
  });
  CHECK((result.history.front().zero_model_nonzeros == 0) == is_thin);
  for (std::size_t k = 1; k < result.history.size(); ++k)
    CHECK(result.history[k].zero_model_nonzeros == 0);
  auto by_rows_options = apr_options(4, 30);
  by_rows_options.method = CpAprMethod::pqnr;
  double const by_rows = cp_apr(exec, X, by_rows_options).log_likelihood();
  CAPTURE(is_thin, result.log_likelihood(), by_rows);
  CHECK(result.log_likelihood() > by_rows - 0.05 * std::abs(by_rows));

  auto again = sporades::restore<decltype(state)>(exec, saved[2]);
  CHECK(cp_apr(exec, problem, options, again).log_likelihood() == result.log_likelihood());
}

}  // namespace
