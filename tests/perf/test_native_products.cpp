// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <limits>
#include <sporades/kernels/phi.hpp>
#include <support/catch.hpp>
#include <support/tensors.hpp>

#include "../../perf/support/native_products.hpp"

// The loops without Kokkos that sporades_perf measures beside the library's kernels compute the
// same.

using namespace sporades;
using namespace sporades::perf;
using namespace sporades::test;

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;

/// Entries in [0.1, 1.1); rows `stride` entries apart.
template <class Scalar>
Matrix<Scalar, Memory> positive_matrix(std::size_t rows, std::size_t R, std::size_t stride,
                                       unsigned seed) {
  Matrix<Scalar, Memory> const A("A", rows, stride);
  auto const host = Kokkos::create_mirror_view(A);
  auto const from =
      random_matrix<Scalar>(Kokkos::DefaultHostExecutionSpace{}, rows, stride, seed, false);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t r = 0; r < stride; ++r) host(i, r) = from(i, r) + Scalar(0.6);
  Kokkos::deep_copy(A, host);
  return Kokkos::subview(A, Kokkos::ALL, std::make_pair(std::size_t{0}, R));
}

template <class Scalar>
void check_native(Problem const& problem, std::size_t R, std::size_t stride, double epsilon) {
  Exec const exec{};
  auto const X =
      random_coo<Scalar, std::uint32_t>(exec, problem.dims, problem.nnz, 7, problem.skew);
  auto const values = on_host(X.values);
  for (Position p = 0; p < problem.nnz; ++p) values(p) = std::abs(values(p));
  Kokkos::deep_copy(X.values, values);
  Factors<Scalar, Memory> A, B;
  for (std::size_t m = 0; m < X.dims.size(); ++m) {
    A.push_back(positive_matrix<Scalar>(X.dims[m], R, stride, 100 + static_cast<unsigned>(m)));
    B.push_back(positive_matrix<Scalar>(X.dims[m], R, stride, 200 + static_cast<unsigned>(m)));
  }
  // All terms are positive: each rounds once a factor and column, and a sum once a term.
  double const unit = 2 * static_cast<double>(problem.nnz + 2 * X.dims.size() + R) *
                      static_cast<double>(std::numeric_limits<Scalar>::epsilon());
  for (int n = 0; n < X.order(); ++n) {
    auto const by_row = sorted(exec, X, {n});
    auto const W = make_matrix<Scalar>(exec, "W", X.dims[n], R);
    auto const V = positive_matrix<Scalar>(X.dims[n], R, stride, 1);  // to be overwritten
    auto const compare = [&](auto loop, auto const& tensor) {
      exec.fence();
      native_run<loop()>(native_product(tensor, A, B[n], n, V, epsilon));
      Kokkos::fence();
      auto const native = matrix_on_host(V), library = matrix_on_host(W);
      Position wrong = 0;
      for (std::size_t i = 0; i < X.dims[n]; ++i)
        for (std::size_t r = 0; r < R; ++r) {
          double const exact = static_cast<double>(library(i, r));
          if (!(std::abs(static_cast<double>(native(i, r)) - exact) <= unit * exact)) ++wrong;
        }
      INFO(to_string(problem.dims)
           << ", nnz " << problem.nnz << ", R " << R << " of " << stride << ", mode " << n
           << ", loop " << static_cast<int>(loop()) << ", bytes " << sizeof(Scalar));
      CHECK(wrong == 0);
    };
    mttkrp(exec, X, A, n, W, MttkrpStrategy::atomic);
    compare(std::integral_constant<NativeLoop, NativeLoop::mttkrp_atomic>{}, X);
    phi(exec, X, A, B[n], n, W, epsilon);
    compare(std::integral_constant<NativeLoop, NativeLoop::phi_atomic>{}, X);
    compare(std::integral_constant<NativeLoop, NativeLoop::phi_pull>{}, by_row);
  }
}

std::vector<Problem> native_problems() {
  return {{{5}, 9, 1},
          {{7, 4}, 20, 1},
          {{6, 5, 4}, 1, 1},
          {{2, 300, 200}, 6000, 1},    // two rows: all threads share them
          {{500, 400, 300}, 6000, 6},  // one row has most nonzeros; many are empty
          {{30, 2, 20, 10}, 5000, 2},
          {{5, 4, 3, 4, 5}, 900, 1},
          {{3, 4, 2, 3, 2, 4}, 600, 1},
          {Dims(16, 3), 500, 1},
          {{4, 3, 2}, 0, 1}};
}

}  // namespace

TEMPLATE_TEST_CASE("loops without Kokkos compute what mttkrp and phi do", "[perf][native]", float,
                   double) {
  for (auto const& problem : native_problems())
    for (std::size_t R : {1, 16, 17, 32, 64, 300})
      for (std::size_t stride : {R, (R + 7) / 4 * 4})
        check_native<TestType>(problem, R, stride, 1e-10);
}

TEMPLATE_TEST_CASE("loops without Kokkos divide by epsilon where the model is below it",
                   "[perf][native]", float, double) {
  for (std::size_t R : {3, 16}) check_native<TestType>({{6, 5, 4}, 60, 1}, R, R, R * 0.4);
}
