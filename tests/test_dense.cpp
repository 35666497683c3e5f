// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/core/detail/dense.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/dense.hpp>
#include <support/tensors.hpp>
#include <support/tools.hpp>

namespace {

using namespace sporades::test;

/// Rounding of a sum of `terms` products of entries up to 0.5: a few units of the largest sum.
template <class Scalar>
double tolerance(std::size_t terms) {
  return std::numeric_limits<Scalar>::epsilon() * (8 + 0.5 * double(terms));
}

TEMPLATE_LIST_TEST_CASE("products of columns are summed in double", "[core][dense]",
                        sporades::test::Cases) {
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  auto const A = test_matrix<Scalar>(exec, {3000, 17}, 1);
  auto const B = test_matrix<Scalar>(exec, {3000, 9}, 2);
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> const G("sporades::test::gram", 17, 17);
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> const C("sporades::test::product", 17, 9);
  sporades::detail::Workspace<Memory> workspace;
  sporades::detail::gram(exec, A, G, workspace);
  sporades::detail::transposed_product(exec, A, B, C, workspace);
  exec.fence();
  auto const a = matrix_on_host(A), b = matrix_on_host(B);
  auto const g = matrix_on_host(G), c = matrix_on_host(C);
  double worst = 0;
  for (std::size_t j = 0; j < 17; ++j)
    for (std::size_t k = 0; k < 17; ++k) {
      long double gram = 0, product = 0;
      for (std::size_t i = 0; i < 3000; ++i) {
        gram += static_cast<long double>(a(i, j)) * static_cast<long double>(a(i, k));
        if (k < 9) product += static_cast<long double>(a(i, j)) * static_cast<long double>(b(i, k));
      }
      worst = std::max(worst, static_cast<double>(std::abs(g(j, k) - gram)));
      if (k < 9) worst = std::max(worst, static_cast<double>(std::abs(c(j, k) - product)));
    }
  CHECK(worst < 1e-11);
}

TEMPLATE_LIST_TEST_CASE("gram equals its definition", "[core][dense]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const shape = GENERATE(from_range(shapes()));
  enum Columns { contiguous, aligned, with_padding };
  auto const columns = GENERATE(contiguous, aligned, with_padding);
  auto const owner = test_matrix<Scalar>(exec, shape, 1, columns != contiguous);
  auto const A = columns == with_padding ? sporades::detail::with_padding(owner) : owner;
  auto const R = A.extent(1);
  Kokkos::View<double**, Kokkos::LayoutRight, typename TestType::MemorySpace> const G(
      "sporades::test::gram", R, R);
  sporades::detail::Workspace<typename TestType::MemorySpace> workspace;
  if (shape.rows > 0)
    check_launches(exec, [&] { sporades::detail::gram(exec, A, G, workspace); });
  else
    sporades::detail::gram(exec, A, G, workspace);
  exec.fence();
  auto const a = matrix_on_host(A);
  auto const g = matrix_on_host(G);
  double worst = 0;
  for (std::size_t j = 0; j < R; ++j)
    for (std::size_t k = 0; k < R; ++k) {
      long double sum = 0;
      for (std::size_t i = 0; i < shape.rows; ++i) sum += (long double)(a(i, j)) * double(a(i, k));
      worst = std::max(worst, std::abs(g(j, k) - double(sum)));
      if (g(j, k) != g(k, j)) worst = 1;
    }
  CAPTURE(shape.rows, shape.columns, worst);
  CHECK(worst <= tolerance<Scalar>(shape.rows));
}

TEMPLATE_LIST_TEST_CASE("gram of so many columns that a block holds more than 256 rows",
                        "[core][dense]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  Shape const shape{1100, 1024};  // 3 blocks of up to 512 rows
  auto const A = test_matrix<Scalar>(exec, shape, 1);
  Kokkos::View<double**, Kokkos::LayoutRight, typename TestType::MemorySpace> const G(
      "sporades::test::gram", shape.columns, shape.columns);
  sporades::detail::Workspace<typename TestType::MemorySpace> workspace;
  sporades::detail::gram(exec, A, G, workspace);
  exec.fence();
  auto const a = matrix_on_host(A);
  auto const g = matrix_on_host(G);
  double worst = 0;
  for (std::size_t j = 0; j < shape.columns; j += 37)
    for (std::size_t k = 0; k < shape.columns; k += 41) {
      long double sum = 0;
      for (std::size_t i = 0; i < shape.rows; ++i) sum += (long double)(a(i, j)) * double(a(i, k));
      worst = std::max(worst, std::abs(g(j, k) - double(sum)));
    }
  CHECK(worst <= tolerance<Scalar>(shape.rows));
}

TEMPLATE_LIST_TEST_CASE(
    "the column sums that GPUs take in many small blocks equal their definition", "[core][dense]",
    sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const shape = GENERATE(from_range(shapes()));
  if (shape.rows == 0) return;
  auto const A = test_matrix<Scalar>(exec, shape, 1);
  auto const V = test_matrix<Scalar>(exec, shape, 1ull << 41);
  Kokkos::View<double*, Memory> const d("sporades::test::dots", shape.columns);
  sporades::detail::Workspace<Memory> workspace;
  check_launches(exec, [&] {
    sporades::detail::fine_column_sums<true>(exec, "sporades::test::dots", V, A, d, {}, workspace);
  });
  exec.fence();
  auto const a = matrix_on_host(A), v = matrix_on_host(V);
  auto const dots = on_host(d);
  CAPTURE(shape.rows, shape.columns);
  for (std::size_t j = 0; j < shape.columns; ++j) {
    long double dot = 0;
    for (std::size_t i = 0; i < shape.rows; ++i) dot += (long double)(v(i, j)) * double(a(i, j));
    CHECK(std::abs(dots(j) - double(dot)) <= tolerance<double>(shape.rows));
  }
}

TEMPLATE_LIST_TEST_CASE("the product of two transposed matrices equals its definition",
                        "[core][dense]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const shape = GENERATE(from_range(shapes()));
  auto const columns = GENERATE(1u, 4u, 13u, 100u);
  auto const padded = GENERATE(false, true);
  if (columns == 100 && shape.rows * shape.columns > 400000) return;  // the definition takes long
  auto const A = test_matrix<Scalar>(exec, shape, 1, padded);
  auto const B = test_matrix<Scalar>(exec, {shape.rows, columns}, 1ull << 40, padded);
  auto const C =
      sporades::make_matrix<Scalar>(exec, "sporades::test::product", A.extent(1), columns);
  sporades::detail::Workspace<typename TestType::MemorySpace> workspace;
  sporades::detail::transposed_product(exec, A, B, C, workspace);
  exec.fence();
  auto const a = matrix_on_host(A), b = matrix_on_host(B), c = matrix_on_host(C);
  double worst = 0;
  for (std::size_t j = 0; j < A.extent(1); ++j)
    for (std::size_t k = 0; k < columns; ++k) {
      long double sum = 0;
      for (std::size_t i = 0; i < shape.rows; ++i) sum += (long double)(a(i, j)) * double(b(i, k));
      worst = std::max(worst, std::abs(double(c(j, k)) - double(sum)));
    }
  CAPTURE(shape.rows, shape.columns, worst);
  CHECK(worst <= tolerance<Scalar>(shape.rows));
}

TEMPLATE_LIST_TEST_CASE("multiply equals its definition", "[core][dense]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const shape = GENERATE(from_range(shapes()));
  auto const columns = GENERATE(1u, 8u, 17u, 70u);
  auto const padded = GENERATE(false, true), adds = GENERATE(false, true);
  auto const V = test_matrix<Scalar>(exec, shape, 1, padded);
  auto const S = test_matrix<Scalar>(exec, {shape.columns, columns}, 2, padded);
  auto const A = test_matrix<Scalar>(exec, {shape.rows, columns}, 3, padded);
  auto const before = matrix_on_host(A);
  if (shape.rows > 0)
    check_launches(exec, [&] { sporades::detail::multiply(exec, V, S, A, adds); });
  else
    sporades::detail::multiply(exec, V, S, A, adds);
  exec.fence();
  auto const v = matrix_on_host(V), s = matrix_on_host(S), a = matrix_on_host(A);
  double worst = 0;
  for (std::size_t i = 0; i < shape.rows; ++i)
    for (std::size_t c = 0; c < columns; ++c) {
      long double sum = adds ? before(i, c) : 0;
      for (std::size_t k = 0; k < shape.columns; ++k)
        sum += (long double)(v(i, k)) * double(s(k, c));
      worst = std::max(worst, std::abs(double(a(i, c)) - double(sum)));
    }
  CAPTURE(shape.rows, shape.columns, worst);
  CHECK(worst <= tolerance<Scalar>(shape.columns));
}

TEMPLATE_LIST_TEST_CASE("multiply by doubles adds up in double", "[core][dense]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const shape = GENERATE(from_range(shapes()));
  auto const columns = GENERATE(1u, 8u, 17u, 70u);
  auto const padded = GENERATE(false, true);
  if (shape.rows == 0) return;
  auto const V = test_matrix<Scalar>(exec, shape, 1, padded);
  auto const S = test_matrix<double>(exec, {shape.columns, columns}, 2, padded);
  auto const A = test_matrix<Scalar>(exec, {shape.rows, columns}, 3, padded);
  check_launches(exec, [&] { sporades::detail::multiply(exec, V, S, A); });
  exec.fence();
  auto const v = matrix_on_host(V), a = matrix_on_host(A);
  auto const s = matrix_on_host(S);
  double worst = 0;
  for (std::size_t i = 0; i < shape.rows; ++i)
    for (std::size_t c = 0; c < columns; ++c) {
      long double sum = 0;
      for (std::size_t k = 0; k < shape.columns; ++k) sum += (long double)(v(i, k)) * s(k, c);
      double const rounded = double(static_cast<Scalar>(sum));
      double const rounding = std::numeric_limits<Scalar>::epsilon() * std::abs(rounded);
      worst = std::max(worst, std::abs(double(a(i, c)) - rounded) - rounding);
    }
  CAPTURE(shape.rows, shape.columns, worst);
  CHECK(worst <= tolerance<double>(shape.columns));
}

TEMPLATE_LIST_TEST_CASE("rows of a product have the same bits whatever other rows there are",
                        "[core][dense]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  constexpr bool is_gpu = sporades::detail::is_gpu<typename TestType::ExecutionSpace>;
  std::size_t const columns = GENERATE(5u, 16u, 17u, 40u), rows = 20000;
  std::size_t const first = is_gpu ? 1001 : 1024, last = 12346;
  auto const some = std::make_pair(first, last);
  auto const V = test_matrix<Scalar>(exec, {rows, columns}, 1);
  auto const S = test_matrix<Scalar>(exec, {columns, columns}, 2);
  auto const whole = sporades::make_matrix<Scalar>(exec, "sporades::test::whole", rows, columns);
  auto const part =
      sporades::make_matrix<Scalar>(exec, "sporades::test::part", last - first, columns);
  sporades::detail::multiply(exec, V, S, whole);
  sporades::detail::multiply(exec, Kokkos::subview(V, some, Kokkos::ALL), S, part);
  exec.fence();
  auto const of_whole = matrix_on_host(whole), of_part = matrix_on_host(part);
  std::size_t different = 0;
  for (std::size_t i = first; i < last; ++i)
    for (std::size_t j = 0; j < columns; ++j) different += of_part(i - first, j) != of_whole(i, j);
  CAPTURE(columns);
  CHECK(different == 0);
}

TEMPLATE_LIST_TEST_CASE("dense products read nothing past the columns of a part", "[core][dense]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const count = GENERATE(1u, 3u, 6u);
  auto const some = std::make_pair(0u, count);
  std::size_t const rows = 70, columns = 5;
  auto const wide = test_matrix<Scalar>(exec, {rows, 8}, 1);
  auto const tall = test_matrix<Scalar>(exec, {8, columns}, 2);
  auto const V = Kokkos::subview(wide, Kokkos::ALL, some);
  auto const S = Kokkos::subview(tall, some, Kokkos::ALL);
  auto const A = sporades::make_matrix<Scalar>(exec, "sporades::test::product", rows, columns);
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> const G("sporades::test::gram", count, count);
  sporades::detail::Workspace<Memory> workspace;
  sporades::detail::multiply(exec, V, S, A);
  sporades::detail::gram(exec, V, G, workspace);
  exec.fence();
  auto const v = matrix_on_host(wide), s = matrix_on_host(tall), a = matrix_on_host(A);
  auto const g = matrix_on_host(G);
  double worst = 0;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t c = 0; c < columns; ++c) {
      double sum = 0;
      for (std::size_t k = 0; k < count; ++k) sum += double(v(i, k)) * double(s(k, c));
      worst = std::max(worst, std::abs(double(a(i, c)) - sum));
    }
  for (std::size_t j = 0; j < count; ++j)
    for (std::size_t k = 0; k < count; ++k) {
      double sum = 0;
      for (std::size_t i = 0; i < rows; ++i) sum += double(v(i, j)) * double(v(i, k));
      worst = std::max(worst, std::abs(g(j, k) - sum));
    }
  CHECK(worst <= tolerance<Scalar>(rows));
}

