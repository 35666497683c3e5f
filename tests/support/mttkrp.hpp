// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// MTTKRP beside its definition, for the tests of its strategies.

#include <limits>
#include <sporades/kernels/mttkrp.hpp>
#include <support/backends.hpp>
#include <support/catch.hpp>
#include <support/linear_order.hpp>
#include <support/tensors.hpp>

namespace sporades::test {

inline std::vector<Problem> mttkrp_problems() {
  return {{{5}, 9, 1},
          {{7, 4}, 20, 1},
          {{6, 5, 4}, 40, 1},
          {{40, 3, 50}, 3000, 1},      // several chunks, long rows
          {{2, 300, 200}, 9000, 1},    // two rows: every chunk carries, three levels
          {{500, 400, 300}, 6000, 6},  // one row has most nonzeros; many are empty
          {{9, 8, 1, 6}, 700, 1},      // a mode of length 1
          {{30, 2, 20, 10}, 5000, 2},
          {{5, 4, 3, 4, 5}, 900, 1},
          {{3, 4, 2, 3, 2, 4}, 600, 1},
          {{4, 3}, 0, 1},      // nothing in it
          {{0, 3, 2}, 0, 1}};  // an empty mode
}

/// The definition, in double, and beside each entry the sum of the terms' magnitudes.
template <class Tensor, class FactorList>
void define_mttkrp(Tensor const& X, FactorList const& A, int n, std::size_t R,
                   std::vector<double>& V, std::vector<double>& magnitude) {
  V.assign(X.dims[n] * R, 0);
  magnitude.assign(X.dims[n] * R, 0);
  for (Position p = 0; p < X.nnz(); ++p)
    for (std::size_t r = 0; r < R; ++r) {
      double term = X.values(p);
      for (int m = 0; m < X.order(); ++m)
        if (m != n) term *= A[m](X.coordinates(m, p), r);
      V[X.coordinates(n, p) * R + r] += term;
      magnitude[X.coordinates(n, p) * R + r] += std::abs(term);
    }
}

/// How many entries of V are further from the definition than rounding explains: each of at most
/// nnz terms of N factors and each addition rounds once.
template <class Scalar, class Tensor, class FactorList, class Product>
Position wrong_entries(Tensor const& X, FactorList const& A, int n, std::size_t R,
                       Product const& V) {
  std::vector<double> expected, magnitude;
  define_mttkrp(X, A, n, R, expected, magnitude);
  long double const unit =
      static_cast<long double>(X.nnz() + X.order() + 1) * std::numeric_limits<Scalar>::epsilon();
  Position wrong = 0;
  for (std::size_t i = 0; i < X.dims[n]; ++i)
    for (std::size_t r = 0; r < R; ++r)
      if (!(std::abs(V(i, r) - expected[i * R + r]) <= unit * magnitude[i * R + r])) ++wrong;
  return wrong;
}

/// Tests the products of a plan on every mode, one after another.
template <class Case>
void check_all_modes(Problem const& problem, std::size_t R, MttkrpOptions const& options,
                     bool padded) {
  using Scalar = typename Case::Scalar;
  using Index = typename Case::Index;
  using Exec = typename Case::ExecutionSpace;
  Exec const exec{};
  auto const X = random_coo<Scalar, Index>(exec, problem.dims, problem.nnz, 7, problem.skew);
  auto const A = random_factor_list<Exec, Scalar>(exec, problem.dims, R, padded);
  if (options.strategy == MttkrpStrategy::alto && alto_is_refused(exec, X)) {
    CHECK_THROWS_WITH(make_mttkrp_plan(exec, X, options),
                      Catch::Matchers::ContainsSubstring("alto needs atomics on mode"));
    return;
  }
  auto plan = make_mttkrp_plan(exec, X, options);
  auto const host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  Factors<Scalar, Kokkos::HostSpace> host_A;
  for (auto const& a : A) host_A.push_back(matrix_on_host(a));
  for (int n = 0; n < X.order(); ++n) {
    auto const V = padded ? make_matrix<Scalar>(exec, "V", X.dims[n], R)
                          : Matrix<Scalar, typename Exec::memory_space>("V", X.dims[n], R);
    sporades::detail::fill_view(exec, V, std::numeric_limits<Scalar>::quiet_NaN());
    mttkrp(exec, plan, A, n, V);
    INFO(to_string(problem.dims) << ", nnz " << problem.nnz << ", R " << R << ", mode " << n << ", "
                                 << to_string(options.strategy) << ", "
                                 << to_string(options.rows.order) << (padded ? ", padded" : "")
                                 << (options.rows.atomic_flush ? ", atomic" : ""));
    CHECK(wrong_entries<Scalar>(host, host_A, n, R, matrix_on_host(V)) == 0);
  }
}

}  // namespace sporades::test
