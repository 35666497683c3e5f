// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Random tensors and matrices for the tests. They are made on the host, and are the same on all
/// backends.

#include <random>
#include <sporades/core/matrix.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <support/catch.hpp>

namespace sporades::test {

/// Shape, nonzeros and skew of a random tensor.
struct Problem {
  Dims dims;
  Position nnz;
  double skew = 1;
};

/// nnz random nonzeros, unsorted; coordinates may repeat. Indices of each mode are floor(I_n
/// u^skew) with u uniform in [0, 1): with skew 1 they are uniform, with a large skew most of them
/// are 0.
template <class Scalar, class Index, class ExecutionSpace>
CooTensor<Scalar, Index, typename ExecutionSpace::memory_space> random_coo(
    ExecutionSpace const& exec, Dims const& dims, Position nnz, unsigned seed = 1,
    double skew = 1) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  Kokkos::DefaultHostExecutionSpace const host{};
  auto X = sporades::detail::allocate_coo<Scalar, Index>(host, dims, nnz);
  host.fence();
  for (Position p = 0; p < nnz; ++p) {
    for (int n = 0; n < X.order(); ++n) {
      double const u = std::pow(uniform(engine), skew);
      X.coordinates(n, p) = static_cast<Index>(u * static_cast<double>(dims[n]));
    }
    X.values(p) = static_cast<Scalar>(uniform(engine) - 0.4);
  }
  return copy_to(exec, X);
}

/// A rows x columns matrix of random numbers in [-0.5, 0.5), padded like those of make_matrix or
/// not.
template <class Scalar, class ExecutionSpace>
Matrix<Scalar, typename ExecutionSpace::memory_space> random_matrix(ExecutionSpace const& exec,
                                                                    std::size_t rows,
                                                                    std::size_t columns,
                                                                    unsigned seed,
                                                                    bool padded = true) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(-0.5, 0.5);
  Matrix<Scalar, Kokkos::HostSpace> const A("A", rows, columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t r = 0; r < columns; ++r) A(i, r) = static_cast<Scalar>(uniform(engine));
  if (padded) return copy_matrix(exec, A);
  Matrix<Scalar, typename ExecutionSpace::memory_space> const B("B", rows, columns);
  sporades::detail::copy_view(exec, B, A);
  exec.fence();
  return B;
}

/// A copy of the View that the host can read.
template <class ViewType>
auto on_host(ViewType const& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
}

/// A copy of the matrix, padded or not, that the host can read.
template <class MatrixType>
auto matrix_on_host(MatrixType const& A) {
  return copy_matrix(Kokkos::DefaultHostExecutionSpace{}, A);
}

/// Tests that two tensors on the host hold the same nonzeros in the same order.
template <class Tensor>
void check_same_nonzeros(Tensor const& X, Tensor const& Y) {
  REQUIRE(X.nnz() == Y.nnz());
  Position wrong = 0;
  for (Position p = 0; p < X.nnz(); ++p) {
    bool same = X.values(p) == Y.values(p);
    for (int n = 0; n < X.order(); ++n) same = same && X.coordinates(n, p) == Y.coordinates(n, p);
    wrong += !same;
  }
  CHECK(wrong == 0);
}

/// A random factor for each mode, I_n x R.
template <class ExecutionSpace, class Scalar>
Factors<Scalar, typename ExecutionSpace::memory_space> random_factor_list(
    ExecutionSpace const& exec, Dims const& dims, std::size_t R, bool padded) {
  Factors<Scalar, typename ExecutionSpace::memory_space> A;
  for (std::size_t m = 0; m < dims.size(); ++m)
    A.push_back(random_matrix<Scalar>(exec, dims[m], R, 100 + static_cast<unsigned>(m), padded));
  return A;
}

}  // namespace sporades::test
