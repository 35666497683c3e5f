// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/out_of_core_memory.hpp>
#include <sporades/formats/coo_tensor.hpp>

/// Nonzeros in coordinate format in out-of-core memory.

namespace sporades::detail {

/// A tensor whose nonzeros may lie in out-of-core memory, which this holds then.
template <class Tensor>
struct OutOfCoreTensor {
  Tensor tensor;
  OutOfCoreMemory memory;
};

/// Bytes of a CooTensor at place_coo's alignment, at most.
template <class Tensor>
std::uint64_t placed_coo_bytes(int order, Position nnz) {
  return nnz * (order * sizeof(typename Tensor::Index) + sizeof(typename Tensor::Scalar)) + 512;
}

/// A tensor whose nonzeros lie in this memory.
template <class Tensor>
Tensor place_coo(void* memory, Dims const& dims, Position nnz,
                 std::vector<int> const& sorted_modes) {
  MemoryLayout layout(memory);
  auto* const coordinates = layout.room<typename Tensor::Index>(dims.size() * nnz);
  auto* const values = layout.room<typename Tensor::Scalar>(nnz);
  return {dims, typename Tensor::Coordinates(coordinates, dims.size(), nnz),
          typename Tensor::Values(values, nnz), sorted_modes};
}

/// A tensor with room for nnz nonzeros in out-of-core memory of exec. Throws as
/// allocate_out_of_core.
template <class Tensor, class ExecutionSpace>
OutOfCoreTensor<Tensor> allocate_out_of_core_coo(ExecutionSpace const& exec, Dims const& dims,
                                                 Position nnz,
                                                 std::vector<int> const& sorted_modes = {}) {
  auto const memory =
      allocate_out_of_core(exec, placed_coo_bytes<Tensor>(static_cast<int>(dims.size()), nnz));
  return {place_coo<Tensor>(memory.get(), dims, nnz, sorted_modes), memory};
}

/// Room for nnz values in out-of-core memory of exec, whose owner goes to `memory`. Throws as
/// allocate_out_of_core.
template <class Values, class ExecutionSpace>
Values allocate_out_of_core_values(ExecutionSpace const& exec, Position nnz,
                                   OutOfCoreMemory& memory) {
  using Scalar = typename Values::non_const_value_type;
  memory = allocate_out_of_core(exec, (nnz + 1) * sizeof(Scalar));
  return Values(static_cast<Scalar*>(memory.get()), nnz);
}

/// Nonzeros begin to end - 1 of X, which share its memory.
template <class Tensor>
Tensor part_of(Tensor const& X, Position begin, Position end) {
  auto const places = std::make_pair(begin, end);
  return {X.dims, Kokkos::subview(X.coordinates, Kokkos::ALL, places),
          Kokkos::subview(X.values, places), X.sorted_modes};
}

/// Copies the nonzeros of X to those of Y from number `first` on. Enqueued on exec.
template <class ExecutionSpace, class From, class To>
void copy_nonzeros(ExecutionSpace const& exec, From const& X, To const& Y, Position first) {
  auto const part = part_of(Y, first, first + X.nnz());
  for (int n = 0; n < X.order(); ++n)  // one copy takes only what has no gaps
    copy_view(exec, Kokkos::subview(part.coordinates, n, Kokkos::ALL),
              Kokkos::subview(X.coordinates, n, Kokkos::ALL));
  copy_view(exec, part.values, X.values);
}

}  // namespace sporades::detail
