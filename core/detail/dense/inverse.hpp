// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/core/detail/dense/blocks.hpp>
#include <sporades/core/detail/dense/jacobi.hpp>
#include <sporades/core/detail/lapack.hpp>

namespace sporades::detail {
using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;

// The kind of a system H, as invert_system says it: the sum of those that hold.
inline constexpr int pseudo_inverse_kind = 1;   // it is numerically singular
inline constexpr int ill_conditioned_kind = 2;  // its reciprocal condition is below the square root
                                                // of epsilon
inline constexpr int factor_kind = 4;           // in place of the inverse its factor U is given

/// What V is multiplied by to solve A H = V: see invert_system and multiply_by_inverse.
template <class Memory>
struct InvertedSystem {
  using Square = Kokkos::View<double**, Kokkos::LayoutRight, Memory>;

  Square inverse;                     // n x n: the inverse, or U
  Square transposed;                  // n x n: U^T where there is a U; or none, if none is wanted
  Kokkos::View<double, Memory> kind;  // of the system
};

/// One team inverts one symmetric n x n matrix, in double, by the sweep operator: Gauss-Jordan
/// elimination without pivoting that keeps the matrix symmetric. Its pivots are those of Cholesky.
/// M and its work are in scratch memory where they fit, else in `memory` with the rest.
/// Goodnight, The American Statistician 33(3), 1979; stable for positive definite matrices: Higham,
/// Accuracy and Stability of Numerical Algorithms, 2nd ed., 14.4.
template <class ExecutionSpace>
struct InvertByTeam {
  using Memory = typename ExecutionSpace::memory_space;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;

  Kokkos::View<double const**, Kokkos::LayoutRight, Memory> H;  // n x n
  InvertedSystem<Memory> to;
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
      for_square(team, n, [&](int i, int j) { to.inverse(i, j) = norm - norm; });
      report(team, 0);
      return;
    }
    bool const may_factor = to.transposed.data() != nullptr;
    bool const is_swept = sweep(team, n, M, work);
    double const condition = is_swept ? norm * one_norm(team, n, M, work) : 0;
    if (is_swept && 1 >= n * epsilon * condition) {
      int const kind = 1 < math::sqrt(epsilon) * condition ? ill_conditioned_kind : 0;
      if (!(may_factor && is_beyond_inverse(condition))) {
        for_square(team, n, [&](int i, int j) { to.inverse(i, j) = -M[i * n + j]; });
        report(team, kind);
        return;
      }
      team.team_barrier();
      load(team, n, M);
      if (cholesky(team, n, M, work)) {
        invert_triangle(team, n, M);
        report(team, kind + factor_kind);
        return;
      }
    }
    team.team_barrier();
    load(team, n, M);
    jacobi_eigen(team, n, M, vectors, work);
    int const kind = pseudo_inverse_kind + ill_conditioned_kind;
    pseudo_inverse(team, n, M, vectors, work, may_factor);
    if (may_factor) factor_pseudo_inverse(team, n, M, vectors, work);
    report(team, kind + (may_factor ? factor_kind : 0));
  }

  KOKKOS_INLINE_FUNCTION void report(Member const& team, int kind) const {
    Kokkos::single(Kokkos::PerTeam(team), [&] { to.kind() = kind; });
  }

  /// Whether a matrix of this condition number gets a pseudo-inverse, as inverse_or_pseudo_inverse
  /// decides it.
  static KOKKOS_INLINE_FUNCTION bool is_beyond_inverse(double condition) {
    return 1 < 1.4901161193847656e-8 * condition;
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

  /// L with M = L L^T in M's lower triangle; false where a pivot is not positive.
  KOKKOS_INLINE_FUNCTION bool cholesky(Member const& team, int n, double* M, double* work) const {
    for (int k = 0; k < n; ++k) {
      double const pivot = M[k * n + k];
      if (!(pivot > 0)) return false;
      double const root = math::sqrt(pivot);
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, k, n),
                           [&](int i) { work[i] = i == k ? root : M[i * n + k] / root; });
      team.team_barrier();
      for_square(team, n, [&](int i, int j) {
        if (i < k || j < k || j > i) return;
        if (j == k)
          M[i * n + k] = work[i];
        else
          M[i * n + j] -= work[i] * work[j];
      });
      team.team_barrier();
    }
    return true;
  }

  /// U = L^-T, a row by one lane.
  KOKKOS_INLINE_FUNCTION void invert_triangle(Member const& team, int n, double const* L) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int j) {
      for (int i = 0; i < n; ++i) {
        double sum = i == j ? -1 : 0;
        for (int k = j; k < i; ++k) sum += L[i * n + k] * to.inverse(j, k);
        put(j, i, i < j ? 0 : -sum / L[i * n + i]);
      }
    });
  }

  KOKKOS_INLINE_FUNCTION void put(int row, int column, double value) const {
    to.inverse(row, column) = value;
    to.transposed(column, row) = value;
  }

  /// sum over the eigenvalues on M's diagonal past n epsilon max of vector vector^T / value; only
  /// the reciprocals of these where the factor is wanted
  KOKKOS_INLINE_FUNCTION void pseudo_inverse(Member const& team, int n, double const* M,
                                             double const* vectors, double* reciprocals,
                                             bool only_reciprocals) const {
    double largest = 0;
    for (int k = 0; k < n; ++k)
      if (M[k * n + k] > largest) largest = M[k * n + k];
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int k) {
      double const value = M[k * n + k];
      reciprocals[k] = value > n * epsilon * largest ? 1 / value : 0;
    });
    team.team_barrier();
    if (only_reciprocals) return;
    for_square(team, n, [&](int i, int j) {
      double sum = 0;
      for (int k = 0; k < n; ++k)
        if (reciprocals[k] > 0) sum += vectors[k * n + i] * vectors[k * n + j] * reciprocals[k];
      to.inverse(i, j) = sum;
    });
  }

  /// U with U U^T = the pseudo-inverse, as upper_triangle of the host makes it. M: overwritten.
  KOKKOS_INLINE_FUNCTION void factor_pseudo_inverse(Member const& team, int n, double* M,
                                                    double const* vectors,
                                                    double const* reciprocals) const {
    for_square(team, n, [&](int i, int k) {
      M[i * n + k] = vectors[k * n + i] * math::sqrt(reciprocals[k]);
      put(i, k, 0);
    });
    team.team_barrier();
    for (int i = n - 1; i >= 0; --i) {
      double const* const row = M + static_cast<std::size_t>(i) * n;
      double squares = 0;
      for (int k = 0; k < n; ++k) squares += row[k] * row[k];
      double const length = math::sqrt(squares);
      if (!(length > 0)) continue;
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, i + 1), [&](int j) {
        if (j == i) return put(i, i, length);
        double* const other = M + static_cast<std::size_t>(j) * n;
        double product = 0;
        for (int k = 0; k < n; ++k) product += other[k] * (row[k] / length);
        put(j, i, product);
        for (int k = 0; k < n; ++k) other[k] -= product * (row[k] / length);
      });
      team.team_barrier();
    }
  }
};

