// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Matrices for the tests of dense functions.

#include <sporades/core/matrix.hpp>
#include <sporades/core/random.hpp>
#include <vector>

namespace sporades::test {

struct Shape {
  std::size_t rows, columns;
};

inline std::vector<Shape> shapes() {
  return {{0, 3},     {0, 40},    {1, 1},    {3, 3},     {257, 4},   {1000, 16},
          {5003, 17}, {40000, 8}, {700, 33}, {300, 130}, {17000, 33}};
}

/// Entries in [-0.5, 0.5), other ones for each seed. Rows padded and aligned, or one after another.
template <class Scalar, class ExecutionSpace>
sporades::Matrix<Scalar, typename ExecutionSpace::memory_space> test_matrix(
    ExecutionSpace const& exec, Shape shape, std::uint64_t seed, bool padded = true) {
  using MatrixType = sporades::Matrix<Scalar, typename ExecutionSpace::memory_space>;
  auto const A = padded ? sporades::make_matrix<Scalar>(exec, "sporades::test::matrix", shape.rows,
                                                        shape.columns)
                        : MatrixType("sporades::test::matrix", shape.rows, shape.columns);
  Kokkos::parallel_for(
      "sporades::test::fill", Kokkos::RangePolicy<ExecutionSpace>(exec, 0, shape.rows),
      KOKKOS_LAMBDA(std::size_t i) {
        for (std::size_t r = 0; r < A.extent(1); ++r)
          A(i, r) = sporades::detail::random_entry<Scalar>(seed, 0, i, r) - Scalar(0.5);
      });
  exec.fence();  // the host copies it
  return A;
}

}  // namespace sporades::test
