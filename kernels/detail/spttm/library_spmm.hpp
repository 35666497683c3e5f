// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense/vendor_handle.hpp>
#include <sporades/core/error.hpp>
#include <sporades/kernels/detail/spttm/spmm_library.hpp>

// A Kokkos Kernels may be installed without its sparse part. GCC warns of a transposed product in
// it that is never called.
#if __has_include(<KokkosSparse_spmv.hpp>)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_spmv.hpp>
#endif

/// The definitions of LibrarySpmm, for the sources that library_spmm.eti.in makes, and no others.

namespace sporades::detail {

template <class ExecutionSpace, class Scalar>
void LibrarySpmm<ExecutionSpace, Scalar>::multiply(ExecutionSpace const& exec, Rows const& A,
                                                   ConstMatrix const& U, Matrix const& V) {
#if __has_include(<KokkosSparse_spmv.hpp>)
  if constexpr (has_library_spmm<ExecutionSpace, Scalar, std::uint32_t>) {
    using Device = Kokkos::Device<ExecutionSpace, Memory>;
    using Sparse = KokkosSparse::CrsMatrix<Scalar const, int const, Device, Kokkos::MemoryUnmanaged,
                                           Position const>;
    using In = Kokkos::View<Scalar const**, Kokkos::LayoutRight, Device, Kokkos::MemoryUnmanaged>;
    using Out = Kokkos::View<Scalar**, Kokkos::LayoutRight, Device, Kokkos::MemoryUnmanaged>;
    auto const rows = static_cast<std::size_t>(A.count);
    Sparse const matrix("sporades::spttm::rows", A.count, A.columns, A.entries,
                        typename Sparse::values_type(A.values, A.entries),
                        typename Sparse::row_map_type(A.begin, rows + 1),
                        typename Sparse::index_type(A.index, A.entries));
    auto const handle = vendor_handle<ExecutionSpace>();
    if constexpr (kernels_take_instances)
      KokkosSparse::spmv(exec, "N", Scalar(1), matrix, In(U), Scalar(0), Out(V));
    else
      in_default_instance(
          exec, [&] { KokkosSparse::spmv("N", Scalar(1), matrix, In(U), Scalar(0), Out(V)); });
  }
#else
  fail(
      "spttm: strategy spmm_library needs the sparse part of Kokkos Kernels, which this one lacks");
#endif
}

}  // namespace sporades::detail

#include <sporades/eti/library_spmm.hpp>
