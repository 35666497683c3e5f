// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/formats/packed_tensor.hpp>
#include <sporades/kernels/innerprod.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/cp_als.hpp>
#include <support/gcp.hpp>
#include <support/models.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using sporades::AbsentEntries;
using sporades::cp_als;
using sporades::CpAlsOptions;
using sporades::Dims;
using sporades::Position;
using sporades::test::new_instance;
using sporades::test::options_of;
using sporades::test::random_coo;

CpAlsOptions missing(CpAlsOptions options) {
  options.absent = AbsentEntries::missing;
  return options;
}

/// The fit over the entries of X, from the model alone.
template <class Exec, class Tensor, class Model>
double fit_over_entries(Exec const& exec, Tensor const& X, Model const& model) {
  double const root = std::sqrt(static_cast<double>(X.nnz()));
  return 1 - sporades::test::root_mean_square(exec, X, model) * root / sporades::norm(exec, X);
}

template <class Left, class Right>
void check_same_bits(Left const& left, Right const& right) {
  CHECK(sporades::test::hash_bits(left.weights) == sporades::test::hash_bits(right.weights));
  for (std::size_t n = 0; n < left.factors.size(); ++n)
    CHECK(sporades::test::hash_bits(sporades::detail::with_padding(left.factors[n])) ==
          sporades::test::hash_bits(sporades::detail::with_padding(right.factors[n])));
}

TEMPLATE_LIST_TEST_CASE("CP-ALS finds what is missing", "[algorithms][cp_als]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const model = sporades::test::planted({60, 50, 40}, 3);
  auto const [given, held_out] = sporades::test::seen<Scalar>(model, 0.2, 0.02);
  auto const X = copy_to(exec, given);
  CpAlsOptions options;
  options.rank = 3;
  options.absent = AbsentEntries::missing;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    options.seed = seed;
    auto const result = cp_als(exec, X, options);
    CAPTURE(seed, result.fit(), result.iterations());
    CHECK(sporades::test::root_mean_square(exec, copy_to(exec, held_out), result.model) <= 0.021);
    CHECK(
        result.fit() ==
        Approx(fit_over_entries(exec, X, result.model)).margin(sizeof(Scalar) == 4 ? 1e-5 : 1e-8));
  }
}

TEMPLATE_LIST_TEST_CASE("CP-ALS with missing entries never loses fit, whatever the shape",
                        "[algorithms][cp_als]", sporades::test::IndexCases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = GENERATE(Dims{50}, Dims{30, 20}, Dims{40, 1, 30}, Dims{9, 8, 7, 6},
                             Dims{5, 4, 3, 4, 5}, Dims{3, 2, 3, 2, 3, 2, 3, 2});
  int const nnz = GENERATE(1, 40, 2000);
  auto options = missing(options_of(GENERATE(1, 4, 11), 12));
  options.regularization = GENERATE(0.0, 0.1);
  auto const X = random_coo<Scalar, typename TestType::Index>(exec, dims, nnz);
  auto const result = cp_als(exec, X, options);
  CAPTURE(dims, nnz, options.rank, options.regularization);
  double const rounding = sizeof(Scalar) == 4 ? 1e-3 : 1e-7;
  // Rows of fewer entries than components may be ill-conditioned; the best iterate is kept.
  double const conditioning = sizeof(Scalar) == 4 ? 1e-1 : 1e-4;
  if (options.regularization == 0) {
    for (std::size_t k = 1; k < result.values.size(); ++k)
      CHECK(result.values[k] >= result.values[k - 1] - conditioning);
    CHECK(result.fit() >= *std::max_element(result.values.begin(), result.values.end()) - rounding);
  }
  CHECK(result.fit() == Approx(fit_over_entries(exec, X, result.model)).margin(rounding));
  CHECK(result.fit() >= -rounding);
  // Rows that no entry names.
  auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  for (std::size_t n = 0; n < dims.size(); ++n) {
    std::vector<bool> is_named(dims[n]);
    for (Position p = 0; p < host.nnz(); ++p)
      is_named[sporades::test::coordinates_at(host, p)[n]] = true;
    auto const A = sporades::test::matrix_on_host(result.model.factors[n]);
    Position wrong = 0;
    for (std::size_t i = 0; i < dims[n]; ++i)
      for (int r = 0; r < options.rank; ++r) wrong += !is_named[i] && A(i, r) != 0;
    CHECK(wrong == 0);
  }
}

TEMPLATE_LIST_TEST_CASE("CP-ALS with missing entries of which none is missing is CP-ALS",
                        "[algorithms][cp_als]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const all = sporades::test::all_cells<Scalar>(sporades::test::planted({12, 9, 8}, 3), 0.3);
  auto const X = copy_to(exec, all);
  REQUIRE(X.nnz() == 12 * 9 * 8);
  auto const options = options_of(4, 10);
  auto const with_zeros = cp_als(exec, X, options), without = cp_als(exec, X, missing(options));
  REQUIRE(with_zeros.values.size() == without.values.size());
  for (std::size_t k = 0; k < without.values.size(); ++k)
    CHECK(without.values[k] ==
          Approx(with_zeros.values[k]).margin(sizeof(Scalar) == 4 ? 1e-3 : 1e-8));
}

