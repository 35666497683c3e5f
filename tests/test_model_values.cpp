// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/formats/sort_coo.hpp>
#include <sporades/kernels/model_values.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/models.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using sporades::Dims;
using sporades::model_values;
using sporades::Position;
using sporades::test::new_instance;
using sporades::test::PlainModel;
using sporades::test::random_coo;
using sporades::test::random_kruskal;
using sporades::test::random_tucker;

/// Compares with the definition. One number more is rounded to the type of the values.
template <class Scalar, class Tensor, class Model, class Values>
void check_values(Tensor const& X, Model const& model, Values const& values) {
  using Value = typename Values::non_const_value_type;
  auto const host_X = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  auto const host = sporades::test::on_host(values);
  PlainModel<Scalar> const plain(model);
  REQUIRE(host.extent(0) == X.nnz());
  Position wrong = 0;
  for (Position p = 0; p < X.nnz(); ++p) {
    auto const exact = plain.at(sporades::test::coordinates_at(host_X, p));
    double const bound =
        std::numeric_limits<Value>::epsilon() * std::abs(exact.value) + 1e-13 * exact.magnitude;
    wrong += !(std::abs(static_cast<double>(host(p)) - exact.value) <= bound);
  }
  CHECK(wrong == 0);
}

TEMPLATE_LIST_TEST_CASE("values of a Kruskal tensor equal their definition",
                        "[kernels][model_values]", sporades::test::IndexCases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = GENERATE(Dims{7}, Dims{5, 6}, Dims{30, 20, 10}, Dims{3, 4, 2, 5},
                             Dims{3, 2, 3, 2, 4}, Dims{2, 3, 2, 3, 2, 3});
  auto const rank = GENERATE(1, 3, 16, 17);
  auto const nnz = GENERATE(0, 1, 3000);
  bool const padded = GENERATE(true, false);
  auto const X = random_coo<Scalar, typename TestType::Index>(exec, dims, nnz);
  auto const model = random_kruskal<Scalar>(exec, dims, rank, 1, padded);
  check_values<Scalar>(X, model, model_values(exec, X, model));
  // In double whatever the model's type, and into the tensor's own values.
  sporades::Vector<double, typename TestType::MemorySpace> const doubles("doubles", nnz);
  model_values(exec, X, model, doubles);
  check_values<Scalar>(X, model, doubles);
  model_values(exec, X, model, X.values);
  check_values<Scalar>(X, model, X.values);
}

TEMPLATE_LIST_TEST_CASE("values of a Tucker tensor equal their definition",
                        "[kernels][model_values]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = GENERATE(Dims{7}, Dims{5, 6}, Dims{30, 20, 10}, Dims{3, 4, 2, 5},
                             Dims{3, 2, 3, 2, 4}, Dims{2, 3, 2, 3, 2, 3});
  auto const most = GENERATE(1, 3, 5);
  auto const nnz = GENERATE(0, 1, 2000);
  bool const is_sorted = GENERATE(true, false);
  std::vector<int> ranks, last_first;
  for (int n = 0; n < static_cast<int>(dims.size()); ++n) {
    ranks.push_back(1 + (n + most) % most);
    last_first.insert(last_first.begin(), n);
  }
  auto X = random_coo<Scalar, std::uint32_t>(exec, dims, nnz);
  if (is_sorted) X = sorted(exec, X, last_first);
  auto const model = random_tucker<Scalar>(exec, dims, ranks);
  check_values<Scalar>(X, model, model_values(exec, X, model));
  sporades::Vector<double, typename TestType::MemorySpace> const doubles("doubles", nnz);
  model_values(exec, X, model, doubles);
  check_values<Scalar>(X, model, doubles);
}

TEMPLATE_LIST_TEST_CASE("coordinates may be Views", "[kernels][model_values]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  auto const exec = new_instance<Exec>();
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {30, 20, 10}, 500);
  auto const model = random_kruskal<Scalar>(exec, X.dims, 5);
  auto const expected = sporades::test::on_host(model_values(exec, X, model));
  auto const host_X = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  Kokkos::View<std::int64_t**, Kokkos::LayoutLeft, Kokkos::HostSpace> const table("table", 500, 3);
  Kokkos::View<int**, Kokkos::LayoutRight, Kokkos::HostSpace> const rows("rows", 3, 500);
  for (Position p = 0; p < 500; ++p)
    for (int n = 0; n < 3; ++n) {
      table(p, n) = host_X.coordinates(n, p);
      rows(n, p) = static_cast<int>(host_X.coordinates(n, p));
    }
  auto const check = [&](auto const& given) {
    auto const host = sporades::test::on_host(given);
    REQUIRE(host.extent(0) == 500);
    Position wrong = 0;
    for (Position p = 0; p < 500; ++p) wrong += host(p) != expected(p);
    CHECK(wrong == 0);
  };
  check(model_values(exec, sporades::columns_of(table), model));
  check(model_values(exec, rows, model));
  std::vector<Kokkos::View<std::int64_t*, Kokkos::LayoutStride, Kokkos::HostSpace>> list;
  for (int n = 0; n < 3; ++n) list.push_back(Kokkos::subview(table, Kokkos::ALL, n));
  check(model_values(exec, list, model));

  table(7, 1) = -1;
  CHECK_THROWS_WITH(
      model_values(exec, sporades::columns_of(table), model),
      ContainsSubstring("nonzero 7, mode 1: the index -1 (from 0) is not in [0, 20)"));
  CHECK_THROWS_WITH(model_values(exec, rows, random_kruskal<Scalar>(exec, {30, 20}, 5)),
                    ContainsSubstring("coordinates are 3 x 500, expected 2 x 500"));
}

