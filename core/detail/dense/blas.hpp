// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <sporades/core/detail/kokkos.hpp>
#include <type_traits>

namespace sporades::detail {

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
///   - what processes share, sums of vectors and products on GPUs: their bits are to be those of
///     one process, and those of cuBLAS depend on the number of rows;
///   - products on hosts, in blocks of rows that have a thread each. `KokkosBatched::SerialGemm`
///     takes 1.7 to 6.9 times as long as our kernels (EPYC with AVX-512). `KokkosBlas::gemm` takes
///     0.58 to 2.3 times as long with OpenBLAS, and 5 to 17 times with the reference BLAS; its bits
///     depend on which BLAS it is, and each call opens a profiling region, which Kokkos Tools does
///     not expect of several threads at once.
template <class ExecutionSpace, class Scalar>
struct Blas {
  static_assert(std::is_same_v<Scalar, float> || std::is_same_v<Scalar, double>,
                "Decompositions take values of float or double, as Kokkos Kernels does.");

  /// max_p |x(p)|, 0 of nothing. Where x holds NaN: NaN, or the |x(p)| of some number. Fences exec.
  static Scalar max_abs(ExecutionSpace const& exec, Scalar const* x, std::size_t count);

  /// y(p) = factor x(p); y may be x. Enqueued on exec.
  static void scale(ExecutionSpace const& exec, Scalar factor, Scalar const* x, Scalar* y,
                    std::size_t count);
};

}  // namespace sporades::detail