/// The device's way of invert_system, on any backend.
template <class ExecutionSpace, class Input, class Memory>
void invert_by_team(ExecutionSpace const& exec, Input const& H, double ridge, double epsilon,
                    InvertedSystem<Memory> const& to, Workspace<Memory>& workspace) {
  using Kernel = InvertByTeam<ExecutionSpace>;
  std::size_t const n = H.extent(0);
  auto const memory = workspace.template get<double>(exec, Kernel::doubles(n));
  std::size_t const bytes = Kernel::near_doubles(n) * sizeof(double);
  bool const in_scratch =
      bytes + 256 <=
      static_cast<std::size_t>(Kokkos::TeamPolicy<ExecutionSpace>::scratch_size_max(0));
  Kernel const kernel{H, to, ridge, epsilon, memory.data(), in_scratch};
  // 32 lanes a thread on GPUs: 512 lanes for small matrices, whose barriers then cost less.
  int const threads = is_gpu<ExecutionSpace> ? (n <= 64 ? 16 : 32) : 8;
  Kokkos::parallel_for("sporades::dense::invert",
                       team_policy(exec, kernel, 1, threads, in_scratch ? bytes : 0), kernel);
}

/// The host's way of invert_system: LAPACK. Fences exec; where the memory is not the host's, the
/// matrices are copied there and back.
template <class ExecutionSpace, class Input, class Memory>
void invert_on_host(ExecutionSpace const& exec, Input const& H, double ridge, double epsilon,
                    InvertedSystem<Memory> const& to) {
  std::size_t const n = H.extent(0), row = H.stride(0);
  double const* from = H.data();
  std::vector<double> copy;
  if constexpr (is_gpu<ExecutionSpace>) {  // rows with their padding: one contiguous piece
    copy.resize((n - 1) * row + n);
    copy_view(exec, Kokkos::View<double*, Kokkos::HostSpace, Unmanaged>(copy.data(), copy.size()),
              Kokkos::View<double const*, Memory, Unmanaged>(H.data(), copy.size()));
    from = copy.data();
  }
  fence(exec, "sporades::dense::invert_on_host");
  std::vector<double> matrix(n * n);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) sum += matrix[i * n + j] = from[i * row + j];
  // What is not finite becomes NaN, as on the device.
  SymmetricInverse inverted{std::vector<double>(n * n, sum - sum), false, 0, 1};
  if (std::isfinite(sum))
    inverted = inverse_or_pseudo_inverse(std::move(matrix), static_cast<int>(n), ridge, epsilon,
                                         to.transposed.data() != nullptr);
  int const kind = (inverted.is_pseudo ? pseudo_inverse_kind : 0) +
                   (inverted.reciprocal_condition < std::sqrt(epsilon) ? ill_conditioned_kind : 0) +
                   (inverted.is_factor ? factor_kind : 0);
  auto const put = [&](auto const& square, bool transposes) {
    std::size_t const stride = square.stride(0);
    std::vector<double> padded;
    double* entries = square.data();
    if constexpr (is_gpu<ExecutionSpace>) {
      padded.resize((n - 1) * stride + n);
      entries = padded.data();
    }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        entries[i * stride + j] = inverted.inverse[transposes ? j * n + i : i * n + j];
    if constexpr (is_gpu<ExecutionSpace>) {
      copy_view(exec, Kokkos::View<double*, Memory, Unmanaged>(square.data(), padded.size()),
                Kokkos::View<double const*, Kokkos::HostSpace, Unmanaged>(entries, padded.size()));
      fence(exec, "sporades::dense::invert_on_host");
    }
  };
  put(to.inverse, false);
  if (inverted.is_factor) put(to.transposed, true);
  if constexpr (is_gpu<ExecutionSpace>) {
    fill_view(exec, to.kind, static_cast<double>(kind));
    fence(exec, "sporades::dense::invert_on_host");
  } else {
    to.kind() = kind;
  }
}

