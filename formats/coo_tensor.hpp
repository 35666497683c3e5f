// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/types.hpp>

namespace sporades {

/// Coordinate format: N coordinate arrays (a structure of arrays) and the values.
/// Nonzero p is X(coordinates(0, p), ..., coordinates(N-1, p)) = values(p). Indices count from 0.
template <class ScalarType, class IndexType = std::uint32_t,
          class MemorySpaceType = Kokkos::HostSpace>
struct CooTensor {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;
  using Coordinates = Kokkos::View<Index**, Kokkos::LayoutRight, MemorySpace>;
  using Values = Kokkos::View<Scalar*, MemorySpace>;

  Dims dims;                      // I_0 ... I_{N-1}
  Coordinates coordinates;        // N x nnz
  Values values;                  // nnz
  std::vector<int> sorted_modes;  // lexicographic by these modes, slowest first; empty: no order

  int order() const { return static_cast<int>(dims.size()); }
  Position nnz() const { return values.extent(0); }

  /// (N + 1) nnz
  std::uint64_t storage_words() const { return (dims.size() + 1) * nnz(); }
  std::uint64_t storage_bytes() const {
    return (dims.size() * sizeof(Index) + sizeof(Scalar)) * nnz();
  }
};

/// An unsorted tensor of these dims with room for nnz nonzeros, contents undefined.
/// Allocates on exec. Throws Error if the order or a mode does not fit.
template <class Scalar, class Index, class ExecutionSpace>
CooTensor<Scalar, Index, typename ExecutionSpace::memory_space> allocate_coo(
    ExecutionSpace const& exec, Dims const& dims, Position nnz) {
  check_dims<Index>(dims, "CooTensor");
  using Tensor = CooTensor<Scalar, Index, typename ExecutionSpace::memory_space>;
  return {dims,
          uninitialized<typename Tensor::Coordinates>(exec, "sporades::coo::coordinates",
                                                      dims.size(), nnz),
          uninitialized<typename Tensor::Values>(exec, "sporades::coo::values", nnz),
          {}};
}

/// The tensor in the memory space of exec; the same Views where it lies there already.
/// Enqueued on exec; a copy from or to the host fences it.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, typename ExecutionSpace::memory_space> copy_to(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X) {
  using Target = typename ExecutionSpace::memory_space;
  if constexpr (std::is_same_v<Target, MemorySpace>) {
    return X;
  } else {
    auto Y = allocate_coo<Scalar, Index>(exec, X.dims, X.nnz());
    Kokkos::deep_copy(exec, Y.coordinates, X.coordinates);
    Kokkos::deep_copy(exec, Y.values, X.values);
    Y.sorted_modes = X.sorted_modes;
    fence(exec, "sporades::coo::copy_to");
    return Y;
  }
}

}  // namespace sporades
