// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/tucker.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/cp_als.hpp>
#include <support/same_bits.hpp>
#include <support/tucker.hpp>

/// A tensor times 2^k has the same model bits with weights times 2^k, in every unit.

namespace {

using Catch::Matchers::ContainsSubstring;
using sporades::CpAlsInit;
using sporades::TuckerInit;
using sporades::test::hash_bits;
using sporades::test::host_ktensor;
using sporades::test::new_instance;
using sporades::test::on_host;

/// Exponents that keep all numbers of the tensors and models here normal.
template <class Scalar>
std::vector<int> exponents() {
  if (std::is_same_v<Scalar, float>) return {-110, -83, -40, -7, -1, 1, 10, 64, 110};
  return {-980, -600, -301, -40, -1, 1, 10, 64, 480, 1000};
}

/// X 2^k. X's values on the host are changed into non-negative ones if asked for.
template <class ExecutionSpace, class Tensor>
Tensor times_power(ExecutionSpace const& exec, Tensor const& X, int k, bool non_negative = false) {
  auto const values = on_host(X.values);
  auto Y = X;
  Y.values = typename Tensor::Values("sporades::test::values", X.nnz());
  auto const host = Kokkos::create_mirror_view(Y.values);
  for (std::size_t p = 0; p < X.nnz(); ++p)
    host(p) = std::ldexp(non_negative ? std::abs(values(p)) : values(p), k);
  Kokkos::deep_copy(Y.values, host);
  exec.fence();
  return Y;
}

template <class Model>
std::vector<std::uint64_t> factor_bits(Model const& model) {
  std::vector<std::uint64_t> bits;
  for (auto const& A : model.factors) bits.push_back(hash_bits(sporades::detail::with_padding(A)));
  return bits;
}

template <class View>
std::vector<double> scaled(View const& numbers, int k) {
  auto const host = on_host(numbers);
  std::vector<double> result;
  for (std::size_t r = 0; r < host.extent(0); ++r)
    result.push_back(std::ldexp(static_cast<double>(host(r)), k));
  return result;
}

/// The model of a run that is cut and resumed after each iteration from its snapshot.
template <class ExecutionSpace, class Problem, class Options, class State, class Solve>
auto resumed(ExecutionSpace const& exec, Problem& problem, Options const& options, State state,
             Solve const& solve) {
  auto const one = [](auto const&) { return false; };
  auto result = solve(exec, problem, options, state, one);
  while (state.iterations() < options.iterations) {
    state = sporades::restore<State>(exec, snapshot(exec, state));
    result = solve(exec, problem, options, state, one);
  }
  return result;
}

TEMPLATE_LIST_TEST_CASE("CP-ALS of a tensor in another unit has the same bits",
                        "[algorithms][cp_als][units]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  sporades::Dims const dims{9, 8, 7};
  auto options = sporades::test::options_of(3, 4);
  options.init = GENERATE(CpAlsInit::random, CpAlsInit::hosvd, CpAlsInit::given);
  options.non_negative = GENERATE(false, true);
  options.regularization = GENERATE(0.0, 0.5);
  bool const resumes = GENERATE(false, true);
  auto const X = sporades::test::random_coo<Scalar, std::uint32_t>(exec, dims, 150);
  auto const run = [&](int k) {
    auto const Y = times_power(exec, X, k, options.non_negative);
    auto problem = make_cp_als_problem(exec, Y, options);
    auto const start = [&] {
      if (options.init != CpAlsInit::given) return cp_als_start(exec, Y, options);
      sporades::KruskalTensor<Scalar> given;
      given.weights = sporades::Vector<Scalar, Kokkos::HostSpace>("weights", 3);
      Kokkos::deep_copy(given.weights, static_cast<Scalar>(std::ldexp(3.0, k)));
      Kokkos::DefaultHostExecutionSpace const host{};
      given.factors = sporades::random_factors<Scalar>(host, dims, 3, 17);
      host.fence();
      return cp_als_start(exec, dims, options, given);
    };
    auto state = start();
    if (!resumes) return sporades::cp_als(exec, problem, options, state);
    return resumed(exec, problem, options, state,
                   [](auto const& on, auto& of, auto const& with, auto& from, auto const& stop) {
                     return sporades::cp_als(on, of, with, from, stop);
                   });
  };
  auto const expected = run(0);
  CHECK(expected.fit() > 0.05);
  for (int k : exponents<Scalar>()) {
    INFO("times 2^" << k);
    auto const result = run(k);
    CHECK(result.values == expected.values);
    CHECK(factor_bits(result.model) == factor_bits(expected.model));
    CHECK(scaled(result.model.weights, -k) == scaled(expected.model.weights, 0));
  }
}

TEMPLATE_LIST_TEST_CASE("HOOI of a tensor in another unit has the same bits",
                        "[algorithms][tucker][units]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto options = sporades::test::tucker_options({3, 2, 3}, 3);
  options.init = GENERATE(TuckerInit::random, TuckerInit::hosvd, TuckerInit::given);
  options.singular_vectors =
      GENERATE(sporades::SingularVectorMethod::gram, sporades::SingularVectorMethod::lanczos,
               sporades::SingularVectorMethod::svd);
  bool const resumes = GENERATE(false, true);
  auto const X = sporades::test::random_coo<Scalar, std::uint32_t>(exec, {9, 8, 7}, 150);
  auto with = options;
  with.init = TuckerInit::random;
  auto const given = sporades::tucker(exec, X, with).model;
  auto const run = [&](int k) {
    auto const Y = times_power(exec, X, k);
    auto problem = make_tucker_problem(exec, Y, options);
    auto state = options.init == TuckerInit::given ? tucker_start(exec, Y.dims, options, given)
                                                   : tucker_start(exec, Y, options);
    if (!resumes) return sporades::tucker(exec, problem, options, state);
    return resumed(exec, problem, options, state,
                   [](auto const& on, auto& of, auto const& by, auto& from, auto const& stop) {
                     return sporades::tucker(on, of, by, from, stop);
                   });
  };
  auto const expected = run(0);
  CHECK(expected.fit() > 0.05);
  for (int k : exponents<Scalar>()) {
    // Numbers of the core that are zero to rounding would not stay normal.
    if (std::abs(k) > (std::is_same_v<Scalar, float> ? 83 : 900)) continue;
    INFO("times 2^" << k);
    auto const result = run(k);
    CHECK(result.values == expected.values);
    CHECK(factor_bits(result.model) == factor_bits(expected.model));
    CHECK(scaled(result.model.core, -k) == scaled(expected.model.core, 0));
  }
}

TEMPLATE_LIST_TEST_CASE("values of any size have the fit that they have in double",
                        "[algorithms][cp_als][tucker][units]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const unit = std::is_same_v<Scalar, float> ? GENERATE(1e-25, 1e-36, 1e30)
                                                  : GENERATE(1e-165, 1e-300, 1e300);
  sporades::Dims const dims{10, 10, 10};
  auto const of = [&](auto scalar, double factor) {
    using Number = decltype(scalar);
    auto const X = sporades::test::random_coo<double, std::uint32_t>(exec, dims, 300);
    auto const host = on_host(X.values);
    auto const Y = sporades::detail::allocate_coo<Number, std::uint32_t>(exec, dims, X.nnz());
    Kokkos::deep_copy(Y.coordinates, X.coordinates);
    auto const values = Kokkos::create_mirror_view(Y.values);
    for (std::size_t p = 0; p < X.nnz(); ++p)
      values(p) = static_cast<Number>((host(p) + 0.4) * factor);
    Kokkos::deep_copy(Y.values, values);
    return Y;
  };
  auto const options = sporades::test::options_of(4, 20);
  auto const expected = sporades::cp_als(exec, of(double{}, 1), options).fit();
  CHECK(expected > 0.1);
  CHECK(std::abs(sporades::cp_als(exec, of(Scalar{}, unit), options).fit() - expected) < 1e-3);
  auto const by = sporades::test::tucker_options({3, 3, 3}, 20);
  auto const tucker = sporades::tucker(exec, of(double{}, 1), by).fit();
  CHECK(tucker > 0.1);
  CHECK(std::abs(sporades::tucker(exec, of(Scalar{}, unit), by).fit() - tucker) < 1e-3);
}

TEMPLATE_LIST_TEST_CASE("models past the range of their numbers are an error",
                        "[algorithms][cp_als][tucker][units]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  double const largest = std::numeric_limits<Scalar>::max();
  auto const X =
      sporades::test::full_tensor<Scalar>(exec, {2, 2, 2}, [&](auto const&) { return largest; });
  auto const cp = sporades::test::options_of(1, 3);
  CHECK_THROWS_AS(sporades::cp_als(exec, X, cp), sporades::RunError);
  CHECK_THROWS_WITH(sporades::cp_als(exec, X, cp), ContainsSubstring("a weight of the model is "));
  auto const tucker = sporades::test::tucker_options({1, 1, 1}, 3);
  CHECK_THROWS_AS(sporades::tucker(exec, X, tucker), sporades::RunError);
  CHECK_THROWS_WITH(sporades::tucker(exec, X, tucker),
                    ContainsSubstring("a number of the core is "));
  // The sum of two of the largest numbers is none.
  auto Y = sporades::test::full_tensor<Scalar>(exec, {1, 2}, [&](auto const&) { return largest; });
  Kokkos::deep_copy(Y.coordinates, 0u);
  CHECK_THROWS_WITH(sporades::cp_als(exec, Y, cp),
                    ContainsSubstring("values of equal coordinates add up to infinity"));
}

}  // namespace
