// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// For the tests of CP-APR's row solvers: the objective of a row in plain arithmetic, a slow and
/// safe minimiser of it, and an outer iteration over the modes.

#include <algorithm>
#include <cmath>
#include <sporades/algorithms/detail/cp_apr/cp_apr_method.hpp>
#include <sporades/core/random.hpp>
#include <sporades/formats/kruskal_tensor.hpp>
#include <sporades/formats/sort_coo.hpp>
#include <support/tensors.hpp>
#include <vector>

namespace sporades::test {

template <class Scalar>
using HostFactors = Factors<Scalar, Kokkos::HostSpace>;

template <class Scalar>
using HostMatrix = Matrix<Scalar, Kokkos::HostSpace>;

template <class Scalar>
constexpr bool is_double = std::is_same_v<Scalar, double>;

inline sporades::detail::RowOptions row_options(CpAprMethod method, double tolerance,
                                                int inner_iterations) {
  sporades::detail::RowOptions options;
  options.steps = method == CpAprMethod::pdnr ? sporades::detail::RowSteps::damped_newton
                                              : sporades::detail::RowSteps::quasi_newton;
  options.tolerance = tolerance;
  options.inner_iterations = inner_iterations;
  return options;
}

/// One row's subproblem as plain arrays: f(b) = sum_r b_r - sum_p x_p log(sum_r b_r pi_p(r)).
struct PlainRow {
  std::vector<double> x;                // nonzeros
  std::vector<std::vector<double>> pi;  // nonzeros x R
  std::size_t R = 0;

  double model(std::vector<double> const& b, std::size_t p) const {
    double sum = 0;
    for (std::size_t r = 0; r < R; ++r) sum += b[r] * pi[p][r];
    return sum;
  }
  double value(std::vector<double> const& b) const {
    double sum = 0;
    for (double entry : b) sum += entry;
    for (std::size_t p = 0; p < x.size(); ++p) sum -= x[p] * std::log(model(b, p));
    return sum;
  }
  std::vector<double> gradient(std::vector<double> const& b) const {
    std::vector<double> g(R, 1);
    for (std::size_t p = 0; p < x.size(); ++p)
      for (std::size_t r = 0; r < R; ++r) g[r] -= x[p] * pi[p][r] / model(b, p);
    return g;
  }
  double violation(std::vector<double> const& b) const {
    auto const g = gradient(b);
    double largest = 0;
    for (std::size_t r = 0; r < R; ++r) largest = std::max(largest, std::abs(std::min(b[r], g[r])));
    return largest;
  }

  /// Finds the minimum: multiplicative updates come near it, then Newton steps in one variable
  /// after another reach it, each safeguarded by bisection.
  std::vector<double> minimum() const {
    double mass = 0;
    for (double entry : x) mass += entry;
    std::vector<double> b(R, mass / static_cast<double>(R));
    for (int k = 0; k < 200; ++k) {
      auto const g = gradient(b);
      for (std::size_t r = 0; r < R; ++r) b[r] *= 1 - g[r];
    }
    for (int sweep = 0; sweep < 20000 && violation(b) > 1e-11; ++sweep)
      for (std::size_t r = 0; r < R; ++r) minimise_entry(b, r);
    return b;
  }

