// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/formats/sort_coo.hpp>
#include <sporades/kernels/innerprod.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/cp_als.hpp>
#include <support/files.hpp>
#include <support/models.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using sporades::Dims;
using sporades::innerprod;
using sporades::norm;
using sporades::Position;
using sporades::test::new_instance;
using sporades::test::PlainModel;
using sporades::test::random_coo;
using sporades::test::random_kruskal;
using sporades::test::random_tucker;

Dims any_dims() {
  return GENERATE(Dims{7}, Dims{5, 6}, Dims{30, 20, 10}, Dims{3, 4, 2, 5}, Dims{3, 2, 3, 2, 4},
                  Dims{2, 3, 2, 3, 2, 3});
}

std::vector<int> some_ranks(Dims const& dims, int most) {
  std::vector<int> ranks;
  for (int n = 0; n < static_cast<int>(dims.size()); ++n) ranks.push_back(1 + (n + most) % most);
  return ranks;
}

/// Compares with the sum over the nonzeros.
template <class Scalar, class Tensor, class Model>
void check_with_tensor(Tensor const& X, Model const& model, double product) {
  auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  PlainModel<Scalar> const plain(model);
  double sum = 0, magnitude = 0;
  for (Position p = 0; p < X.nnz(); ++p) {
    auto const m = plain.at(sporades::test::coordinates_at(host, p));
    sum += static_cast<double>(host.values(p)) * m.value;
    magnitude += std::abs(static_cast<double>(host.values(p))) * m.magnitude;
  }
  CHECK(std::abs(product - sum) <= 1e-13 * magnitude);
}

/// Compares with the sum over all cells.
template <class Scalar, class Left, class Right>
void check_models(Left const& A, Right const& B, double product) {
  auto const a = PlainModel<Scalar>(A).cells(), b = PlainModel<Scalar>(B).cells();
  double sum = 0, magnitude = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    sum += a[k].value * b[k].value;
    magnitude += a[k].magnitude * b[k].magnitude;
  }
  CHECK(std::abs(product - sum) <= 1e-13 * magnitude);
}

TEMPLATE_LIST_TEST_CASE("inner products of a tensor and a model equal their definition",
                        "[kernels][innerprod]", sporades::test::IndexCases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = any_dims();
  auto const nnz = GENERATE(0, 1, 2000);
  auto const X = random_coo<Scalar, typename TestType::Index>(exec, dims, nnz);
  for (int const rank : {1, 3, 16, 17}) {
    auto const model = random_kruskal<Scalar>(exec, dims, rank, 1, rank != 3);
    double const product = innerprod(exec, X, model);
    check_with_tensor<Scalar>(X, model, product);
    CHECK(innerprod(exec, model, X) == product);
  }
  for (int const most : {1, 4}) {
    auto const model = random_tucker<Scalar>(exec, dims, some_ranks(dims, most));
    check_with_tensor<Scalar>(X, model, innerprod(exec, X, model));
    auto const sorted_X = sorted(exec, X, {static_cast<int>(dims.size()) - 1});
    check_with_tensor<Scalar>(X, model, innerprod(exec, model, sorted_X));
  }
}

TEMPLATE_LIST_TEST_CASE("inner products and norms of models equal their definition",
                        "[kernels][innerprod]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const dims = any_dims();
  auto const rank = GENERATE(1, 3, 16, 17);
  auto const A = random_kruskal<Scalar>(exec, dims, rank, 1);
  auto const B = random_kruskal<Scalar>(exec, dims, 4, 2, false);
  auto const G = random_tucker<Scalar>(exec, dims, some_ranks(dims, 4), 3);
  auto const H = random_tucker<Scalar>(exec, dims, some_ranks(dims, 3), 4);
  check_models<Scalar>(A, B, innerprod(exec, A, B));
  check_models<Scalar>(A, G, innerprod(exec, A, G));
  check_models<Scalar>(A, G, innerprod(exec, G, A));
  check_models<Scalar>(G, H, innerprod(exec, G, H));
  check_models<Scalar>(H, G, innerprod(exec, H, G));
  double const norms[] = {norm(exec, A), norm(exec, G)};
  check_models<Scalar>(A, A, norms[0] * norms[0]);
  check_models<Scalar>(G, G, norms[1] * norms[1]);
}

TEMPLATE_LIST_TEST_CASE("the norm of a tensor is that of its values", "[kernels][innerprod]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const nnz = GENERATE(0, 1, 5000);
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {30, 20, 10}, nnz);
  auto const values = sporades::test::on_host(X.values);
  double squares = 0;
  for (Position p = 0; p < X.nnz(); ++p) squares += double{values(p)} * double{values(p)};
  CHECK(norm(exec, X) == Approx(std::sqrt(squares)).epsilon(1e-13));
}

