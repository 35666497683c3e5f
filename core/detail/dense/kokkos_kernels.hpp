// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <KokkosBlas1_dot.hpp>
#include <KokkosBlas1_nrminf.hpp>
#include <KokkosBlas1_scal.hpp>
#include <KokkosBlas3_gemm.hpp>
#include <sporades/core/detail/dense/blas.hpp>
#include <utility>

/// The definitions of Blas, for the sources that kokkos_kernels.eti.in makes, and no others.

namespace sporades::detail {

/// So many numbers of a space's memory; of its device, so that Kokkos Kernels runs there.
template <class ExecutionSpace, class Scalar>
using Numbers =
    Kokkos::View<Scalar*, Kokkos::Device<ExecutionSpace, typename ExecutionSpace::memory_space>,
                 Kokkos::MemoryUnmanaged>;

/// A^T, as a View of A's memory by columns.
template <class MatrixType>
auto transposed(MatrixType const& A) {
  using ByColumns = Kokkos::View<typename MatrixType::data_type, Kokkos::LayoutLeft,
                                 typename MatrixType::memory_space, Kokkos::MemoryUnmanaged>;
  ByColumns const whole_rows(A.data(), A.stride(0), A.extent(0));
  return ByColumns(
      Kokkos::subview(whole_rows, std::make_pair(std::size_t{0}, A.extent(1)), Kokkos::ALL));
}

template <class ExecutionSpace, class Scalar>
Scalar Blas<ExecutionSpace, Scalar>::max_abs(ExecutionSpace const& exec, Scalar const* x,
                                             std::size_t count) {
  Numbers<ExecutionSpace, Scalar const> const in(x, count);
  if constexpr (kernels_take_instances)
    return KokkosBlas::nrminf(exec, in);
  else
    return KokkosBlas::nrminf(in);
}

template <class ExecutionSpace, class Scalar>
void Blas<ExecutionSpace, Scalar>::scale(ExecutionSpace const& exec, Scalar factor, Scalar const* x,
                                         Scalar* y, std::size_t count) {
  Numbers<ExecutionSpace, Scalar const> const in(x, count);
  Numbers<ExecutionSpace, Scalar> const out(y, count);
  if constexpr (kernels_take_instances)
    KokkosBlas::scal(exec, out, factor, in);
  else
    KokkosBlas::scal(out, factor, in);
}

template <class ExecutionSpace, class Scalar>
Scalar Blas<ExecutionSpace, Scalar>::dot([[maybe_unused]] ExecutionSpace const& exec,
                                         Scalar const* x, Scalar const* y, std::size_t count) {
  using In = Numbers<ExecutionSpace, Scalar const>;
  if constexpr (is_gpu<ExecutionSpace>)
    return KokkosBlas::dot(exec, In(x, count), In(y, count));
  else
    return 0;
}

template <class ExecutionSpace, class Scalar>
void Blas<ExecutionSpace, Scalar>::multiply(ExecutionSpace const& exec, ConstMatrix const& A,
                                            ConstMatrix const& B, Matrix const& C, bool adds) {
  // As C^T = B^T A^T, by columns, as the vendors' libraries have it.
  if constexpr (has_vendor_blas<ExecutionSpace>)
    KokkosBlas::gemm(exec, "N", "N", Scalar(1), transposed(B), transposed(A), Scalar(adds),
                     transposed(C));
}

template <class ExecutionSpace, class Scalar>
void Blas<ExecutionSpace, Scalar>::transposed_product(ExecutionSpace const& exec,
                                                      ConstMatrix const& A, ConstMatrix const& B,
                                                      Matrix const& C) {
  // As C^T = B^T A. With "T" as the first flag Kokkos Kernels adds small products by atomics.
  if constexpr (has_vendor_blas<ExecutionSpace>)
    KokkosBlas::gemm(exec, "N", "T", Scalar(1), transposed(B), transposed(A), Scalar(0),
                     transposed(C));
}

}  // namespace sporades::detail
