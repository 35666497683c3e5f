// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/launch.hpp>
#include <sporades/formats/detail/row_major.hpp>
#include <sporades/formats/scoo_tensor.hpp>
#include <sporades/formats/sort_coo.hpp>

namespace sporades {
namespace detail {

/// Entries of a block: the product of the dense modes' lengths. Throws Error if it overflows.
inline std::uint64_t block_size(Dims const& dims, std::vector<int> const& dense_modes) {
  std::uint64_t size = 1;
  for (int mode : dense_modes) size = checked_product(size, dims[mode], "ScooTensor: block");
  return size;
}

/// The first of equal nonzeros adds up all their values, in order, and stores the sum in its block.
/// The first nonzero of a fiber also stores the fiber's coordinates.
template <class Scoo, class Coordinates>
struct FillBlocks {
  CompareNonzeros<Coordinates> sparse, all;  // by the sparse modes; by all of them
  RowMajor shape;
  Coordinates from;                                                              // N x nnz
  Kokkos::View<typename Scoo::Scalar*, typename Scoo::MemorySpace> values_from;  // nnz
  Kokkos::View<Position*, typename Scoo::MemorySpace> before;  // nnz: fibers that begin before p
  typename Scoo::Coordinates coordinates;                      // sparse modes x fibers
  typename Scoo::Values values;                                // fibers x block

