// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/launch.hpp>
#include <sporades/formats/hierarchical_tensor.hpp>
#include <sporades/formats/packed_tensor.hpp>

/// The parts of the bytes that Cost (core/types.hpp) defines. tests/bytes counts what kernels
/// touch, and compares.

namespace sporades::detail {

/// used(i) = 1 for each index i. Indices past the rows are the padding of a format.
template <class IndexOf, class MemorySpace>
struct MarkUsed {
  IndexOf index;  // of nonzero p: index(p)
  Kokkos::View<std::uint8_t*, MemorySpace> used;

  KOKKOS_FUNCTION void operator()(Position p) const {
    auto const i = static_cast<Position>(index(p));
    if (i < used.extent(0) && used(i) == 0) used(i) = 1;  // by whichever thread: all write the same
  }
};

template <class MemorySpace>
struct CountUsed {
  Kokkos::View<std::uint8_t*, MemorySpace> used;

  KOKKOS_FUNCTION void operator()(Position i, Position& count) const { count += used(i); }
};

/// How many of a mode's rows `nonzeros` nonzeros use: index(p) is that of nonzero p. One pass over
/// them, and a byte a row. Fences exec.
template <class ExecutionSpace, class IndexOf>
double used_rows(ExecutionSpace const& exec, std::uint64_t rows, Position nonzeros,
                 IndexOf const& index) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  using Used = Kokkos::View<std::uint8_t*, MemorySpace>;
  if (nonzeros == 0) return 0;
  auto const used = zeroed<Used>(exec, "sporades::cost::used", rows);
  launch_items(exec, "sporades::cost::mark_used", nonzeros,
               MarkUsed<IndexOf, MemorySpace>{index, used});
  Position count = 0;
  Kokkos::parallel_reduce("sporades::cost::count_used", Range<ExecutionSpace>(exec, 0, rows),
                          CountUsed<MemorySpace>{used}, count);
  fence(exec, "sporades::cost::used_rows");
  return static_cast<double>(count);
}

/// How many rows of mode n the nonzeros of X use. One pass over them, and a byte a row. Fences
/// exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
double used_rows(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                 int n) {
  return used_rows(
      exec, X.dims[n], X.nnz(),
      Kokkos::View<Index const*, MemorySpace, Kokkos::MemoryUnmanaged>(X.indices(n), X.nnz()));
}

/// Bytes of the words and the values of packed nonzeros.
template <class Scalar, class Index, class MemorySpace>
double nonzero_bytes(PackedTensor<Scalar, Index, MemorySpace> const& X) {
  return static_cast<double>(X.nnz() * sizeof(Scalar) + X.narrow.extent(0) * 4 +
                             X.wide.extent(0) * 8);
}

/// Bytes that say which items are in which fiber, and their indices. by_windows: fibers are told by
/// a bit an item and the fiber of every 32nd, as the warps of a GPU read them; else by their
/// beginnings.
template <class Index, class MemorySpace>
double fiber_bytes(Fibers<Index, MemorySpace> const& fibers, bool by_windows) {
  std::uint64_t const ranges =
      by_windows ? fibers.marks.extent(0) * sizeof(Position) + fibers.heads.extent(0) * 4
                 : fibers.begin.extent(0) * sizeof(Position);
  return static_cast<double>(fibers.items() == 0 ? 0 : fibers.items() * sizeof(Index) + ranges);
}

}  // namespace sporades::detail