TEMPLATE_LIST_TEST_CASE("columns are scaled and multiplied", "[core][dense]",
                        sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  auto const shape = GENERATE(from_range(shapes()));
  auto const padded = GENERATE(false, true);
  auto const A = test_matrix<Scalar>(exec, shape, 1, padded);
  auto const V = test_matrix<Scalar>(exec, shape, 2, padded);
  auto const a = sporades::copy_matrix(Kokkos::DefaultHostExecutionSpace{}, A);
  sporades::Vector<Scalar, Memory> const s("sporades::test::scale", shape.columns);
  auto const scale = Kokkos::create_mirror_view(s);
  for (std::size_t r = 0; r < shape.columns; ++r) scale(r) = static_cast<Scalar>(r) - Scalar(1.5);
  Kokkos::deep_copy(s, scale);
  Kokkos::View<double*, Memory> const d("sporades::test::dots", shape.columns);
  sporades::detail::Workspace<Memory> workspace;
  sporades::detail::column_dots(exec, V, A, d, workspace);
  exec.fence();
  auto const dots = on_host(d);
  auto const v = matrix_on_host(V);
  Kokkos::View<double*, Memory> const e("sporades::test::sums", shape.columns);
  sporades::detail::column_sums(exec, A, e, workspace);
  exec.fence();
  auto const sums = on_host(e);
  for (std::size_t r = 0; r < shape.columns; ++r) {
    long double sum = 0, of_a = 0;
    for (std::size_t i = 0; i < shape.rows; ++i) {
      sum += (long double)(v(i, r)) * double(a(i, r));
      of_a += double(a(i, r));
    }
    CHECK(std::abs(dots(r) - double(sum)) <= tolerance<double>(shape.rows));
    CHECK(std::abs(sums(r) - double(of_a)) <= tolerance<double>(shape.rows));
  }

  sporades::detail::scale_columns(exec, A, s);
  exec.fence();
  auto const after = matrix_on_host(A);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < shape.rows; ++i)
    for (std::size_t r = 0; r < shape.columns; ++r) wrong += after(i, r) != a(i, r) * scale(r);
  CHECK(wrong == 0);
}

