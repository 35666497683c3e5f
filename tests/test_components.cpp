// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/components.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/cp_als.hpp>
#include <support/models.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using sporades::arrange;
using sporades::ColumnNorm;
using sporades::Dims;
using sporades::extract;
using sporades::fixsigns;
using sporades::keep_weights;
using sporades::normalize;
using sporades::spread_weights;
using sporades::test::new_instance;
using sporades::test::PlainModel;
using sporades::test::random_kruskal;
using sporades::test::random_tucker;

Dims any_dims() {
  return GENERATE(Dims{7}, Dims{5, 6}, Dims{30, 20, 10}, Dims{3, 4, 2, 5}, Dims{3, 2, 3, 2, 4},
                  Dims{2, 3, 2, 3, 2, 3});
}

/// A model on the host: weights, and columns of each mode.
struct Columns {
  std::vector<double> weights;
  std::vector<std::vector<std::vector<double>>> columns;

  template <class Model>
  explicit Columns(Model const& model) {
    auto const w = sporades::test::on_host(model.weights);
    for (std::size_t r = 0; r < w.extent(0); ++r) weights.push_back(double{w(r)});
    for (auto const& A : model.factors) {
      auto const host = sporades::test::matrix_on_host(A);
      columns.emplace_back(host.extent(1));
      for (std::size_t r = 0; r < host.extent(1); ++r)
        for (std::size_t i = 0; i < host.extent(0); ++i)
          columns.back()[r].push_back(double{host(i, r)});
    }
  }
};

double length(std::vector<double> const& column, ColumnNorm norm) {
  double sum = 0, largest = 0;
  for (double const x : column) {
    sum += norm == ColumnNorm::one ? std::abs(x) : x * x;
    largest = std::max(largest, std::abs(x));
  }
  return norm == ColumnNorm::max ? largest : norm == ColumnNorm::one ? sum : std::sqrt(sum);
}

/// Whether two models have the same cells, up to roundings of Scalar.
template <class Scalar, class Left, class Right>
void check_same_cells(Left const& A, Right const& B) {
  auto const a = PlainModel<Scalar>(A).cells(), b = PlainModel<Scalar>(B).cells();
  REQUIRE(a.size() == b.size());
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    wrong += !(std::abs(a[k].value - b[k].value) <=
               40 * double{std::numeric_limits<Scalar>::epsilon()} * a[k].magnitude);
  CHECK(wrong == 0);
}

