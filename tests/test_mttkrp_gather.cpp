// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cmath>
#include <sporades/algorithms/cp_als.hpp>
#include <support/mttkrp.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>

using namespace sporades;
using namespace sporades::test;
using sporades::detail::BFloat16;
using sporades::detail::Half;

namespace {

template <class To>
float rounded(float value) {
  To result;
  sporades::detail::round_to(value, result);
  return sporades::detail::to_float(result);
}

template <class Scalar>
Scalar rounded(Scalar value, GatherPrecision precision) {
  auto const number = static_cast<float>(value);
  if (precision == GatherPrecision::bfloat16) return rounded<BFloat16>(number);
  if (precision == GatherPrecision::half) return rounded<Half>(number);
  return precision == GatherPrecision::single ? number : value;
}

/// What To can hold, from the least up, without NaN.
template <class To>
std::vector<float> numbers_of() {
  std::vector<float> numbers;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    float const number = sporades::detail::to_float(To{static_cast<std::uint16_t>(bits)});
    if (!std::isnan(number)) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

/// By search: the nearest of the numbers, where two are equally near the one whose bits are even.
template <class To>
float nearest(std::vector<float> const& numbers, float value) {
  auto const above = std::lower_bound(numbers.begin(), numbers.end(), value);
  if (above == numbers.begin() || *above == value) return *above;
  double const up = *above, down = *(above - 1);
  // past the largest finite number as if there were one more
  double const top = std::isinf(up) ? 2 * down - *(above - 2) : up;
  double const bottom = std::isinf(down) ? 2 * up - *(above + 1) : down;
  if (value - bottom != top - value) return value - bottom < top - value ? down : up;
  To even;
  sporades::detail::round_to(*above, even);
  return even.bits % 2 == 0 ? up : down;
}

template <class To>
void check_rounding(float largest) {
  auto const numbers = numbers_of<To>();
  std::mt19937 engine(5);
  int wrong = 0;
  for (int trial = 0; trial < 200000; ++trial) {
    float value;
    std::uint32_t const bits = engine();
    std::memcpy(&value, &bits, sizeof value);
    if (trial % 2 == 0)
      value = std::ldexp(static_cast<float>(bits) / 3e9f, static_cast<int>(bits % 45) - 27);
    if (trial % 3 == 0) value = -value;
    if (trial % 5 == 0) {  // halfway between two
      auto const k = 1 + bits % (numbers.size() - 2);
      value = static_cast<float>((double{numbers[k]} + double{numbers[k + 1]}) / 2);
    }
    if (std::isnan(value)) continue;
    wrong += rounded<To>(value) != nearest<To>(numbers, value);
  }
  CHECK(wrong == 0);
  for (float number : numbers) wrong += rounded<To>(number) != number;
  CHECK(wrong == 0);
  CHECK(std::isnan(rounded<To>(std::numeric_limits<float>::quiet_NaN())));
  CHECK(numbers.back() == std::numeric_limits<float>::infinity());
  CHECK(*(numbers.end() - 2) == largest);
  CHECK(std::signbit(rounded<To>(-0.f)));
}

}  // namespace

TEST_CASE("numbers are rounded to the nearest, ties to even", "[core][rounded]") {
  check_rounding<BFloat16>(3.38953139e38f);
  check_rounding<Half>(65504.f);
}

TEMPLATE_LIST_TEST_CASE("products of rounded factors are those of factors that were rounded before",
                        "[kernels][mttkrp]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  for (auto precision : {GatherPrecision::single, GatherPrecision::bfloat16, GatherPrecision::half})
    for (auto const& problem : mttkrp_problems())
      for (auto strategy : {MttkrpStrategy::sorted, MttkrpStrategy::fibers})
        for (std::size_t R : {1, 8, 19, 61}) {
          auto const X =
              random_coo<Scalar, Index>(exec, problem.dims, problem.nnz, 7, problem.skew);
          auto const A = random_factor_list<Exec, Scalar>(exec, problem.dims, R, R != 19);
          MttkrpOptions options{strategy, static_cast<int>(R)};
          options.gather = precision;
          auto plan = make_mttkrp_plan(exec, X, options);
          auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
          Factors<Scalar, Kokkos::HostSpace> host_A;
          for (auto const& a : A) {
            host_A.push_back(matrix_on_host(a));
            auto const& copy = host_A.back();
            for (std::size_t i = 0; i < copy.extent(0); ++i)
              for (std::size_t r = 0; r < R; ++r) copy(i, r) = rounded(copy(i, r), precision);
          }
          for (int n = 0; n < X.order(); ++n) {
            auto const V = make_matrix<Scalar>(exec, "V", X.dims[n], R);
            Kokkos::deep_copy(exec, V, std::numeric_limits<Scalar>::quiet_NaN());
            mttkrp(exec, plan, A, n, V);
            INFO(to_string(problem.dims) << ", " << to_string(precision) << ", "
                                         << to_string(strategy) << ", R " << R << ", mode " << n);
            CHECK(wrong_entries<Scalar>(host, host_A, n, R, matrix_on_host(V)) == 0);
          }
        }
}

TEST_CASE("products of rounded factors allocate nothing and label their kernels",
          "[kernels][mttkrp]") {
  auto const exec = new_instance<Kokkos::DefaultExecutionSpace>();
  auto const X = random_coo<double, std::uint32_t>(exec, {300, 20, 100}, 50000, 1, 2);
  auto const A = random_factor_list<Kokkos::DefaultExecutionSpace, double>(exec, X.dims, 8, true);
  MttkrpOptions options{MttkrpStrategy::automatic, 8};
  options.gather = GatherPrecision::half;
  auto plan = make_mttkrp_plan(exec, X, options);
  std::uint64_t const bytes = plan.storage_bytes();
  for (int n : {0, 1, 2}) {
    CHECK((plan.choices[n].strategy == MttkrpStrategy::sorted ||
           plan.choices[n].strategy == MttkrpStrategy::fibers));
    auto const V = make_matrix<double>(exec, "V", X.dims[n], 8);
    CHECK(check_launches(exec, [&] { mttkrp(exec, plan, A, n, V); }).allocations.empty());
  }
  CHECK(plan.storage_bytes() == bytes);
  options.gather = GatherPrecision::full;
  CHECK(bytes == make_mttkrp_plan(exec, X, options).storage_bytes() + 2 * 8 * (300 + 20 + 100));
}

TEMPLATE_LIST_TEST_CASE("CP-ALS with rounded gathers reaches the fit to 1e-3",
                        "[algorithms][cp_als]", Cases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  auto const X = random_coo<Scalar, Index>(exec, {60, 50, 40, 5}, 20000, 11, 2);
  CpAlsOptions options;
  options.init = CpAlsInit::random;
  options.rank = 6;
  options.iterations = 20;
  options.tolerance = 0;
  double const full = cp_als(exec, X, options).fit();
  for (auto precision :
       {GatherPrecision::single, GatherPrecision::bfloat16, GatherPrecision::half}) {
    options.gather = precision;
    auto const result = cp_als(exec, X, options);
    INFO(to_string(precision));
    CHECK(std::abs(result.fit() - full) < 1e-3);
    CHECK(hash_bits(cp_als(exec, X, options).model.factors[0]) ==
          hash_bits(result.model.factors[0]));
  }
}

TEST_CASE("CP-ALS with rounded gathers reports the fit of its model", "[algorithms][cp_als]") {
  Kokkos::DefaultHostExecutionSpace const host{};
  // All ones, of rank 1. Columns of 300 equal entries of length 1 are rounded down by 0.2 %.
  auto const X = sporades::detail::allocate_coo<float, std::uint32_t>(host, {300, 300, 2}, 180000);
  for (Position p = 0; p < 180000; ++p) {
    X.coordinates(0, p) = static_cast<std::uint32_t>(p % 300);
    X.coordinates(1, p) = static_cast<std::uint32_t>(p / 300 % 300);
    X.coordinates(2, p) = static_cast<std::uint32_t>(p / 90000);
    X.values(p) = 1;
  }
  CpAlsOptions options;
  options.init = CpAlsInit::random;
  options.rank = 1;
  options.gather = GatherPrecision::bfloat16;
  auto problem = make_cp_als_problem(host, X, options);
  auto const fit = [&] {
    auto state = cp_als_start(host, X, options);
    return cp_als(host, problem, options, state).fit();
  };
  CHECK(fit() > 1 - 1e-4);
  problem.products.whole.choices.back().gather = GatherPrecision::bfloat16;
  CHECK(fit() < 0.999);  // where the product on the last mode gathers rounded rows, too
}

TEMPLATE_LIST_TEST_CASE("the precision of float is full where single is asked for",
                        "[kernels][mttkrp]", Cases) {
  using Scalar = typename TestType::Scalar;
  typename TestType::ExecutionSpace const exec{};
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {6, 5, 4}, 10);
  MttkrpOptions options;
  options.gather = GatherPrecision::single;
  auto const plan = make_mttkrp_plan(exec, X, options);
  for (auto const& choice : plan.choices)
    CHECK((choice.gather == GatherPrecision::full) == (sizeof(Scalar) == 4));
}

TEST_CASE("make_mttkrp_plan refuses precisions that it cannot gather in", "[kernels][mttkrp]") {
  using Catch::Matchers::ContainsSubstring;
  Kokkos::DefaultExecutionSpace const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, {6, 5, 4}, 10);
  MttkrpOptions options{MttkrpStrategy::flycoo, 4};
  options.gather = GatherPrecision::half;
  CHECK_THROWS_WITH(make_mttkrp_plan(exec, X, options),
                    ContainsSubstring("strategy flycoo gathers factors in full precision: sorted "
                                      "and fibers can in half"));
  auto const long_X = random_coo<double, std::uint64_t>(exec, Dims(4, std::uint64_t{1} << 30), 10);
  options.strategy = MttkrpStrategy::automatic;
  CHECK_THROWS_WITH(make_mttkrp_plan(exec, long_X, options), ContainsSubstring("over 63 bits"));
}