TEMPLATE_LIST_TEST_CASE("CP-ALS with missing entries counts each entry, zeros too",
                        "[algorithms][cp_als]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  // Of order 1 and rank 1 the model is the mean of each cell's entries.
  sporades::CooTensor<Scalar, std::uint32_t, Kokkos::HostSpace> given;
  given.dims = {4};
  given.coordinates = decltype(given.coordinates)("i", 1, 6);
  given.values = Kokkos::View<Scalar*, Kokkos::HostSpace>("x", 6);
  int const cells[] = {2, 0, 2, 2, 1, 1}, values[] = {3, 5, 0, 6, 0, 0};
  for (int p = 0; p < 6; ++p) {
    given.coordinates(0, p) = static_cast<std::uint32_t>(cells[p]);
    given.values(p) = static_cast<Scalar>(values[p]);
  }
  auto const result = cp_als(exec, copy_to(exec, given), missing(options_of(1, 3)));
  auto const A = sporades::test::matrix_on_host(result.model.factors[0]);
  double const weight = sporades::test::on_host(result.model.weights)(0);
  double const means[] = {5, 0, 3, 0};
  for (int i = 0; i < 4; ++i) CHECK(weight * A(i, 0) == Approx(means[i]).margin(1e-5));
  CHECK(result.fit() == Approx(1 - std::sqrt(18.0 / 70)));
}

TEMPLATE_LIST_TEST_CASE("CP-ALS with missing entries keeps the best of iterates that fall",
                        "[algorithms][cp_als]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  // Entries that share few indices: products of factors' entries become as small as numbers can be.
  int const cells[8][6] = {{113, 25, 5, 7, 8, 1}, {167, 24, 7, 3, 8, 0}, {150, 7, 1, 8, 5, 0},
                           {137, 2, 8, 3, 5, 0},  {24, 24, 1, 4, 7, 1},  {193, 15, 4, 5, 2, 0},
                           {26, 2, 8, 4, 8, 0},   {199, 29, 8, 8, 8, 1}};
  double const values[] = {-1.3667211197331613e-25, 6.121247786926412e-26,
                           1.6190482081098012e-26,  -1.957517365308521e-25,
                           2.3125950211668307e-26,  -1.9296014028351381e-25,
                           -1.0564503670651014e-25, 1e-25};
  sporades::CooTensor<Scalar, std::uint32_t, Kokkos::HostSpace> given;
  given.dims = {200, 30, 9, 9, 9, 2};
  given.coordinates = decltype(given.coordinates)("i", 6, 8);
  given.values = Kokkos::View<Scalar*, Kokkos::HostSpace>("x", 8);
  for (int p = 0; p < 8; ++p) {
    given.values(p) = static_cast<Scalar>(values[p]);
    for (int n = 0; n < 6; ++n) given.coordinates(n, p) = static_cast<std::uint32_t>(cells[p][n]);
  }
  auto const X = copy_to(exec, given);
  auto options = missing(options_of(1, 4));
  options.init = sporades::CpAlsInit::hosvd;
  options.seed = 99;
  auto const result = cp_als(exec, X, options);
  CHECK(result.fit() >= *std::max_element(result.values.begin(), result.values.end()) - 1e-6);
  CHECK(result.fit() == Approx(fit_over_entries(exec, X, result.model)).margin(1e-5));
}

TEMPLATE_LIST_TEST_CASE("CP-ALS with missing entries has the bits of others",
                        "[algorithms][cp_als][threads]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {200, 1, 90, 70}, 9000);
  auto options = missing(options_of(5, 4));
  auto const model = cp_als(exec, X, options).model;
  SECTION("streamed") {
    options.streaming = {1 << 13, 2, 0};
    options.streaming.always = true;
    auto const problem = make_cp_als_problem(exec, X, options);
    bool const on_gpu = sporades::detail::is_gpu<typename TestType::ExecutionSpace>;
    problem.products.whole.formats.visit(0, [&](auto const& format) {
      if constexpr (sporades::detail::is_instance<std::decay_t<decltype(format)>,
                                                  sporades::PackedTensor>)
        CHECK((on_gpu || format.out_of_core));  // what a GPU holds already is not streamed
    });
    check_same_bits(cp_als(exec, X, options).model, model);
  }
  SECTION("in another unit") {
    auto Y = X;
    Y.values = Kokkos::View<Scalar*, typename TestType::MemorySpace>("x", X.nnz());
    auto const values = sporades::test::on_host(X.values);
    for (Position p = 0; p < X.nnz(); ++p) values(p) = std::ldexp(values(p), 70);
    Kokkos::deep_copy(Y.values, values);
    auto scaled = cp_als(exec, Y, options).model;
    auto const weights = sporades::test::on_host(scaled.weights);
    for (int r = 0; r < 5; ++r) weights(r) = std::ldexp(weights(r), -70);
    Kokkos::deep_copy(scaled.weights, weights);
    check_same_bits(scaled, model);
  }
  SECTION("continued") {
    auto problem = make_cp_als_problem(exec, X, options);
    auto state = cp_als_start(exec, X, options);
    auto first = options;
    first.iterations = 2;
    cp_als(exec, problem, first, state);
    auto again = sporades::restore<decltype(state)>(exec, snapshot(exec, state));
    check_same_bits(cp_als(exec, problem, options, again).model, model);
  }
}

TEST_CASE("CP-ALS with missing entries refuses what it cannot do", "[algorithms][cp_als]") {
  Kokkos::DefaultExecutionSpace const exec;
  auto const X = random_coo<double, std::uint32_t>(exec, {9, 8, 7}, 100);
  auto const refuses = [&](auto const& change, std::string const& why) {
    auto options = missing(options_of(2, 3));
    change(options);
    CHECK_THROWS_WITH(cp_als(exec, X, options), ContainsSubstring(why));
  };
  refuses([](auto& o) { o.non_negative = true; }, "cannot be non_negative where absent entries");
  refuses([](auto& o) { o.strategy = sporades::MttkrpStrategy::alto; }, "sorted or fibers");
  refuses([](auto& o) { o.slices = 2; }, "without slices");
  refuses([](auto& o) { o.rank = 1025; }, "rank 1025 is over 1024");
}

}  // namespace
