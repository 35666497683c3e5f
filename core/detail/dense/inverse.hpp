// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/core/detail/dense/blocks.hpp>
#include <sporades/core/detail/dense/jacobi.hpp>
#include <sporades/core/detail/lapack.hpp>

namespace sporades::detail {
using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;

/// One team inverts one symmetric n x n matrix, in double, by the sweep operator: Gauss-Jordan
/// elimination without pivoting that keeps the matrix symmetric. Its pivots are those of Cholesky.
/// M and its work are in scratch memory where they fit, else in `memory` with the rest.
/// Goodnight, The American Statistician 33(3), 1979; stable for positive definite matrices: Higham,
/// Accuracy and Stability of Numerical Algorithms, 2nd ed., 14.4.
template <class ExecutionSpace, class Scalar>
struct InvertByTeam {
  using Memory = typename ExecutionSpace::memory_space;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;

  Kokkos::View<double const**, Kokkos::LayoutRight, Memory> H;  // n x n
  Kokkos::View<Scalar**, Kokkos::LayoutRight, Memory> inverse;  // n x n
  Kokkos::View<double, Memory> singular;
  double ridge, epsilon;
  double* memory;  // doubles(n)
  bool in_scratch;

  static KOKKOS_INLINE_FUNCTION std::size_t near_doubles(std::size_t n) { return n * n + 3 * n; }
  static std::size_t doubles(std::size_t n) { return n * n + near_doubles(n); }

  KOKKOS_FUNCTION void operator()(Member const& team) const {
    int const n = static_cast<int>(H.extent(0));
    double* const vectors = memory;  // of eigenvectors, n x n
    double* const M =
        in_scratch
            ? static_cast<double*>(team.team_scratch(0).get_shmem(near_doubles(n) * sizeof(double)))
            : memory + static_cast<std::size_t>(n) * n;
    double* const work = M + static_cast<std::size_t>(n) * n;
    load(team, n, M);
    double const norm = one_norm(team, n, M, work);
    if (!(norm - norm == 0)) {  // not finite: nor is anything that comes of it
      for_square(team, n, [&](int i, int j) { inverse(i, j) = static_cast<Scalar>(norm - norm); });
      report(team, 0);
      return;
    }
    if (sweep(team, n, M, work) && 1 >= n * epsilon * norm * one_norm(team, n, M, work)) {
      for_square(team, n,
                 [&](int i, int j) { inverse(i, j) = static_cast<Scalar>(-M[i * n + j]); });
      report(team, 0);
      return;
    }
    team.team_barrier();
    load(team, n, M);
    jacobi_eigen(team, n, M, vectors, work);
    pseudo_inverse(team, n, M, vectors, work);
    report(team, 1);
  }

  KOKKOS_INLINE_FUNCTION void report(Member const& team, double value) const {
    Kokkos::single(Kokkos::PerTeam(team), [&] { singular() = value; });
  }

  KOKKOS_INLINE_FUNCTION void load(Member const& team, int n, double* M) const {
    for_square(team, n, [&](int i, int j) { M[i * n + j] = H(i, j) + (i == j ? ridge : 0); });
    team.team_barrier();
  }

  /// The largest column sum of magnitudes; NaN or infinity where M holds one.
  KOKKOS_INLINE_FUNCTION double one_norm(Member const& team, int n, double const* M,
                                         double* sums) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int j) {
      double sum = 0;
      for (int i = 0; i < n; ++i) sum += math::abs(M[i * n + j]);
      sums[j] = sum;
    });
    team.team_barrier();
    double largest = 0, all = 0;
    for (int j = 0; j < n; ++j) {
      all += sums[j];
      if (sums[j] > largest) largest = sums[j];
    }
    team.team_barrier();
    return all - all == 0 ? largest : all;
  }

  /// M = -M^-1; false where a pivot is not positive. Whoever writes column k + 1 sets it aside, so
  /// that a step needs one barrier.
  KOKKOS_INLINE_FUNCTION bool sweep(Member const& team, int n, double* M, double* work) const {
    double* column = work;
    double* next = work + n;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int i) { column[i] = M[i * n]; });
    team.team_barrier();
    for (int k = 0; k < n; ++k) {
      double const pivot = column[k];
      if (!(pivot > 0)) return false;
      double const factor = 1 / pivot;
      for_square(team, n, [&](int i, int j) {
        double& entry = M[i * n + j];
        if (i == k)
          entry = j == k ? -factor : column[j] * factor;
        else if (j == k)
          entry = column[i] * factor;
        else
          entry -= column[i] * (column[j] * factor);  // whose product may be past the range
        if (j == k + 1) next[i] = entry;
      });
      team.team_barrier();
      double* const done = column;
      column = next;
      next = done;
    }
    return true;
  }

  /// sum over the eigenvalues on M's diagonal past n epsilon max of vector vector^T / value
  KOKKOS_INLINE_FUNCTION void pseudo_inverse(Member const& team, int n, double const* M,
                                             double const* vectors, double* reciprocals) const {
    double largest = 0;
    for (int k = 0; k < n; ++k)
      if (M[k * n + k] > largest) largest = M[k * n + k];
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int k) {
      double const value = M[k * n + k];
      reciprocals[k] = value > n * epsilon * largest ? 1 / value : 0;
    });
    team.team_barrier();
    for_square(team, n, [&](int i, int j) {
      double sum = 0;
      for (int k = 0; k < n; ++k)
        if (reciprocals[k] > 0) sum += vectors[k * n + i] * vectors[k * n + j] * reciprocals[k];
      inverse(i, j) = static_cast<Scalar>(sum);
    });
  }
};