/// inverse = (H + ridge I)^-1 of a positive semidefinite H, or its pseudo-inverse without the
/// eigenvalues <= n epsilon max where the reciprocal condition in the 1-norm is below n epsilon.
/// epsilon: relative error of the V that it will be applied to. Where `transposed` is given and the
/// reciprocal condition is below the square root of double's epsilon, the upper triangular U with
/// inverse = U U^T comes in the inverse's place, and U^T: see multiply_by_inverse. kind() says
/// which it is. A matrix that is not finite gives NaN. H: n x n doubles, n >= 1; inverse and
/// transposed: n x n, rows contiguous, alias not H; columns past n that pad their rows are zeros or
/// become so. About 2 n^3 flops, in double, with the same bits on any number of threads. On a GPU
/// enqueued on exec, without a fence, except where the workspace grows; a GPU's n > 256, which is
/// too much for one team, and the CPUs' matrices go to LAPACK on the host
/// (inverse_or_pseudo_inverse), which fences. Throws Error if the shapes disagree.
/// KokkosLapack::gesv (cuSOLVER on an H200) takes 6.7, 4.4 and 2.1 times as long for n = 16, 32 and
/// 64, and 0.65 and 0.14 times for 128 and 256; it allocates and fences in each call, and does not
/// say which matrices are numerically singular.
template <class ExecutionSpace, class Input, class Memory>
void invert_system(ExecutionSpace const& exec, Input const& H, double ridge, double epsilon,
                   InvertedSystem<Memory> const& to, Workspace<Memory>& workspace) {
  std::size_t const n = H.extent(0);
  auto const is_square = [n](auto const& M) { return M.extent(0) == n && M.extent(1) == n; };
  expects(n > 0 && is_square(H) && is_square(to.inverse) &&
              (to.transposed.data() == nullptr || is_square(to.transposed)),
          "invert_system: H is ", n, " x ", H.extent(1), ", its inverse ", to.inverse.extent(0),
          " x ", to.inverse.extent(1));
  if constexpr (is_gpu<ExecutionSpace>)
    if (n <= 256) {
      invert_by_team(exec, H, ridge, epsilon, to, workspace);
      return;
    }
  invert_on_host(exec, H, ridge, epsilon, to);
}

}  // namespace sporades::detail