// GenTen's test of mixed formats: factors numbered 1, 2, 3 ... row by row over the modes.
TEST_CASE("values of a model that a peer has published", "[kernels][model_values]") {
  Kokkos::DefaultExecutionSpace const exec{};
  Kokkos::DefaultHostExecutionSpace const host{};
  sporades::KruskalTensor<double> numbered;
  double next = 1;
  for (std::size_t const rows : {3, 4, 2}) {
    auto const A = sporades::make_matrix<double>(host, "sporades::test::factor", rows, 2);
    host.fence();
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t r = 0; r < 2; ++r) A(i, r) = next++;
    numbered.factors.push_back(A);
  }
  numbered.weights = sporades::detail::to_view(host, "weights", std::vector<double>{1, 1});
  auto const model = copy_to(exec, numbered);
  Kokkos::View<int**, Kokkos::LayoutRight, Kokkos::HostSpace> const at("at", 3, 3);
  int const coordinates[3][3] = {{1, 0, 0}, {1, 0, 1}, {1, 1, 0}};
  for (int p = 0; p < 3; ++p)
    for (int n = 0; n < 3; ++n) at(n, p) = coordinates[p][n];
  auto const values = sporades::test::on_host(model_values(exec, at, model));
  CHECK(values(0) == 827);
  CHECK(values(1) == 933);
  CHECK(values(2) == 1045);
}

TEMPLATE_LIST_TEST_CASE("values have the same bits on any number of threads",
                        "[kernels][model_values][threads]", sporades::test::AllCases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {300, 200, 100}, 20000);
  std::string const name = std::string(Exec::name()) + " bytes " + std::to_string(sizeof(Scalar));
  sporades::test::check_same_bits(
      "model_values kruskal " + name,
      sporades::test::hash_bits(model_values(exec, X, random_kruskal<Scalar>(exec, X.dims, 17))));
  sporades::test::check_same_bits("model_values tucker " + name,
                                  sporades::test::hash_bits(model_values(
                                      exec, X, random_tucker<Scalar>(exec, X.dims, {4, 3, 5}))));
}

TEST_CASE("model_values runs on its instance", "[kernels][model_values]") {
  auto const exec = new_instance<Kokkos::DefaultExecutionSpace>();
  auto const X = random_coo<double, std::uint32_t>(exec, {30, 20, 10}, 500);
  auto const kruskal = random_kruskal<double>(exec, X.dims, 5);
  auto const tucker = random_tucker<double>(exec, X.dims, {2, 3, 4});
  sporades::test::check_launches(exec, [&] { model_values(exec, X, kruskal); });
  sporades::test::check_launches(exec, [&] { model_values(exec, X, tucker); });
}

TEST_CASE("coordinates past the model and values of another number are refused",
          "[kernels][model_values]") {
  Kokkos::DefaultExecutionSpace const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, {6, 5, 4}, 300);
  CHECK_THROWS_WITH(model_values(exec, X, random_kruskal<double>(exec, {6, 4, 4}, 3)),
                    ContainsSubstring("mode 1: the index 4 (from 0) is past the mode's length 4"));
  CHECK_NOTHROW(model_values(exec, X, random_kruskal<double>(exec, {7, 8, 9}, 3)));
  CHECK_THROWS_WITH(model_values(exec, X, random_kruskal<double>(exec, {6, 5}, 3)),
                    ContainsSubstring("coordinates of 3 modes, the model has 2"));
  auto model = random_kruskal<double>(exec, {6, 5, 4}, 3);
  sporades::Vector<double, Kokkos::DefaultExecutionSpace::memory_space> const few("few", 2);
  CHECK_THROWS_WITH(model_values(exec, X, model, few),
                    ContainsSubstring("room for 2 values at 300 coordinates"));
  model.weights = few;
  CHECK_THROWS_WITH(model_values(exec, X, model),
                    ContainsSubstring("factor 0 has 3 columns, there are 2 weights"));
  auto tucker = random_tucker<double>(exec, {6, 5, 4}, {2, 2, 2});
  tucker.core = few;
  CHECK_THROWS_WITH(model_values(exec, X, tucker),
                    ContainsSubstring("the core has 2 entries, the factors ask for 8"));
}

}  // namespace