  KOKKOS_FUNCTION void operator()(Position p) const {
    bool const begins_fiber = sparse.begins_run(p);
    Position const fiber = before(p) - (begins_fiber ? 0 : 1);
    if (begins_fiber)
      for (int k = 0; k < sparse.modes; ++k) coordinates(k, fiber) = from(sparse.mode[k], p);
    if (!all.begins_run(p)) return;
    values(fiber, shape.place(from, p)) =
        static_cast<typename Scoo::Scalar>(sum_of_run(all, values_from, p));
  }
};

/// A semi-sparse tensor of zeros with these sparse coordinates, one row a mode of sparse_modes. It
/// shares the coordinates. Allocates on exec. Throws Error if
/// - a mode is not in exactly one of the two lists,
/// - the coordinates do not have one row a sparse mode, or
/// - the bytes of the blocks overflow 64 bits.
template <class Scalar, class Index, class ExecutionSpace, class MemorySpace>
ScooTensor<Scalar, Index, MemorySpace> allocate_scoo(
    ExecutionSpace const& exec, Dims const& dims, std::vector<int> const& sparse_modes,
    std::vector<int> const& dense_modes,
    Kokkos::View<Index**, Kokkos::LayoutRight, MemorySpace> const& coordinates) {
  check_dims<Index>(dims, "ScooTensor");
  auto all = sparse_modes;
  all.insert(all.end(), dense_modes.begin(), dense_modes.end());
  check_modes(all, static_cast<int>(dims.size()), "ScooTensor");
  expects(all.size() == dims.size(), "ScooTensor: ", all.size(), " modes of ", dims.size(),
          " are listed as sparse or dense");
  expects(coordinates.extent(0) == sparse_modes.size(), "ScooTensor: ", coordinates.extent(0),
          " rows of coordinates for ", sparse_modes.size(), " sparse modes");
  auto const size = block_size(dims, dense_modes);
  Position const fibers = coordinates.extent(1);
  checked_product(checked_product(fibers, size + 3, "ScooTensor: entries"), sizeof(Scalar),
                  "ScooTensor: bytes");
  return {dims,
          sparse_modes,
          dense_modes,
          coordinates,
          make_matrix<Scalar>(exec, "sporades::scoo::values", fibers, size),
          {}};
}

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
ScooTensor<Scalar, Index, MemorySpace> make_scoo(ExecutionSpace const& exec,
                                                 CooTensor<Scalar, Index, MemorySpace> const& X,
                                                 std::vector<int> const& dense_modes) {
  using Scoo = ScooTensor<Scalar, Index, MemorySpace>;
  using Coordinates = typename CooTensor<Scalar, Index, MemorySpace>::Coordinates;
  detail::check_modes(dense_modes, X.order(), "make_scoo");
  auto const sparse_modes = detail::other_modes(dense_modes, X.order());
  auto all = sparse_modes;
  all.insert(all.end(), dense_modes.begin(), dense_modes.end());
  auto const S = sorted(exec, X, all);

  detail::CompareNonzeros<Coordinates> const by_sparse(S.coordinates, sparse_modes);
  auto const fibers = detail::number_runs(exec, by_sparse, S.nnz());
  auto const coordinates = detail::uninitialized<typename Scoo::Coordinates>(
      exec, "sporades::scoo::coordinates", sparse_modes.size(), fibers.count);
  Scoo Y =
      detail::allocate_scoo<Scalar, Index>(exec, X.dims, sparse_modes, dense_modes, coordinates);
  Y.sorted_modes = sparse_modes;
  detail::launch_items(exec, "sporades::scoo::fill_blocks", S.nnz(),
                       detail::FillBlocks<Scoo, Coordinates>{by_sparse,
                                                             {S.coordinates, all},
                                                             {X.dims, dense_modes},
                                                             S.coordinates,
                                                             S.values,
                                                             fibers.before,
                                                             Y.coordinates,
                                                             Y.values});
  detail::fence(exec, "sporades::scoo::make");
  return Y;
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             ScooTensor<Scalar, Index, MemorySpace> const& Y,
                                             BlockZeros zeros) {
  Position const size = Y.block_size();
  auto const values = Y.values;
  auto const from = Y.coordinates;
  bool const keeps = zeros == BlockZeros::keep;
  auto const first = detail::uninitialized<Kokkos::View<Position*, MemorySpace>>(
      exec, "sporades::scoo::first", Y.fibers());
  detail::launch_items(
      exec, "sporades::scoo::count", Y.fibers(), KOKKOS_LAMBDA(Position f) {
        Position count = 0;
        for (Position k = 0; k < size; ++k) count += keeps || values(f, k) != Scalar(0) ? 1 : 0;
        first(f) = count;
      });
  Position const nnz = detail::exclusive_scan_total(exec, first);
  auto X = detail::allocate_coo<Scalar, Index>(exec, Y.dims, nnz);
  auto const to = X.coordinates;
  auto const values_to = X.values;
  detail::RowMajor const shape(Y.dims, Y.dense_modes);
  Kokkos::Array<int, max_order> mode{};
  int const sparse = static_cast<int>(Y.sparse_modes.size());
  for (int k = 0; k < sparse; ++k) mode[k] = Y.sparse_modes[k];
  detail::launch_items(
      exec, "sporades::scoo::expand", Y.fibers(), KOKKOS_LAMBDA(Position f) {
        Position p = first(f);
        for (Position k = 0; k < size; ++k) {
          if (!keeps && values(f, k) == Scalar(0)) continue;
          for (int s = 0; s < sparse; ++s) to(mode[s], p) = from(s, f);
          shape.unplace(k, to, p);
          values_to(p) = values(f, k);
          ++p;
        }
      });
  if (Y.sorted_modes.size() == Y.sparse_modes.size()) {
    X.sorted_modes = Y.sorted_modes;
    X.sorted_modes.insert(X.sorted_modes.end(), Y.dense_modes.begin(), Y.dense_modes.end());
  }
  detail::fence(exec, "sporades::scoo::to_coo");
  return X;
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
ScooTensor<Scalar, Index, typename ExecutionSpace::memory_space> copy_to(
    ExecutionSpace const& exec, ScooTensor<Scalar, Index, MemorySpace> const& Y) {
  using Target = ScooTensor<Scalar, Index, typename ExecutionSpace::memory_space>;
  if constexpr (std::is_same_v<typename Target::MemorySpace, MemorySpace>) {
    return Y;
  } else {
    detail::fence_source<MemorySpace>(exec, "sporades::scoo::source");
    auto const coordinates = detail::uninitialized<typename Target::Coordinates>(
        exec, "sporades::scoo::coordinates", Y.coordinates.extent(0), Y.coordinates.extent(1));
    detail::copy_view(exec, coordinates, Y.coordinates);
    return {Y.dims,        Y.sparse_modes, Y.dense_modes, coordinates, copy_matrix(exec, Y.values),
            Y.sorted_modes};
  }
}

// What is no CooTensor is refused.
template <class ExecutionSpace>
ScooTensor<double, std::uint32_t, typename ExecutionSpace::memory_space> make_scoo(
    ExecutionSpace const&, detail::NotCoo, std::vector<int> const&) {
  return {};
}

}  // namespace sporades
