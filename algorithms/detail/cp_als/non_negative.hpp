// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense.hpp>
#include <sporades/core/detail/launch.hpp>

namespace sporades::detail {

/// Row i: a = argmin over a >= 0 of a H a^T - 2 v a^T by coordinate descent, from the present
/// row times the weights, so that the fit never falls. g = v - a H is kept up to date, and a step
/// of coordinate r goes to max(0, a_r + g_r / H_rr). Ends when a sweep gains less than a thousandth
/// of the best sweep. A column whose curvature is 0 is left as it is. Hierarchical ALS: Cichocki &
/// Phan, IEICE E92-A(3), 2009; the stopping rule: Gillis & Glineur, Neural Computation 24(4), 2012.
/// Rows are independent: any number of threads gives the same bits.
template <class ExecutionSpace, class Scalar>
struct NonNegativeRows {
  static constexpr int most_sweeps = 50;
  using Memory = typename ExecutionSpace::memory_space;

  Kokkos::View<Scalar const**, Kokkos::LayoutRight, Memory> V, H;  // I x R, R x R
  Kokkos::View<double const*, Memory> weights;                     // R
  Matrix<Scalar, Memory> A, gradient;                              // I x R

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    std::uint64_t const R = A.extent(1);
    Scalar* const a = &A(i, 0);
    Scalar* const g = &gradient(i, 0);
    for (std::uint64_t r = 0; r < R; ++r) g[r] = V(i, r);
    for (std::uint64_t r = 0; r < R; ++r) {
      a[r] *= static_cast<Scalar>(weights(r));
      if (a[r] != 0) subtract(a[r], r, g);
    }
    double best = 0;
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
      double gain = 0;
      for (std::uint64_t r = 0; r < R; ++r) {
        Scalar const curvature = H(r, r);
        if (!(curvature > 0)) continue;
        Scalar const target = a[r] + g[r] / curvature;
        Scalar const step = (target > 0 ? target : Scalar{0}) - a[r];
        if (step == 0) continue;
        a[r] = target > 0 ? target : Scalar{0};
        subtract(step, r, g);
        gain +=
            static_cast<double>(step) * static_cast<double>(step) * static_cast<double>(curvature);
      }
      if (gain > best) best = gain;
      if (gain <= 1e-3 * best) break;
    }
  }

  /// g -= step H(r, :)
  KOKKOS_INLINE_FUNCTION void subtract(Scalar step, std::uint64_t r, Scalar* g) const {
    Scalar const* const h = &H(r, 0);
#pragma omp simd
    for (std::uint64_t k = 0; k < H.extent(1); ++k) g[k] -= step * h[k];
  }
};

/// A = argmin over A >= 0 of ||X_(n) - A K^T||, from A diag(weights), where V = X_(n) K and
/// H = K^T K. V, A, gradient (scratch): I x R; H: R x R; weights: R doubles. Enqueued on exec.
template <class ExecutionSpace, class Scalar, class MemorySpace, class Weights>
void solve_non_negative(ExecutionSpace const& exec, Matrix<Scalar, MemorySpace> const& V,
                        Matrix<Scalar, MemorySpace> const& H, Weights const& weights,
                        Matrix<Scalar, MemorySpace> const& A,
                        Matrix<Scalar, MemorySpace> const& gradient) {
  launch_items(exec, "sporades::cp_als::non_negative", A.extent(0),
               NonNegativeRows<ExecutionSpace, Scalar>{V, H, weights, A, gradient});
}

}  // namespace sporades::detail
