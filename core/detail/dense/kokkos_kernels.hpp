// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <KokkosBlas1_nrminf.hpp>
#include <KokkosBlas1_scal.hpp>
#include <KokkosBlas3_gemm.hpp>
#include <limits>
#include <sporades/core/detail/dense/blas.hpp>
#include <sporades/core/detail/dense/vendor_handle.hpp>
#include <sporades/core/error.hpp>
#include <utility>

/// The definitions of Blas, for the sources that kokkos_kernels.eti.in makes, and no others.

namespace sporades::detail {

/// A vector in a space's memory. Its device is the space's, so that Kokkos Kernels runs there.
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
  auto const handle = vendor_handle<ExecutionSpace>();
  if (count == 0) return 0;  // nrminf would leave a profiling region open
  Numbers<ExecutionSpace, Scalar const> const in(x, count);
  Scalar largest;
  if constexpr (kernels_take_instances)
    largest = KokkosBlas::nrminf(exec, in);
  else
    in_default_instance(exec, [&] { largest = KokkosBlas::nrminf(in); });
  // The lowest number, where Kokkos' Max begins, is left where all of x is NaN.
  return largest >= 0 ? largest : std::numeric_limits<Scalar>::quiet_NaN();
}

template <class ExecutionSpace, class Scalar>
void Blas<ExecutionSpace, Scalar>::scale(ExecutionSpace const& exec, Scalar factor, Scalar const* x,
                                         Scalar* y, std::size_t count) {
  auto const handle = vendor_handle<ExecutionSpace>();
  Numbers<ExecutionSpace, Scalar const> const in(x, count);
  Numbers<ExecutionSpace, Scalar> const out(y, count);
  if constexpr (kernels_take_instances)
    KokkosBlas::scal(exec, out, factor, in);
  else
    in_default_instance(exec, [&] { KokkosBlas::scal(out, factor, in); });
}

template <class ExecutionSpace, class Scalar>
void Blas<ExecutionSpace, Scalar>::multiply(ExecutionSpace const& exec, ConstMatrix const& A,
                                            ConstMatrix const& B, Matrix const& C, bool adds) {
  auto const handle = vendor_handle<ExecutionSpace>();
  expects(has_vendor_blas<ExecutionSpace>, "Blas::multiply: ", ExecutionSpace::name(),
          " has no vendor's BLAS");
  // As C^T = B^T A^T, by columns, as the vendors' libraries have it.
  if constexpr (has_vendor_blas<ExecutionSpace>)
    KokkosBlas::gemm(exec, "N", "N", Scalar(1), transposed(B), transposed(A), Scalar(adds),
                     transposed(C));
}

template <class ExecutionSpace, class Scalar>
void Blas<ExecutionSpace, Scalar>::transposed_product(ExecutionSpace const& exec,
                                                      ConstMatrix const& A, ConstMatrix const& B,
                                                      Matrix const& C) {
  auto const handle = vendor_handle<ExecutionSpace>();
  expects(has_vendor_blas<ExecutionSpace>, "Blas::transposed_product: ", ExecutionSpace::name(),
          " has no vendor's BLAS");
  // As C^T = B^T A. With "T" as the first flag Kokkos Kernels adds small products by atomics.
  if constexpr (has_vendor_blas<ExecutionSpace>)
    KokkosBlas::gemm(exec, "N", "T", Scalar(1), transposed(B), transposed(A), Scalar(0),
                     transposed(C));
}

}  // namespace sporades::detail

#include <sporades/eti/kokkos_kernels.hpp>
