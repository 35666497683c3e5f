// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <limits>
#include <sporades/core/detail/kokkos.hpp>
#include <type_traits>

namespace sporades::detail {

/// True where vendors' libraries multiply matrices of so many rows. They take extents as int. For
/// 20,000 rows cuBLAS is faster than our kernels (H200). When it took short matrices as well, an
/// iteration of CP-ALS was 4 % slower on a tensor with modes of 24 to 1,717 rows.
inline constexpr bool takes_blas_rows(std::uint64_t rows) {
  return rows >= std::uint64_t{1} << 14 && rows <= std::numeric_limits<int>::max();
}

/// What the library calls of Kokkos Kernels. Defined in kokkos_kernels.hpp, whose includes are slow
/// to compile. The library holds it for every execution space of Kokkos, in float and in double,
/// whatever SPORADES_ENABLE_SERIAL and SPORADES_SCALARS say.
///
/// The library calls what gives the same bits on every run and on any number of threads, and is as
/// fast as kernels of ours or faster; figures stand beside those. Therefore it does not call
///   - sums of columns and of vectors on hosts: their order depends on the number of threads;
///   - `dot` and `sum` of the columns of matrices on GPUs, which add by atomics: their bits change
///     from run to run;
///   - sums of floats: Kokkos Kernels adds them in float, and the library in double;
///   - what processes share, sums of vectors and A^T A: their bits are to be those of one process;
///   - products on hosts, in blocks of rows that have a thread each. `KokkosBatched::SerialGemm`
///     takes 1.7 to 6.9 times as long as our kernels (EPYC with AVX-512). `KokkosBlas::gemm` takes
///     0.58 to 2.3 times as long with OpenBLAS, and 5 to 17 times with the reference BLAS; its bits
///     depend on which BLAS it is, and each call opens a profiling region, which Kokkos Tools does
///     not expect of several threads at once.
template <class ExecutionSpace, class Scalar>
struct Blas {
  static_assert(std::is_same_v<Scalar, float> || std::is_same_v<Scalar, double>,
                "Decompositions take values of float or double, as Kokkos Kernels does.");
  using Memory = typename ExecutionSpace::memory_space;
  using ConstMatrix = Kokkos::View<Scalar const**, Kokkos::LayoutRight, Memory>;
  using Matrix = Kokkos::View<Scalar**, Kokkos::LayoutRight, Memory>;

  /// max_p |x(p)|, 0 of nothing. Where x holds NaN: NaN, or the |x(p)| of some number. Fences exec.
  static Scalar max_abs(ExecutionSpace const& exec, Scalar const* x, std::size_t count);

  /// y(p) = factor x(p); y may be x. Enqueued on exec.
  static void scale(ExecutionSpace const& exec, Scalar factor, Scalar const* x, Scalar* y,
                    std::size_t count);

  /// C = A B, or C += A B where `adds`. At most as many rows as an int holds; C shares no memory
  /// with A or B. Enqueued on exec. Throws Error unless has_vendor_blas<ExecutionSpace>.
  static void multiply(ExecutionSpace const& exec, ConstMatrix const& A, ConstMatrix const& B,
                       Matrix const& C, bool adds);

  /// C = A^T B, as multiply.
  static void transposed_product(ExecutionSpace const& exec, ConstMatrix const& A,
                                 ConstMatrix const& B, Matrix const& C);
};

}  // namespace sporades::detail