TEMPLATE_LIST_TEST_CASE("normalised columns have length 1, and the model stays",
                        "[algorithms][components]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = any_dims();
  auto const norm = GENERATE(ColumnNorm::one, ColumnNorm::two, ColumnNorm::max);
  double const eps = 10 * double{std::numeric_limits<Scalar>::epsilon()};
  int const last = static_cast<int>(dims.size()) - 1;
  for (std::size_t const rank : {1, 3, 16, 17}) {
    auto const model = random_kruskal<Scalar>(exec, dims, rank, 1, rank != 3);
    Columns const before(model);
    for (int const into : {keep_weights, spread_weights, 0, last}) {
      CAPTURE(rank, into, static_cast<int>(norm));
      auto const result = normalize(exec, model, {norm, into});
      check_same_cells<Scalar>(model, result);
      Columns const after(result);
      for (std::size_t r = 0; r < rank; ++r) {
        double weight = std::abs(before.weights[r]);
        for (auto const& columns : before.columns) weight *= length(columns[r], norm);
        CHECK(after.weights[r] == Approx(into == keep_weights ? weight : 1.0).epsilon(eps));
        for (int n = 0; n <= last; ++n) {
          double const expected = into == spread_weights
                                      ? std::pow(weight, 1.0 / static_cast<double>(dims.size()))
                                  : into == n ? weight
                                              : 1.0;
          CHECK(length(after.columns[n][r], norm) == Approx(expected).epsilon(eps));
          bool const flips = before.weights[r] < 0 && n == 0;
          CHECK((after.columns[n][r][0] < 0) == ((before.columns[n][r][0] < 0) != flips));
        }
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("columns of zeros and of extreme numbers are normalised",
                        "[algorithms][components]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Limits = std::numeric_limits<Scalar>;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  Scalar const large = Limits::max() / 4, small = Limits::min() * 8;
  auto const model = copy_to(exec, sporades::test::host_ktensor<Scalar>(
                                       {1, 1, 2}, {{{3 * small, 3 * large, 0}, {4 * small, 0, 0}},
                                                   {{small, 0, 1}, {0, 1 / large, 1}}}));
  for (auto const norm : {ColumnNorm::one, ColumnNorm::two, ColumnNorm::max}) {
    Columns const result(normalize(exec, model, {norm, keep_weights}));
    CHECK(result.columns[0][0][1] / result.columns[0][0][0] == Approx(4.0 / 3).epsilon(1e-6));
    CHECK(length(result.columns[0][0], norm) == Approx(1).epsilon(1e-6));
    CHECK(length(result.columns[0][1], norm) == Approx(1).epsilon(1e-6));
    CHECK(length(result.columns[1][1], norm) == Approx(1).epsilon(1e-6));
    CHECK(result.weights[1] == Approx(3).epsilon(1e-6));
    CHECK(result.columns[0][2] == std::vector<double>{0, 0});
    CHECK(result.weights[2] == 0);
  }
}

// Tensor Toolbox: X = ktensor([1;1], {[1 1;1 -10],[1 1;1 -10]}), arranged and with signs fixed.
TEST_CASE("a model is arranged, and its signs fixed, as peers do", "[algorithms][components]") {
  Kokkos::DefaultExecutionSpace const exec{};
  auto const X = copy_to(
      exec, sporades::test::host_ktensor<double>({1, 1}, {{{1, 1}, {1, -10}}, {{1, 1}, {1, -10}}}));
  auto const arranged = arrange(exec, X);
  Columns const columns(arranged), fixed(fixsigns(exec, arranged));
  CHECK(columns.weights[0] == Approx(101).epsilon(1e-14));
  CHECK(columns.weights[1] == Approx(2).epsilon(1e-14));
  double const root = std::sqrt(101.0);
  for (int n = 0; n < 2; ++n) {
    CHECK(columns.columns[n][0][0] == Approx(1 / root).epsilon(1e-14));
    CHECK(columns.columns[n][0][1] == Approx(-10 / root).epsilon(1e-14));
    CHECK(columns.columns[n][1][0] == Approx(std::sqrt(0.5)).epsilon(1e-14));
    CHECK(fixed.columns[n][0][0] == -columns.columns[n][0][0]);
    CHECK(fixed.columns[n][0][1] == -columns.columns[n][0][1]);
    CHECK(fixed.columns[n][1] == columns.columns[n][1]);
  }
  CHECK(fixed.weights == columns.weights);
}

TEMPLATE_LIST_TEST_CASE("components are arranged by weight, by a permutation, and extracted",
                        "[algorithms][components]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = any_dims();
  auto const model = random_kruskal<Scalar>(exec, dims, 5);
  auto const by_weight = arrange(exec, model);
  check_same_cells<Scalar>(model, by_weight);
  Columns const before(model), arranged(by_weight);
  CHECK(std::is_sorted(arranged.weights.rbegin(), arranged.weights.rend()));
  CHECK(length(arranged.columns[0][3], ColumnNorm::two) == Approx(1).epsilon(1e-6));
  auto const check = [&](Columns const& after, std::vector<int> const& from) {
    REQUIRE(after.weights.size() == from.size());
    for (std::size_t k = 0; k < from.size(); ++k) {
      CHECK(after.weights[k] == before.weights[from[k]]);
      for (std::size_t n = 0; n < dims.size(); ++n)
        CHECK(after.columns[n][k] == before.columns[n][from[k]]);
    }
  };
  check(Columns(arrange(exec, model, {4, 0, 3, 1, 2})), {4, 0, 3, 1, 2});
  check(Columns(extract(exec, model, {3, 1, 3})), {3, 1, 3});
  check(Columns(extract(exec, model, {})), {});
  CHECK_THROWS_WITH(arrange(exec, model, {0, 1, 2, 3, 3}),
                    ContainsSubstring("the list of 5 numbers is no permutation of the 5"));
  CHECK_THROWS_WITH(arrange(exec, model, {0, 1}), ContainsSubstring("the list of 2 numbers"));
  CHECK_THROWS_WITH(extract(exec, model, {5}), ContainsSubstring("no component 5 in a model of 5"));
  CHECK_THROWS_WITH(extract(exec, model, {-1}), ContainsSubstring("no component -1"));
  CHECK_THROWS_WITH(normalize(exec, model, {ColumnNorm::two, 6}), ContainsSubstring("mode 6"));
}

TEMPLATE_LIST_TEST_CASE("signs are fixed in pairs", "[algorithms][components]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = any_dims();
  auto const model = random_kruskal<Scalar>(exec, dims, 17);
  auto const result = fixsigns(exec, model);
  Columns const before(model), after(result);
  auto const extreme = [](std::vector<double> const& column) {
    double largest = 0;
    for (double const x : column)
      if (std::abs(x) > std::abs(largest)) largest = x;
    return largest;
  };
  for (std::size_t r = 0; r < 17; ++r) {
    std::size_t down = 0, left = 0, last = 0;
    for (std::size_t n = 0; n < dims.size(); ++n) {
      if (extreme(before.columns[n][r]) < 0) {
        ++down;
        last = n;
      }
      left += extreme(after.columns[n][r]) < 0;
      CHECK(std::abs(extreme(after.columns[n][r])) == std::abs(extreme(before.columns[n][r])));
    }
    CHECK(left == down % 2);
    if (left == 1) CHECK(extreme(after.columns[last][r]) < 0);
  }
  CHECK(after.weights == before.weights);
  check_same_cells<Scalar>(model, result);
}

TEMPLATE_LIST_TEST_CASE("signs follow a reference", "[algorithms][components]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const reference =
      copy_to(exec, sporades::test::host_ktensor<Scalar>(
                        {1, 1}, {{{1, 1}, {2, 0}}, {{3, 2}, {-1, 1}}, {{1, -1}, {1, -2}}}));
  // Component 0: modes 0 and 2 are turned. Component 1: modes 0, 1 and 2 are, and the cosine of
  // mode 1 is nearest to 0, so that it stays. Component 2 has none to follow.
  auto const model = copy_to(
      exec, sporades::test::host_ktensor<Scalar>({5, 4, 3}, {{{-2, -3, -1}, {-4, 0, 1}},
                                                             {{3, Scalar(-2.5), 1}, {-1, 4, 1}},
                                                             {{-1, 1, -1}, {-1, 2, 0}}}));
  Columns const before(model), after(fixsigns(exec, model, reference));
  CHECK(after.columns[0][0] == std::vector<double>{2, 4});
  CHECK(after.columns[1][0] == before.columns[1][0]);
  CHECK(after.columns[2][0] == std::vector<double>{1, 1});
  CHECK(after.columns[0][1] == std::vector<double>{3, 0});
  CHECK(after.columns[1][1] == before.columns[1][1]);
  CHECK(after.columns[2][1] == std::vector<double>{-1, -2});
  for (int n = 0; n < 3; ++n) CHECK(after.columns[n][2] == before.columns[n][2]);
  CHECK(after.weights == before.weights);
  CHECK_THROWS_WITH(fixsigns(exec, reference, model),
                    ContainsSubstring("the reference has 3 components, the model 2"));
}

TEMPLATE_LIST_TEST_CASE("columns of a Tucker tensor point up, and the model stays",
                        "[algorithms][components]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = any_dims();
  std::vector<int> ranks;
  for (int n = 0; n < static_cast<int>(dims.size()); ++n) ranks.push_back(2 + n % 2);
  auto const model = random_tucker<Scalar>(exec, dims, ranks);
  auto const result = fixsigns(exec, model);
  check_same_cells<Scalar>(model, result);
  for (auto const& A : result.factors) {
    auto const host = sporades::test::matrix_on_host(A);
    for (std::size_t r = 0; r < host.extent(1); ++r) {
      Scalar largest = 0;
      for (std::size_t i = 0; i < host.extent(0); ++i)
        if (std::abs(host(i, r)) > std::abs(largest)) largest = host(i, r);
      CHECK(largest > 0);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("normalised models have the same bits on any number of threads",
                        "[algorithms][components][threads]", sporades::test::AllCases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  auto const model = random_kruskal<Scalar>(exec, {3000, 2000, 100}, 17);
  for (auto const norm : {ColumnNorm::one, ColumnNorm::two}) {
    auto const result = normalize(exec, model, {norm, 1});
    sporades::test::check_same_bits("normalize " + std::string(Exec::name()) + " bytes " +
                                        std::to_string(sizeof(Scalar)) + " norm " + to_string(norm),
                                    sporades::test::hash_bits(result.factors[1]));
  }
}

TEST_CASE("functions of components run on their instance, and share nothing",
          "[algorithms][components]") {
  auto const exec = new_instance<Kokkos::DefaultExecutionSpace>();
  auto const model = random_kruskal<double>(exec, {30, 20, 10}, 5);
  auto const tucker = random_tucker<double>(exec, {30, 20, 10}, {2, 3, 4});
  sporades::test::check_launches(exec, [&] { normalize(exec, model); });
  sporades::test::check_launches(exec, [&] { arrange(exec, model); });
  sporades::test::check_launches(exec, [&] { fixsigns(exec, model, model); });
  sporades::test::check_launches(exec, [&] { fixsigns(exec, tucker); });
  sporades::test::check_launches(exec, [&] {
    auto const result = extract(exec, model, {0, 1, 2, 3, 4});
    CHECK(result.factors[0].data() != model.factors[0].data());
    CHECK(result.weights.data() != model.weights.data());
  });
}

}  // namespace
