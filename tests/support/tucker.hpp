// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// For the tests of the Tucker decomposition.

#include <sporades/algorithms/detail/tucker/tucker_method.hpp>
#include <support/cp_als.hpp>

namespace sporades::test {

inline TuckerOptions tucker_options(std::vector<int> const& ranks, int iterations,
                                    double tolerance = 0) {
  TuckerOptions options;
  options.ranks = ranks;
  options.iterations = iterations;
  options.tolerance = tolerance;
  return options;
}

/// ||X - M|| by the definition, over all entries of the dense tensor X and of the model.
template <class Scalar, class Memory>
double tucker_residual(Dense const& X, TuckerTensor<Scalar, Memory> const& model) {
  auto const core = on_host(model.core);
  std::vector<Matrix<Scalar, Kokkos::HostSpace>> A;
  for (auto const& factor : model.factors) A.push_back(matrix_on_host(factor));
  auto const ranks = model.ranks();
  double sum = 0;
  for (std::size_t e = 0; e < X.values.size(); ++e) {
    auto const i = X.coordinates(e);
    double entry = 0;
    for (std::size_t g = 0; g < core.extent(0); ++g) {
      double term = core(g);
      std::size_t rest = g;
      for (std::size_t n = 0; n < A.size(); ++n) {
        term *= A[n](i[n], rest % ranks[n]);
        rest /= ranks[n];
      }
      entry += term;
    }
    sum += (X.values[e] - entry) * (X.values[e] - entry);
  }
  return std::sqrt(sum);
}

/// The largest magnitude of an entry of A^T A - I.
template <class MatrixType>
double distance_from_orthonormal(MatrixType const& A) {
  auto const host = matrix_on_host(A);
  double worst = 0;
  for (std::size_t r = 0; r < host.extent(1); ++r)
    for (std::size_t s = 0; s < host.extent(1); ++s) {
      double sum = r == s ? -1 : 0;
      for (std::size_t i = 0; i < host.extent(0); ++i)
        sum += static_cast<double>(host(i, r)) * static_cast<double>(host(i, s));
      worst = std::max(worst, std::abs(sum));
    }
  return worst;
}

template <class Vector>
double sum_of_squares(Vector const& x) {
  double sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += static_cast<double>(x.data()[k]) * x.data()[k];
  return sum;
}

}  // namespace sporades::test
