// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <map>
#include <sporades/formats/aggregate_coo.hpp>
#include <sporades/formats/shape_coo.hpp>
#include <sporades/formats/sort_coo.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>
#include <support/tools.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using sporades::Aggregation;
using sporades::CooTensor;
using sporades::Dims;
using sporades::Position;
using sporades::test::new_instance;
using sporades::test::random_coo;

/// The nonzeros in their order: indices, then the value.
using Nonzeros = std::vector<std::pair<std::vector<std::uint64_t>, double>>;

template <class Tensor>
Nonzeros nonzeros_of(Tensor const& X) {
  auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  Nonzeros nonzeros;
  for (Position p = 0; p < X.nnz(); ++p) {
    std::vector<std::uint64_t> i;
    for (int n = 0; n < X.order(); ++n) i.push_back(host.coordinates(n, p));
    nonzeros.emplace_back(i, double{host.values(p)});
  }
  return nonzeros;
}

Dims any_dims() {
  return GENERATE(Dims{7}, Dims{5, 6}, Dims{30, 20, 10}, Dims{3, 4, 1, 5}, Dims{3, 2, 3, 2, 4},
                  Dims{2, 3, 2, 3, 2, 3});
}

/// Some modes to sort by: the last, then the first.
std::vector<int> some_modes(Dims const& dims) {
  int const last = static_cast<int>(dims.size()) - 1;
  return last > 0 ? std::vector<int>{last, 0} : std::vector<int>{0};
}

TEMPLATE_LIST_TEST_CASE("slices are the nonzeros of some indices", "[formats][shape]",
                        sporades::test::IndexCases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = any_dims();
  auto const nnz = GENERATE(0, 1, 2000);
  auto X = random_coo<Scalar, typename TestType::Index>(exec, dims, nnz);
  if (nnz == 2000) X = sorted(exec, X, some_modes(dims));
  auto const all = nonzeros_of(X);
  for (std::size_t n = 0; n < dims.size(); ++n)
    for (auto const& [begin, end] : {std::pair<std::uint64_t, std::uint64_t>{0, dims[n]},
                                     {0, 0},
                                     {dims[n] / 2, dims[n]},
                                     {dims[n] / 3, dims[n] / 3 + 1}}) {
      auto const Y = slice(exec, X, static_cast<int>(n), begin, end);
      Nonzeros expected;
      for (auto nonzero : all)
        if (nonzero.first[n] >= begin && nonzero.first[n] < end) {
          nonzero.first[n] -= begin;
          expected.push_back(nonzero);
        }
      CHECK(nonzeros_of(Y) == expected);
      CHECK(Y.sorted_modes == X.sorted_modes);
      auto lengths = dims;
      lengths[n] = end - begin;
      CHECK(Y.dims == lengths);
    }
  CHECK_THROWS_WITH(slice(exec, X, 0, 1, dims[0] + 1),
                    ContainsSubstring("slice: indices 1 to " + std::to_string(dims[0] + 1)));
  CHECK_THROWS_WITH(slice(exec, X, 0, 2, 1), ContainsSubstring("slice: indices 2 to 1"));
  CHECK_THROWS_WITH(slice(exec, X, -1, 0, 1), ContainsSubstring("slice: mode -1"));
}

TEMPLATE_LIST_TEST_CASE("modes are permuted", "[formats][shape]", sporades::test::IndexCases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = any_dims();
  auto const nnz = GENERATE(0, 500);
  int const N = static_cast<int>(dims.size());
  auto const X =
      sorted(exec, random_coo<Scalar, typename TestType::Index>(exec, dims, nnz), some_modes(dims));
  std::vector<int> modes;
  for (int k = 0; k < N; ++k) modes.push_back((k + 1) % N);
  auto const Y = permute_modes(exec, X, modes);
  auto expected = nonzeros_of(X);
  for (auto& [i, value] : expected) std::rotate(i.begin(), i.begin() + 1, i.end());
  CHECK(nonzeros_of(Y) == expected);
  for (int k = 0; k < N; ++k) CHECK(Y.dims[k] == dims[modes[k]]);
  CHECK(is_sorted(exec, Y, Y.sorted_modes));
  CHECK(Y.sorted_modes.size() == X.sorted_modes.size());
  CHECK(Y.values.data() == X.values.data());
  if (N > 1) CHECK_THROWS_WITH(permute_modes(exec, X, {0}), ContainsSubstring("a list of 1 modes"));
  CHECK_THROWS_WITH(permute_modes(exec, X, std::vector<int>(N, 1)), ContainsSubstring("mode 1"));
}