  /// b[r] <- the zero of the objective's derivative by b[r], which increases with b[r]; 0 if the
  /// derivative is positive at 0.
  void minimise_entry(std::vector<double>& b, std::size_t r) const {
    std::vector<double> rest(x.size());
    for (std::size_t p = 0; p < x.size(); ++p) rest[p] = model(b, p) - b[r] * pi[p][r];
    auto const slopes = [&](double entry) {
      double first = 1, second = 0;
      for (std::size_t p = 0; p < x.size(); ++p) {
        if (pi[p][r] == 0) continue;
        double const ratio = pi[p][r] / (std::max(rest[p], 0.0) + entry * pi[p][r]);
        first -= x[p] * ratio;
        second += x[p] * ratio * ratio;
      }
      return std::make_pair(first, second);
    };
    double low = 0, high = 0;
    for (double entry : x) high += entry;  // the derivative is at least 1 - (sum of x) / entry
    if (slopes(0).first >= 0) {
      b[r] = 0;
      return;
    }
    for (int k = 0; k < 100 && high - low > 1e-15 * high; ++k) {
      auto const [first, second] = slopes(b[r]);
      (first > 0 ? high : low) = b[r];
      double const newton = b[r] - first / second;
      b[r] = newton > low && newton < high ? newton : (low + high) / 2;
    }
  }
};

/// The subproblem of row i of mode n of X, with the model's other factors.
template <class Scalar, class Index>
PlainRow plain_row(CooTensor<Scalar, Index> const& X, int n, std::uint64_t i,
                   Factors<Scalar, Kokkos::HostSpace> const& A) {
  PlainRow row;
  row.R = A[n].extent(1);
  for (Position p = 0; p < X.nnz(); ++p) {
    if (X.coordinates(n, p) != i) continue;
    row.x.push_back(static_cast<double>(X.values(p)));
    row.pi.emplace_back(row.R, 1);
    for (int m = 0; m < X.order(); ++m)
      for (std::size_t r = 0; r < row.R; ++r)
        if (m != n) row.pi.back()[r] *= static_cast<double>(A[m](X.coordinates(m, p), r));
  }
  return row;
}

template <class MatrixType>
std::vector<double> row_of(MatrixType const& A, std::uint64_t i) {
  std::vector<double> row;
  for (std::size_t r = 0; r < A.extent(1); ++r) row.push_back(static_cast<double>(A(i, r)));
  return row;
}

/// Random counts from 1 to 5 at random places, each place once.
template <class Scalar, class ExecutionSpace>
auto distinct_counts(ExecutionSpace const& exec, Dims const& dims, Position nnz, unsigned seed,
                     double skew = 1) {
  Kokkos::DefaultHostExecutionSpace const host{};
  auto X =
      sum_duplicates(host, random_coo<Scalar, std::uint32_t>(host, dims, nnz, seed, skew)).tensor;
  std::mt19937_64 engine(seed);
  for (Position p = 0; p < X.nnz(); ++p) X.values(p) = static_cast<Scalar>(engine() % 5 + 1);
  return copy_to(exec, X);
}

/// Divides the columns of a matrix on the host by their sums, and returns the sums.
template <class MatrixType>
std::vector<double> normalise_columns(MatrixType const& A) {
  using Scalar = typename MatrixType::non_const_value_type;
  std::vector<double> sums(A.extent(1));
  for (std::size_t r = 0; r < A.extent(1); ++r) {
    for (std::size_t i = 0; i < A.extent(0); ++i) sums[r] += static_cast<double>(A(i, r));
    for (std::size_t i = 0; i < A.extent(0) && sums[r] > 0; ++i)
      A(i, r) = static_cast<Scalar>(static_cast<double>(A(i, r)) / sums[r]);
  }
  return sums;
}

/// Random factors on the host whose columns sum to 1.
template <class Scalar>
Factors<Scalar, Kokkos::HostSpace> random_stochastic(Dims const& dims, int R, std::uint64_t seed) {
  auto const A = random_factors<Scalar>(Kokkos::DefaultHostExecutionSpace{}, dims, R, seed);
  Kokkos::fence();
  for (auto const& factor : A) normalise_columns(factor);
  return A;
}

template <class ExecutionSpace, class Scalar>
auto copy_factors(ExecutionSpace const& exec, Factors<Scalar, Kokkos::HostSpace> const& A) {
  Factors<Scalar, typename ExecutionSpace::memory_space> copies;
  for (auto const& factor : A) copies.push_back(copy_matrix(exec, factor));
  return copies;
}

/// X sorted with mode n first.
template <class ExecutionSpace, class Tensor>
Tensor sorted_for(ExecutionSpace const& exec, Tensor const& X, int n) {
  std::vector<int> modes{n};
  for (int m = 0; m < X.order(); ++m)
    if (m != n) modes.push_back(m);
  return sorted(exec, X, modes);
}

struct RowsRun {
  std::vector<double> log_likelihoods;  // after each outer iteration
  bool converged = false;
};

/// The sum of x log m over the nonzeros, minus the sum of the model.
template <class Scalar, class Index>
double log_likelihood(CooTensor<Scalar, Index> const& X,
                      Factors<Scalar, Kokkos::HostSpace> const& A,
                      std::vector<double> const& weights) {
  double sum = 0;
  for (double weight : weights) sum -= weight;
  for (Position p = 0; p < X.nnz(); ++p) {
    double model = 0;
    for (std::size_t r = 0; r < weights.size(); ++r) {
      double term = weights[r];
      for (int m = 0; m < X.order(); ++m) term *= static_cast<double>(A[m](X.coordinates(m, p), r));
      model += term;
    }
    sum += static_cast<double>(X.values(p)) * std::log(model);
  }
  return sum;
}

/// CP-APR by row subproblems. An outer iteration goes over modes 0 to N-1: it solves all rows of
/// B = A_n diag(weights), and then makes the sums of B's columns the weights. It ends when no row
/// violates the tolerance when its turn comes.
template <class ExecutionSpace, class Scalar, class Index>
RowsRun run_rows(ExecutionSpace const& exec, CooTensor<Scalar, Index> const& X,
                 Factors<Scalar, Kokkos::HostSpace> A, sporades::detail::RowOptions const& options,
                 int iterations) {
  using Memory = typename ExecutionSpace::memory_space;
  std::size_t const R = A[0].extent(1);
  std::vector<double> weights(R, 1);
  for (auto const& factor : A) {
    auto const sums = normalise_columns(factor);
    for (std::size_t r = 0; r < R; ++r) weights[r] *= sums[r];
  }
  auto const device_X = copy_to(exec, X);
  auto factors = copy_factors(exec, A);
  std::vector<sporades::detail::RowSubproblems<Scalar, Index, Memory>> problems;
  for (int n = 0; n < X.order(); ++n)
    problems.push_back(sporades::detail::make_row_subproblems(exec, sorted_for(exec, device_X, n),
                                                              n, static_cast<int>(R)));
  sporades::detail::RowWorkspace<Memory> workspace;
  RowsRun run;
  for (int k = 0; k < iterations && !run.converged; ++k) {
    double violation = 0;
    for (int n = 0; n < X.order(); ++n) {
      for (std::size_t i = 0; i < A[n].extent(0); ++i)
        for (std::size_t r = 0; r < R; ++r) A[n](i, r) *= static_cast<Scalar>(weights[r]);
      auto const B = copy_matrix(exec, A[n]);
      sporades::detail::solve_rows(exec, problems[n], factors, B,
                                   sporades::detail::in_outer_iteration(options, k), workspace);
      exec.fence();
      A[n] = matrix_on_host(B);
      weights = normalise_columns(A[n]);
      factors[n] = copy_matrix(exec, A[n]);
      violation = std::max(violation, on_host(workspace.violation)());
    }
    run.log_likelihoods.push_back(log_likelihood(X, A, weights));
    run.converged = violation <= options.tolerance;
  }
  return run;
}

}  // namespace sporades::test