TEST_CASE("dense functions refuse shapes that disagree", "[core][dense]") {
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto const A = test_matrix<double>(exec, {5, 3}, 1), B = test_matrix<double>(exec, {6, 3}, 1),
             S = test_matrix<double>(exec, {3, 3}, 1), T = test_matrix<double>(exec, {2, 3}, 1);
  sporades::detail::Workspace<Kokkos::HostSpace> workspace;
  sporades::Vector<double, Kokkos::HostSpace> const two("sporades::test::two", 2);
  CHECK_THROWS_AS(sporades::detail::gram(exec, A, T, workspace), sporades::Error);
  CHECK_THROWS_AS(sporades::detail::transposed_product(exec, A, B, S, workspace), sporades::Error);
  CHECK_THROWS_AS(sporades::detail::multiply(exec, A, T, A), sporades::Error);
  CHECK_THROWS_AS(sporades::detail::multiply(exec, A, S, B), sporades::Error);
  CHECK_THROWS_AS(sporades::detail::multiply(exec, A, S, A), sporades::Error);
  CHECK_THROWS_AS(sporades::detail::scale_columns(exec, A, two), sporades::Error);
  CHECK_THROWS_AS(sporades::detail::column_dots(exec, A, A, two, workspace), sporades::Error);
  CHECK_THROWS_AS(sporades::detail::dot(exec, two, Kokkos::subview(two, std::make_pair(0, 1))),
                  sporades::Error);
}

}  // namespace