TEMPLATE_LIST_TEST_CASE("modes of length 1 are squeezed", "[formats][shape]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {1, 30, 1, 20, 10, 1}, 300);
  auto const Y = squeeze(exec, sorted(exec, X, {2, 4, 0, 3}));
  CHECK(Y.dims == Dims{30, 20, 10});
  CHECK(Y.sorted_modes == std::vector<int>{2, 1});
  CHECK(is_sorted(exec, Y, Y.sorted_modes));
  auto const before = nonzeros_of(sorted(exec, X, {2, 4, 0, 3})), after = nonzeros_of(Y);
  REQUIRE(before.size() == after.size());
  for (std::size_t p = 0; p < after.size(); ++p) {
    auto const& i = before[p].first;
    CHECK(after[p].first == std::vector<std::uint64_t>{i[1], i[3], i[4]});
    CHECK(after[p].second == before[p].second);
  }
  CHECK(squeeze(exec, random_coo<Scalar, std::uint32_t>(exec, {1, 1, 1}, 1)).dims == Dims{1});
}

TEMPLATE_LIST_TEST_CASE("tensors are joined, and slices bring them back", "[formats][shape]",
                        sporades::test::IndexCases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = any_dims();
  for (int n = 0; n < static_cast<int>(dims.size()); ++n) {
    auto other = dims;
    other[n] += 3;
    auto const X = random_coo<Scalar, Index>(exec, dims, 200, 1);
    auto const Y = random_coo<Scalar, Index>(exec, other, 300, 2);
    auto const none = random_coo<Scalar, Index>(exec, dims, 0);
    auto const all = concatenate(exec, std::vector{X, none, Y}, n);
    CHECK(all.nnz() == 500);
    CHECK(all.dims[n] == 3 * dims[n] + 3);
    CHECK(nonzeros_of(slice(exec, all, n, 0, dims[n])) == nonzeros_of(X));
    CHECK(nonzeros_of(slice(exec, all, n, 2 * dims[n], all.dims[n])) == nonzeros_of(Y));
    check_coordinates(exec, all, "test");
  }
  auto longer = dims;
  longer.push_back(2);
  auto const X = random_coo<Scalar, Index>(exec, dims, 5);
  CHECK_THROWS_WITH(
      concatenate(exec, std::vector{X, random_coo<Scalar, Index>(exec, longer, 5)}, 0),
      ContainsSubstring("they may differ in mode 0 alone"));
  CHECK_THROWS_WITH(concatenate(exec, std::vector<std::decay_t<decltype(X)>>{}, 0),
                    ContainsSubstring("no tensors"));
  CHECK_THROWS_WITH(concatenate(exec, std::vector{X}, 9), ContainsSubstring("mode 9"));
}

TEST_CASE("a mode too long for its indices is refused", "[formats][shape]") {
  Kokkos::DefaultExecutionSpace const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, {std::uint64_t{1} << 32, 2}, 5);
  CHECK_THROWS_WITH(concatenate(exec, std::vector{X, X}, 0),
                    ContainsSubstring("past its 32-bit indices"));
}

TEMPLATE_LIST_TEST_CASE("duplicates are aggregated as asked for", "[formats][aggregate]",
                        sporades::test::IndexCases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = any_dims();
  auto const nnz = GENERATE(0, 1, 2000);
  auto const X = random_coo<Scalar, typename TestType::Index>(exec, dims, nnz, 3, 2);
  std::map<std::vector<std::uint64_t>, std::vector<double>> cells;
  for (auto const& [i, value] : nonzeros_of(X)) cells[i].push_back(value);
  for (auto const aggregation : {Aggregation::sum, Aggregation::mean, Aggregation::last,
                                 Aggregation::max, Aggregation::min}) {
    CAPTURE(to_string(aggregation));
    auto const result = aggregate_duplicates(exec, X, aggregation);
    auto const nonzeros = nonzeros_of(result.tensor);
    CHECK(result.merged == X.nnz() - cells.size());
    REQUIRE(nonzeros.size() == cells.size());
    std::size_t wrong = 0;
    auto cell = cells.begin();
    for (auto const& [i, value] : nonzeros) {
      auto const& values = cell->second;
      double sum = 0;
      for (double const v : values) sum += v;
      double const expected =
          aggregation == Aggregation::last  ? values.back()
          : aggregation == Aggregation::max ? *std::max_element(values.begin(), values.end())
          : aggregation == Aggregation::min
              ? *std::min_element(values.begin(), values.end())
              : double{static_cast<Scalar>(aggregation == Aggregation::sum
                                               ? sum
                                               : sum / static_cast<double>(values.size()))};
      wrong += i != cell->first || value != expected;
      ++cell;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("functions of shapes run on their instance", "[formats][shape]") {
  auto const exec = new_instance<Kokkos::DefaultExecutionSpace>();
  auto const X = random_coo<double, std::uint32_t>(exec, {30, 1, 10}, 500);
  sporades::test::check_launches(exec, [&] { slice(exec, X, 0, 3, 9); });
  sporades::test::check_launches(exec, [&] { permute_modes(exec, X, {2, 0, 1}); });
  sporades::test::check_launches(exec, [&] { squeeze(exec, X); });
  sporades::test::check_launches(exec, [&] { concatenate(exec, std::vector{X, X}, 2); });
  sporades::test::check_launches(
      exec, [&] { aggregate_duplicates(exec, X, sporades::Aggregation::mean); });
}

}  // namespace