TEMPLATE_LIST_TEST_CASE("no square of a norm leaves the range", "[kernels][innerprod]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Limits = std::numeric_limits<Scalar>;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto X = random_coo<Scalar, std::uint32_t>(exec, {30, 20, 10}, 4);
  auto const norm_of = [&](Scalar a, Scalar b) {
    X.values = sporades::detail::to_view(exec, "values", std::vector<Scalar>{a, b, 0, -a});
    return norm(exec, X);
  };
  Scalar const large = Limits::max() / 4, small = Limits::min() * 4;
  CHECK(norm_of(large, large / 2) == Approx(1.5 * static_cast<double>(large)).epsilon(1e-14));
  CHECK(norm_of(small, small / 2) == Approx(1.5 * static_cast<double>(small)).epsilon(1e-14));
  CHECK(norm_of(0, 0) == 0);
  CHECK(norm_of(1, Limits::infinity()) == std::numeric_limits<double>::infinity());
  CHECK(std::isnan(norm_of(Limits::quiet_NaN(), 1)));
}

TEST_CASE("the norm of a model that holds NaN is NaN", "[kernels][innerprod]") {
  Kokkos::DefaultExecutionSpace const exec{};
  auto model = random_kruskal<double>(exec, {4, 3}, 2);
  CHECK(norm(exec, model) > 0);
  model.weights = sporades::detail::to_view(exec, "weights", std::vector<double>{1, NAN});
  CHECK(std::isnan(norm(exec, model)));
}

// GenTen's test of mixed formats.
TEST_CASE("inner products that a peer has published", "[kernels][innerprod]") {
  Kokkos::DefaultExecutionSpace const exec{};
  auto const X = copy_to(
      exec, sporades::test::make_coo<double>(
                {4, 2, 3}, {{{2, 0, 0}, 1}, {{1, 1, 1}, 2}, {{3, 0, 2}, 3}, {{0, 1, 2}, 4}}));
  auto const model_of = [&](std::vector<double> const& weights) {
    return copy_to(
        exec, sporades::test::host_ktensor<double>(weights, {{{0, 0}, {-1, 0}, {1, 0}, {0, 0.3}},
                                                             {{1, 0.3}, {0, 0}},
                                                             {{1, 0}, {0, 0}, {0, 0.3}}}));
  };
  CHECK(innerprod(exec, X, model_of({1, 2})) == Approx(1.162).epsilon(1e-14));
  CHECK(innerprod(exec, X, model_of({3, 1})) == Approx(3.081).epsilon(1e-14));
}

TEMPLATE_LIST_TEST_CASE("inner products have the same bits on any number of threads",
                        "[kernels][innerprod][threads]", sporades::test::AllCases) {
  using Scalar = typename TestType::Scalar;
  using Exec = typename TestType::ExecutionSpace;
  Exec const exec{};
  auto const X = random_coo<Scalar, std::uint32_t>(exec, {3000, 2000, 100}, 20000);
  auto const A = random_kruskal<Scalar>(exec, X.dims, 17);
  auto const G = random_tucker<Scalar>(exec, X.dims, {4, 3, 5});
  double const products[] = {innerprod(exec, X, A), innerprod(exec, X, G), innerprod(exec, A, G),
                             norm(exec, X),         norm(exec, A),         norm(exec, G)};
  sporades::test::check_same_bits(
      std::string("innerprod ") + Exec::name() + " bytes " + std::to_string(sizeof(Scalar)),
      sporades::test::hash_bytes(products, sizeof products));
}

TEST_CASE("innerprod and norm run on their instance", "[kernels][innerprod]") {
  auto const exec = new_instance<Kokkos::DefaultExecutionSpace>();
  auto const X = random_coo<double, std::uint32_t>(exec, {30, 20, 10}, 500);
  auto const A = random_kruskal<double>(exec, X.dims, 5);
  auto const G = random_tucker<double>(exec, X.dims, {2, 3, 4});
  sporades::test::check_launches(exec, [&] { innerprod(exec, X, A); });
  sporades::test::check_launches(exec, [&] { innerprod(exec, X, G); });
  sporades::test::check_launches(exec, [&] { innerprod(exec, A, G); });
  sporades::test::check_launches(exec, [&] { norm(exec, X); });
}

TEST_CASE("tensors of other dims have no inner product", "[kernels][innerprod]") {
  Kokkos::DefaultExecutionSpace const exec{};
  auto const X = random_coo<double, std::uint32_t>(exec, {6, 5, 4}, 30);
  auto const A = random_kruskal<double>(exec, {6, 5, 3}, 2);
  CHECK_THROWS_WITH(innerprod(exec, X, A),
                    ContainsSubstring("one tensor is 6 x 5 x 4, the other 6 x 5 x 3"));
  CHECK_THROWS_WITH(innerprod(exec, A, random_kruskal<double>(exec, {6, 5}, 2)),
                    ContainsSubstring("one tensor is 6 x 5 x 3, the other 6 x 5"));
}

}  // namespace
