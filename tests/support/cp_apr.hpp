// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// For the tests of CP-APR: its definition in dense arithmetic, and counts.

#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/kernels/log_likelihood.hpp>
#include <support/cp_als.hpp>

namespace sporades::test {

/// Multiplicative updates: the method whose iterations are defined below.
inline CpAprOptions apr_options(int rank, int iterations, double tolerance = 0) {
  CpAprOptions options;
  options.method = CpAprMethod::mu;
  options.rank = rank;
  options.iterations = iterations;
  options.tolerance = tolerance;
  return options;
}

/// CP-APR by multiplicative updates, by its definition, in the plainest loops.
struct DenseCounts : Dense {
  std::vector<std::vector<double>> phi;   // I_n x R, from the last inner iteration
  std::vector<std::vector<bool>> raised;  // I_n x R: inadmissible zeros, of the last iteration
  double least = 0;                       // entries below it are 0
  double violation = 0;
  std::int64_t inner_iterations = 0;

  double model(std::vector<std::uint64_t> const& i) const {
    double sum = 0;
    for (std::size_t r = 0; r < rank(); ++r) sum += weights[r] * term(i, r, dims.size());
    return sum;
  }

  double log_likelihood() const {
    double sum = 0;
    for (std::size_t e = 0; e < values.size(); ++e) {
      double const m = model(coordinates(e));
      if (values[e] > 0) sum += values[e] * std::log(m);
      sum -= m;
    }
    return sum;
  }

  void drop_least(double& entry) const {
    if (entry < least) entry = 0;
  }

  /// Divides the columns by their sums, and multiplies the weights by these. Columns of zeros
  /// become uniform.
  void normalize(std::size_t n) {
    for (std::size_t r = 0; r < rank(); ++r) {
      double sum = 0;
      for (std::size_t i = 0; i < dims[n]; ++i) sum += factors[n][i * rank() + r];
      for (std::size_t i = 0; i < dims[n]; ++i) {
        auto& entry = factors[n][i * rank() + r];
        entry = sum > 0 ? entry / sum : 1 / static_cast<double>(dims[n]);
        drop_least(entry);
      }
      weights[r] *= sum;
    }
  }

  std::vector<double> define_phi(std::size_t n, double epsilon) const {
    std::vector<double> result(dims[n] * rank());
    for (std::size_t e = 0; e < values.size(); ++e) {
      auto const i = coordinates(e);
      double m = 0;
      for (std::size_t r = 0; r < rank(); ++r) m += factors[n][i[n] * rank() + r] * term(i, r, n);
      for (std::size_t r = 0; r < rank(); ++r)
        result[i[n] * rank() + r] += values[e] / std::max(m, epsilon) * term(i, r, n);
    }
    return result;
  }

  void iterate_counts(CpAprOptions const& options) {
    violation = 0;
    inner_iterations = 0;
    phi.resize(dims.size());
    raised.resize(dims.size());
    for (std::size_t n = 0; n < dims.size(); ++n) {
      auto& A = factors[n];
      raised[n].resize(A.size());
      for (std::size_t e = 0; e < A.size(); ++e) {
        if (weights[e % rank()] == 0) {  // a dead component
          double const part =
              (1 + detail::random_entry<double>(options.seed, n, e / rank(), e % rank())) / 2;
          A[e] = raised[n][e] ? part * options.kappa : 0;
          continue;
        }
        if (raised[n][e]) A[e] += options.kappa;
        A[e] *= weights[e % rank()];
        drop_least(A[e]);
      }
      double worst = 0;
      for (int inner = 0; inner < options.inner_iterations; ++inner) {
        ++inner_iterations;
        phi[n] = define_phi(n, options.epsilon);
        worst = 0;
        for (std::size_t e = 0; e < A.size(); ++e)
          worst = std::max(worst, std::abs(std::min(A[e], 1 - phi[n][e])));
        if (worst < options.tolerance) break;
        for (std::size_t e = 0; e < A.size(); ++e) A[e] *= phi[n][e];
      }
      violation = std::max(violation, worst);
      weights.assign(rank(), 1.0);
      normalize(n);
      for (std::size_t e = 0; e < A.size(); ++e)
        raised[n][e] =
            phi[n][e] > 1 && (A[e] < options.kappa_tolerance || weights[e % rank()] == 0);
    }
  }
};

template <class Scalar, class Index, class Memory>
DenseCounts to_dense_counts(CooTensor<Scalar, Index, Memory> const& X) {
  DenseCounts dense;
  static_cast<Dense&>(dense) = to_dense(X);
  return dense;
}

/// Whole numbers from 0 to 9 at random places, duplicates possible.
template <class Scalar, class Index = std::uint32_t, class ExecutionSpace>
auto random_counts(ExecutionSpace const& exec, Dims const& dims, Position nnz, unsigned seed = 1,
                   double skew = 1) {
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const X = random_coo<Scalar, Index>(host, dims, nnz, seed, skew);
  host.fence();
  for (Position p = 0; p < nnz; ++p) X.values(p) = std::floor(std::abs(X.values(p)) * 16);
  return copy_to(exec, X);
}

}  // namespace sporades::test
