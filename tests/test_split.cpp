// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <sporades/formats/sort_coo.hpp>
#include <sporades/formats/split_coo.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>

using Catch::Matchers::ContainsSubstring;
using sporades::Position;
using sporades::test::new_instance;

TEMPLATE_LIST_TEST_CASE("split parts nonzeros by their coordinates", "[formats][split]",
                        sporades::test::IndexCases) {
  using Scalar = typename TestType::Scalar;
  using Index = typename TestType::Index;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const X = sporades::test::random_coo<Scalar, Index>(exec, {300, 200, 100}, 20000);
  auto const parts = split(exec, X, 0.3, 5);
  CHECK(parts.train.nnz() + parts.test.nnz() == X.nnz());
  CHECK(std::abs(static_cast<double>(parts.test.nnz()) - 6000) < 6 * std::sqrt(20000 * 0.21));
  // Both in X's order, none lost, whole by equal coordinates: the sequence of X is their merge.
  Kokkos::DefaultHostExecutionSpace const host;
  auto const Y = copy_to(host, X), train = copy_to(host, parts.train),
             test = copy_to(host, parts.test);
  Position a = 0, b = 0, lost = 0;
  auto const is_same = [&](auto const& part, Position q, Position p) {
    bool same = q < part.nnz() && part.values(q) == Y.values(p);
    for (int n = 0; same && n < 3; ++n) same = part.coordinates(n, q) == Y.coordinates(n, p);
    return same;
  };
  for (Position p = 0; p < Y.nnz(); ++p) {
    if (is_same(train, a, p))
      ++a;
    else if (is_same(test, b, p))
      ++b;
    else
      ++lost;
  }
  CHECK(lost == 0);
  // Another order and precision: the same cells.
  auto const sorted_parts = split(exec, sorted(exec, X, {2, 0, 1}), 0.3, 5);
  CHECK(sorted_parts.test.nnz() == parts.test.nnz());
  CHECK(split(exec, X, 0.3, 6).test.nnz() != parts.test.nnz());
  CHECK(split(exec, X, 0, 5).test.nnz() == 0);
  CHECK(split(exec, X, 1, 5).train.nnz() == 0);
  CHECK_THROWS_WITH(split(exec, X, 1.5), ContainsSubstring("1.5"));
  // Whole slices of a mode: none of them is on both sides.
  auto const slices = split(exec, X, 0.3, 5, 1);
  auto const learned = copy_to(host, slices.train), tested = copy_to(host, slices.test);
  std::vector<int> sides(200, 0);
  for (Position p = 0; p < learned.nnz(); ++p) sides[learned.coordinates(1, p)] |= 1;
  for (Position p = 0; p < tested.nnz(); ++p) sides[tested.coordinates(1, p)] |= 2;
  CHECK(learned.nnz() + tested.nnz() == X.nnz());
  CHECK(std::count(sides.begin(), sides.end(), 3) == 0);
  CHECK(std::abs(static_cast<double>(std::count(sides.begin(), sides.end(), 2)) - 60) < 33);
  CHECK_THROWS_WITH(split(exec, X, 0.3, 5, 3), ContainsSubstring("no mode 3"));
  CHECK_THROWS_WITH(split(exec, X, std::nan("")), ContainsSubstring("nan"));
}