/// The device's way of invert_system, on any backend.
template <class ExecutionSpace, class Input, class Output, class Flag, class Memory>
void invert_by_team(ExecutionSpace const& exec, Input const& H, double ridge, Output const& inverse,
                    Flag const& singular, Workspace<Memory>& workspace) {
  using Scalar = typename Output::non_const_value_type;
  using Kernel = InvertByTeam<ExecutionSpace, Scalar>;
  std::size_t const n = H.extent(0);
  auto const memory = workspace.template get<double>(exec, Kernel::doubles(n));
  std::size_t const bytes = Kernel::near_doubles(n) * sizeof(double);
  bool const in_scratch =
      bytes + 256 <=
      static_cast<std::size_t>(Kokkos::TeamPolicy<ExecutionSpace>::scratch_size_max(0));
  Kernel const kernel{H,
                      inverse,
                      singular,
                      ridge,
                      static_cast<double>(std::numeric_limits<Scalar>::epsilon()),
                      memory.data(),
                      in_scratch};
  // 32 lanes a thread on GPUs: 512 lanes for small matrices, whose barriers then cost less.
  int const threads = is_gpu<ExecutionSpace> ? (n <= 64 ? 16 : 32) : 8;
  Kokkos::parallel_for("sporades::dense::invert",
                       team_policy(exec, kernel, 1, threads, in_scratch ? bytes : 0), kernel);
}

/// The host's way of invert_system: LAPACK. Fences exec; where the memory is not the host's, the
/// matrices are copied there and back.
template <class ExecutionSpace, class Input, class Output, class Flag>
void invert_on_host(ExecutionSpace const& exec, Input const& H, double ridge, Output const& inverse,
                    Flag const& singular) {
  using Scalar = typename Output::non_const_value_type;
  using Memory = typename ExecutionSpace::memory_space;
  std::size_t const n = H.extent(0), row = H.stride(0), out_row = inverse.stride(0);
  double const* from = H.data();
  Scalar* to = inverse.data();
  std::vector<double> copy;
  std::vector<Scalar> result;
  if constexpr (is_gpu<ExecutionSpace>) {  // rows with their padding: one contiguous piece
    copy.resize((n - 1) * row + n);
    result.resize((n - 1) * out_row + n);
    copy_view(exec, Kokkos::View<double*, Kokkos::HostSpace, Unmanaged>(copy.data(), copy.size()),
              Kokkos::View<double const*, Memory, Unmanaged>(H.data(), copy.size()));
    from = copy.data();
    to = result.data();
  }
  fence(exec, "sporades::dense::invert_on_host");
  std::vector<double> matrix(n * n);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) sum += matrix[i * n + j] = from[i * row + j];
  // What is not finite becomes NaN, as on the device.
  SymmetricInverse inverted{std::vector<double>(n * n, sum - sum), false, 0, 0};
  if (std::isfinite(sum))
    inverted =
        inverse_or_pseudo_inverse(std::move(matrix), static_cast<int>(n), ridge,
                                  static_cast<double>(std::numeric_limits<Scalar>::epsilon()));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      to[i * out_row + j] = static_cast<Scalar>(inverted.inverse[i * n + j]);
  if constexpr (is_gpu<ExecutionSpace>) {
    copy_view(exec, Kokkos::View<Scalar*, Memory, Unmanaged>(inverse.data(), result.size()),
              Kokkos::View<Scalar const*, Kokkos::HostSpace, Unmanaged>(to, result.size()));
    fill_view(exec, singular, inverted.is_pseudo ? 1.0 : 0.0);
    fence(exec, "sporades::dense::invert_on_host");
  } else {
    singular() = inverted.is_pseudo ? 1 : 0;
  }
}

/// inverse = (H + ridge I)^-1 of a positive semidefinite H, or its pseudo-inverse without the
/// eigenvalues <= n epsilon max where the reciprocal condition in the 1-norm is below n epsilon;
/// then singular() = 1, else 0. epsilon: that of inverse's scalar type. A matrix that is not finite
/// gives NaN. H: n x n doubles, n >= 1; inverse: n x n, rows contiguous, aliases not H; columns
/// past n that pad its rows are zeros or become so. About 2 n^3 flops, in double, with the same
/// bits on any number of threads. On a GPU enqueued on exec, without a fence but where the
/// workspace grows; a GPU's n > 256, which is too much for one team, and the CPUs' matrices go to
/// LAPACK on the host (inverse_or_pseudo_inverse), which fences. Throws Error if the shapes
/// disagree.
/// KokkosLapack::gesv (cuSOLVER on an H200) takes 6.7, 4.4 and 2.1 times as long for n = 16, 32 and
/// 64, and 0.65 and 0.14 times for 128 and 256; it allocates and fences in each call, and does not
/// say which matrices are numerically singular.
template <class ExecutionSpace, class Input, class Output, class Flag, class Memory>
void invert_system(ExecutionSpace const& exec, Input const& H, double ridge, Output const& inverse,
                   Flag const& singular, Workspace<Memory>& workspace) {
  expects(H.extent(0) > 0 && H.extent(0) == H.extent(1) && inverse.extent(0) == H.extent(0) &&
              inverse.extent(1) == H.extent(0),
          "invert_system: H is ", H.extent(0), " x ", H.extent(1), ", its inverse ",
          inverse.extent(0), " x ", inverse.extent(1));
  if constexpr (is_gpu<ExecutionSpace>)
    if (H.extent(0) <= 256) {
      invert_by_team(exec, H, ridge, inverse, singular, workspace);
      return;
    }
  invert_on_host(exec, H, ridge, inverse, singular);
}

}  // namespace sporades::detail
