// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/cp_apr.hpp>

/// Components of weight 0, and rows with one count among others that are smaller by far.

namespace {

using sporades::cp_apr;
using sporades::cp_apr_start;
using sporades::CpAprMethod;
using sporades::test::apr_options;
using sporades::test::host_ktensor;
using sporades::test::new_instance;

/// Counts 0 to 7 without a pattern.
template <class Scalar, class ExecutionSpace>
auto some_counts(ExecutionSpace const& exec) {
  return sporades::test::full_tensor<Scalar>(exec, {4, 5, 6}, [](auto const& i) {
    return std::floor(8 * sporades::detail::random_entry<double>(3, i[0], i[1], i[2]));
  });
}

/// Random rows of two columns, the first of which is 0 in mode `zero`.
template <class Scalar>
auto start_with_zeros(sporades::Dims const& dims, std::size_t zero) {
  std::vector<std::vector<std::vector<Scalar>>> rows(dims.size());
  for (std::size_t n = 0; n < dims.size(); ++n)
    for (std::size_t i = 0; i < dims[n]; ++i)
      rows[n].push_back({n == zero ? Scalar(0) : sporades::detail::random_entry<Scalar>(9, n, i, 0),
                         sporades::detail::random_entry<Scalar>(9, n, i, 1)});
  return host_ktensor<Scalar>({3, 2}, rows);
}

TEMPLATE_LIST_TEST_CASE("a dead component is lifted where that raises the likelihood",
                        "[algorithms][cp_apr]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = some_counts<Scalar>(exec);
  auto const method = GENERATE(CpAprMethod::mu, CpAprMethod::pdnr, CpAprMethod::pqnr);
  auto const zero = GENERATE(0u, 1u, 2u);
  CAPTURE(sporades::to_string(method), zero);
  auto options = apr_options(1, 1000, 1e-4);
  double const of_one = cp_apr(exec, X, options).log_likelihood();
  options.rank = 2;
  options.method = method;
  auto problem = make_cp_apr_problem(exec, X, options);
  auto state = cp_apr_start(exec, X.dims, options, start_with_zeros<Scalar>(X.dims, zero));
  auto const result = cp_apr(exec, problem, options, state);
  CHECK(result.dead_components == 0);
  CHECK(result.log_likelihood() > of_one + 5);  // random starts reach 5 to 9 more
}

TEMPLATE_LIST_TEST_CASE("a component that nothing asks for stays dead, and is counted",
                        "[algorithms][cp_apr]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = sporades::test::full_tensor<Scalar>(exec, {4, 5, 6}, [](auto const& i) {
    return double((1 + i[0]) * (2 + i[1]) * (1 + i[2]));  // one component is exact
  });
  auto const method = GENERATE(CpAprMethod::mu, CpAprMethod::pdnr, CpAprMethod::pqnr);
  CAPTURE(sporades::to_string(method));
  auto options = apr_options(2, 100, 1e-3);
  options.method = method;
  std::vector<std::vector<std::vector<Scalar>>> rows(3);
  for (std::size_t n = 0; n < 3; ++n)
    for (std::size_t i = 0; i < X.dims[n]; ++i)
      rows[n].push_back({Scalar(n == 0 ? 0 : 1), Scalar(double(i + (n == 1 ? 2 : 1)))});
  auto problem = make_cp_apr_problem(exec, X, options);
  auto state = cp_apr_start(exec, X.dims, options, host_ktensor<Scalar>({1, 1}, rows));
  auto const result = cp_apr(exec, problem, options, state);
  CHECK(result.converged);
  CHECK(result.dead_components == 1);
  auto const weights =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, result.model.weights);
  CHECK(weights(1) == 0);
  CHECK(double(weights(0)) == Approx(10.0 * 20.0 * 21.0).epsilon(1e-5));
}

/// One count of 1e11, others up to 7. mu reaches -2560 to -2850 for the others.
TEMPLATE_LIST_TEST_CASE("rows with one huge count are solved for the others, too",
                        "[algorithms][cp_apr]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  if (sizeof(Scalar) == 4) return;  // whose rounding of the huge count is more than all others
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const method = GENERATE(CpAprMethod::pdnr, CpAprMethod::pqnr);
  auto const X = sporades::test::full_tensor<Scalar>(exec, {20, 30, 15}, [](auto const& i) {
    if (i[0] == 4 && i[1] == 5 && i[2] == 6) return 1e11;
    double const random = sporades::detail::random_entry<double>(8, i[0], i[1], i[2]);
    return random < 0.1 ? std::floor(70 * random) : 0.0;
  });
  auto options = apr_options(1, 300, 1e-4);
  options.method = method;
  for (int rank : {3, 6})
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      options.rank = rank;
      options.seed = seed;
      auto const result = cp_apr(exec, X, options);
      CAPTURE(sporades::to_string(method), rank, seed, result.iterations());
      CHECK(result.converged);
    }
}

}  // namespace
