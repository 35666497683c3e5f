// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <limits>
#include <sporades/core/detail/kokkos.hpp>

namespace sporades::detail {

/// The vendors' libraries take extents as int.
inline constexpr std::uint64_t most_blas_rows = std::numeric_limits<int>::max();

/// What the library calls of Kokkos Kernels. Defined in kokkos_kernels.hpp, whose includes are slow
/// to compile: it is compiled into the library, once for each execution space and scalar type.
///
/// Used is what gives the same bits on every run and on any number of threads. Kernels of ours do
/// the rest, and what they do faster; the figures stand beside them. Not used are, therefore:
///   - sums of columns and vectors on hosts, whose order depends on the number of threads;
///   - `dot` and `sum` of the columns of matrices on GPUs, which add by atomics: other bits on each
///     run of an H200;
///   - sums of floats, which Kokkos Kernels adds in float, and the library in double;
///   - products of blocks of rows on hosts, one thread each. `KokkosBatched::SerialGemm` takes 1.6
///     to 7 times as long as our kernels (EPYC with AVX-512). `KokkosBlas::gemm` takes 0.5 to 2.5
///     times as long with OpenBLAS, and 5 to 17 times with the reference BLAS; its bits depend on
///     which BLAS it is, and each call opens a profiling region, which Kokkos Tools does not expect
///     of several threads at once.
template <class ExecutionSpace, class Scalar>
struct Blas {
  static_assert(std::is_same_v<Scalar, float> || std::is_same_v<Scalar, double>,
                "The library holds its calls of Kokkos Kernels for float and double.");
  using Memory = typename ExecutionSpace::memory_space;
  using ConstMatrix = Kokkos::View<Scalar const**, Kokkos::LayoutRight, Memory>;
  using Matrix = Kokkos::View<Scalar**, Kokkos::LayoutRight, Memory>;

  /// max_p |x(p)|, 0 of nothing; NaN or some |x(p)| where x holds NaN. Fences exec.
  static Scalar max_abs(ExecutionSpace const& exec, Scalar const* x, std::size_t count);

  /// y(p) = factor x(p); y may be x. Enqueued on exec.
  static void scale(ExecutionSpace const& exec, Scalar factor, Scalar const* x, Scalar* y,
                    std::size_t count);

  /// sum_p x(p) y(p), summed in Scalar; for GPUs. Fences exec.
  static Scalar dot(ExecutionSpace const& exec, Scalar const* x, Scalar const* y,
                    std::size_t count);

  /// C = A B, or C += A B where `adds`; where has_vendor_blas. At most most_blas_rows rows; C
  /// shares no memory with A or B. Enqueued on exec.
  static void multiply(ExecutionSpace const& exec, ConstMatrix const& A, ConstMatrix const& B,
                       Matrix const& C, bool adds);

  /// C = A^T B, as multiply.
  static void transposed_product(ExecutionSpace const& exec, ConstMatrix const& A,
                                 ConstMatrix const& B, Matrix const& C);
};

}  // namespace sporades::detail
