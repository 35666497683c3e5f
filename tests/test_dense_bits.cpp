// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/core/detail/dense.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/dense.hpp>
#include <support/same_bits.hpp>
#include <support/tools.hpp>
#include <typeinfo>

namespace {

using namespace sporades::test;

TEMPLATE_LIST_TEST_CASE("dense functions give the same bits on any number of threads",
                        "[core][dense][threads]", sporades::test::AllCases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  typename TestType::ExecutionSpace const exec{};
  // Serial and OpenMP share a memory space, and their bits: the name leaves out which it was.
  auto const where = std::string(Memory::name()) + " " + typeid(Scalar).name() + " ";
  auto const shape = GENERATE(from_range(shapes()));
  auto const name = where + std::to_string(shape.rows) + " x " + std::to_string(shape.columns);
  auto const A = test_matrix<Scalar>(exec, shape, 1);
  sporades::detail::Workspace<Memory> workspace;
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> const G("sporades::test::gram", shape.columns,
                                                              shape.columns);
  sporades::detail::gram(exec, A, G, workspace);
  sporades::test::check_same_bits("gram " + name, sporades::test::hash_bits(G));
  auto const S = test_matrix<Scalar>(exec, {shape.columns, 9}, 3);
  auto const B = sporades::make_matrix<Scalar>(exec, "sporades::test::product", shape.rows, 9);
  sporades::detail::multiply(exec, A, S, B);
  exec.fence();
  sporades::test::check_same_bits("multiply " + name, sporades::test::hash_bits(B));
  Kokkos::View<double*, Memory> const d("sporades::test::dots", shape.columns);
  sporades::detail::column_dots(exec, A, A, d, workspace);
  exec.fence();
  sporades::test::check_same_bits("column_dots " + name, sporades::test::hash_bits(d));
  sporades::Vector<Scalar, Memory> const x(A.data(), shape.rows * ((shape.columns + 3) / 4 * 4));
  double const square = sporades::detail::norm_squared(exec, x);
  sporades::test::check_same_bits("norm_squared " + name,
                                  sporades::test::hash_bytes(&square, sizeof square));
}

TEMPLATE_LIST_TEST_CASE("dense products of long columns give the same bits on every run",
                        "[core][dense]", sporades::test::Cases) {
  using Scalar = typename TestType::Scalar;
  using Memory = typename TestType::MemorySpace;
  auto const exec = new_instance<typename TestType::ExecutionSpace>();
  std::size_t const columns = GENERATE(4u, 9u, 10u, 40u), rows = 60000;
  auto const A = test_matrix<Scalar>(exec, {rows, columns}, 1);
  auto const S = test_matrix<Scalar>(exec, {columns, columns}, 2);
  auto const B = sporades::make_matrix<Scalar>(exec, "sporades::test::product", rows, columns);
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> const G("sporades::test::gram", columns,
                                                              columns);
  Kokkos::View<double*, Memory> const d("sporades::test::dots", columns);
  sporades::Vector<Scalar, Memory> const entries(A.data(), rows * A.stride(0));
  sporades::detail::Workspace<Memory> workspace;
  std::vector<std::uint64_t> first;
  for (int run = 0; run < 6; ++run) {
    std::vector<std::uint64_t> bits;
    auto const add = [&](auto const& result) {
      exec.fence();
      bits.push_back(sporades::test::hash_bits(result));
    };
    sporades::detail::gram(exec, A, G, workspace);
    add(G);
    sporades::detail::multiply(exec, A, S, B);
    add(B);
    sporades::detail::transposed_product(exec, A, B, G, workspace);
    add(G);
    sporades::detail::column_dots(exec, A, B, d, workspace);
    add(d);
    double const square = sporades::detail::norm_squared(exec, entries);
    bits.push_back(sporades::test::hash_bytes(&square, sizeof square));
    if (run == 0) first = bits;
    CAPTURE(columns, run);
    CHECK(bits == first);
  }
}

}  // namespace
