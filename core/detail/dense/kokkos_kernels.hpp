// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <KokkosBlas1_nrminf.hpp>
#include <KokkosBlas1_scal.hpp>
#include <limits>
#include <sporades/core/detail/dense/blas.hpp>
#include <sporades/core/detail/dense/vendor_handle.hpp>

/// The definitions of Blas, for the sources that kokkos_kernels.eti.in makes, and no others.

namespace sporades::detail {

/// A vector in a space's memory. Its device is the space's, so that Kokkos Kernels runs there.
template <class ExecutionSpace, class Scalar>
using Numbers =
    Kokkos::View<Scalar*, Kokkos::Device<ExecutionSpace, typename ExecutionSpace::memory_space>,
                 Kokkos::MemoryUnmanaged>;

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

}  // namespace sporades::detail

#include <sporades/eti/kokkos_kernels.hpp>
