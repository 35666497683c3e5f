// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/check_types.hpp>
#include <sporades/formats/detail/out_of_core_coo.hpp>
#include <sporades/formats/hierarchical_tensor.hpp>
#include <sporades/formats/packed_tensor.hpp>
#include <sporades/kernels/detail/windows.hpp>
#include <sporades/kernels/detail/work_items.hpp>

/// Windows of nonzeros in coordinate format that are in out-of-core memory.

namespace sporades::detail {

/// X's nonzeros in out-of-core memory of exec. Fences exec. Throws as allocate_out_of_core.
template <class ExecutionSpace, class Scalar, class Index, class From>
auto to_out_of_core(ExecutionSpace const& exec, CooTensor<Scalar, Index, From> const& X) {
  using OutOfCore = CooTensor<Scalar, Index, WorkSpace<ExecutionSpace, From>>;
  auto const out_of_core =
      allocate_out_of_core_coo<OutOfCore>(exec, X.dims, X.nnz(), X.sorted_modes);
  copy_nonzeros(exec, X, out_of_core.tensor, 0);
  fence(exec, "sporades::coo::to_far");
  return out_of_core;
}

/// Packed nonzeros that are out of core, as coordinates that are, too; their values are shared.
/// Fences exec. Throws as allocate_out_of_core.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
OutOfCoreTensor<CooTensor<Scalar, Index, MemorySpace>> to_out_of_core_coo(
    ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& packed) {
  using Coordinates = typename CooTensor<Scalar, Index, MemorySpace>::Coordinates;
  auto const order = static_cast<std::size_t>(packed.order());
  auto const memory = allocate_out_of_core(exec, order * packed.nnz() * sizeof(Index) + 1);
  Coordinates const coordinates(static_cast<Index*>(memory.get()), order, packed.nnz());
  unpack(exec, packed, coordinates);
  fence(exec, "sporades::packed::to_out_of_core_coo");
  return {{packed.dims, coordinates, packed.values, {packed.row_mode}}, memory};
}

/// As above, of fibers.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
OutOfCoreTensor<CooTensor<Scalar, Index, MemorySpace>> to_out_of_core_coo(
    ExecutionSpace const& exec, HierarchicalTensor<Scalar, Index, MemorySpace> const& H) {
  using Coordinates = typename CooTensor<Scalar, Index, MemorySpace>::Coordinates;
  auto const order = static_cast<std::size_t>(H.order());
  auto const memory = allocate_out_of_core(exec, order * H.nnz() * sizeof(Index) + 1);
  Coordinates const coordinates(static_cast<Index*>(memory.get()), order, H.nnz());
  expand(exec, H, coordinates);
  fence(exec, "sporades::hierarchical::to_out_of_core_coo");
  auto sorted = H.fibers.modes;
  sorted.push_back(H.mode());
  return {{H.dims, coordinates, H.values, sorted}, memory};
}

/// Copies the nonzeros of X from `first` on to a window.
template <class ExecutionSpace, class Tensor>
void copy_to_window(ExecutionSpace const& exec, Tensor const& window, Tensor const& X,
                    Position first) {
  using Indices = Kokkos::View<typename Tensor::Index*, typename Tensor::MemorySpace>;
  Position const count = window.nnz();
  for (int n = 0; n < X.order(); ++n)
    copy_to_window(exec, Indices(window.indices(n), count), Indices(X.indices(n) + first, count));
  copy_to_window(exec, window.values, typename Tensor::Values(X.values.data() + first, count));
}

/// Calls work(exec, part, first) for consecutive parts of X; `first`, a multiple of `block`, is the
/// number in X of the part's first nonzero. Without windows the only part is X. With windows X is
/// in out-of-core memory, and each part is a window; fences exec. The calls only enqueue.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Work>
void for_coo_parts(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                   Windows<MemorySpace>* windows, Position block, Work const& work) {
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  if (windows == nullptr) return work(exec, X, Position{0});
  std::uint64_t const nonzero = X.order() * sizeof(Index) + sizeof(Scalar);
  std::uint64_t const wanted = windows->window_bytes(X.nnz() * nonzero);
  Position const length = std::max<Position>(1, wanted / (nonzero * block)) * block;
  auto const window = [&](char* room, Position w) {
    return place_coo<Tensor>(room, X.dims, std::min(length, X.nnz() - w * length), X.sorted_modes);
  };
  windows->run(
      exec, chunks_of(X.nnz(), length), placed_coo_bytes<Tensor>(X.order(), length),
      [&](auto const& instance, char* room, Position w) {
        copy_to_window(instance, window(room, w), X, w * length);
      },
      [&](auto const& instance, char* room, Position w) {
        work(instance, window(room, w), w * length);
      });
}

}  // namespace sporades::detail
