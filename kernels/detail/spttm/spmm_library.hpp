// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <sporades/core/detail/check_types.hpp>
#include <sporades/execution_spaces.hpp>
#include <sporades/formats/hierarchical_tensor.hpp>
#include <type_traits>

/// Strategy `spmm_library`: KokkosSparse::spmv on the fibers as a matrix in compressed sparse rows,
/// which are not copied.

namespace sporades::detail {

/// True where the library is compiled with LibrarySpmm. Half a minute of the compiler's time goes
/// into each, therefore the host has it once, and for 32-bit indices alone.
template <class ExecutionSpace, class Scalar, class Index>
inline constexpr bool has_library_spmm =
    std::is_same_v<Index, std::uint32_t>&& is_one_of<Scalar, Scalars>&&
        is_one_of<ExecutionSpace, ExecutionSpaces> &&
    (is_gpu<ExecutionSpace> || std::is_same_v<ExecutionSpace, Kokkos::DefaultHostExecutionSpace>);

/// What the library calls of Kokkos Kernels' sparse part. Defined in library_spmm.hpp, whose
/// includes are slow to compile.
template <class ExecutionSpace, class Scalar>
struct LibrarySpmm {
  using Memory = typename ExecutionSpace::memory_space;
  using ConstMatrix = Kokkos::View<Scalar const**, Kokkos::LayoutRight, Memory>;
  using Matrix = Kokkos::View<Scalar**, Kokkos::LayoutRight, Memory>;

  /// A matrix in compressed sparse rows, in the types of Kokkos Kernels: signed columns.
  struct Rows {
    int count, columns;
    Position entries;
    Position const* begin;  // count + 1
    int const* index;
    Scalar const* values;
  };

  /// V = A U; at least one entry. Enqueued on exec; fences it before Kokkos Kernels 4.5.
  static void multiply(ExecutionSpace const& exec, Rows const& A, ConstMatrix const& U,
                       Matrix const& V);
};

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void spttm_spmm_library(ExecutionSpace const& exec,
                        HierarchicalTensor<Scalar, Index, MemorySpace> const& X,
                        Matrix<Scalar, MemorySpace> const& U,
                        Matrix<Scalar, MemorySpace> const& V) {
  if constexpr (has_library_spmm<ExecutionSpace, Scalar, Index>) {
    constexpr Position most = std::numeric_limits<int>::max();
    expects(V.extent(0) <= most && U.extent(0) <= most,
            "spttm: strategy spmm_library takes at most ", most, " fibers and rows of U, not ",
            V.extent(0), " and ", U.extent(0));
    if (X.nnz() == 0) return;
    LibrarySpmm<ExecutionSpace, Scalar>::multiply(
        exec,
        {static_cast<int>(V.extent(0)), static_cast<int>(U.extent(0)), X.nnz(),
         X.fibers.begin.data(), reinterpret_cast<int const*>(X.fibers.index.data()),
         X.values.data()},
        U, V);
  } else {
    fail("spttm: strategy spmm_library is compiled for 32-bit indices and ",
         Kokkos::DefaultHostExecutionSpace::name(), " or a GPU, not for ", 8 * sizeof(Index),
         "-bit indices, ", 8 * sizeof(Scalar), "-bit values and ", ExecutionSpace::name());
  }
}

}  // namespace sporades::detail
