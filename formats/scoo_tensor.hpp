// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/matrix.hpp>
#include <sporades/formats/sort_coo.hpp>

namespace sporades {

/// Semi-sparse coordinate format (sCOO; Ma et al. 2018, §3.2): coordinates of the sparse modes
/// only, and for each of these fibers a dense block over all dense modes, row-major, as one row of
/// a matrix. Any set of modes may be dense; where all are, there is one block, or none if the
/// tensor is empty. Rows are padded as make_matrix does, so that kernels load aligned tiles.
template <class ScalarType, class IndexType = std::uint32_t,
          class MemorySpaceType = Kokkos::HostSpace>
struct ScooTensor {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;
  using Coordinates = Kokkos::View<Index**, Kokkos::LayoutRight, MemorySpace>;
  using Values = Matrix<Scalar, MemorySpace>;

  Dims dims;                      // I_0 ... I_{N-1}
  std::vector<int> sparse_modes;  // of the rows of coordinates
  std::vector<int> dense_modes;   // of a block, slowest first
  Coordinates coordinates;        // (N - k) x fibers, of k dense modes
  Values values;                  // fibers x the product of the dense dims
  std::vector<int> sorted_modes;  // lexicographic by these sparse modes, slowest first; or empty

  int order() const { return static_cast<int>(dims.size()); }
  Position fibers() const { return values.extent(0); }
  Position block_size() const { return values.extent(1); }

  /// fibers (N - k) + fibers prod(dense dims)
  std::uint64_t storage_words() const { return fibers() * (sparse_modes.size() + block_size()); }
  /// Of the coordinates and the blocks, padding included.
  std::uint64_t storage_bytes() const {
    return fibers() *
           (sparse_modes.size() * sizeof(Index) + padded_columns(block_size()) * sizeof(Scalar));
  }
};

namespace detail {

/// The product of the dense modes' lengths.
inline std::uint64_t block_size(Dims const& dims, std::vector<int> const& dense_modes) {
  std::uint64_t size = 1;
  for (int mode : dense_modes) size = checked_product(size, dims[mode], "ScooTensor: block");
  return size;
}

/// The modes that are not listed, ascending.
inline std::vector<int> other_modes(int order, std::vector<int> const& listed) {
  std::vector<int> others;
  for (int n = 0; n < order; ++n)
    if (std::find(listed.begin(), listed.end(), n) == listed.end()) others.push_back(n);
  return others;
}

/// Where an entry lies in its block, from its coordinates in the dense modes, and back.
struct BlockShape {
  int modes = 0;
  int mode[max_order] = {};
  std::uint64_t dim[max_order] = {};

  BlockShape(Dims const& dims, std::vector<int> const& dense_modes)
      : modes(static_cast<int>(dense_modes.size())) {
    for (int k = 0; k < modes; ++k) {
      mode[k] = dense_modes[k];
      dim[k] = dims[mode[k]];
    }
  }

  template <class Coordinates>
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t place(Coordinates const& coordinates,
                                                  Position p) const {
    std::uint64_t at = 0;
    for (int k = 0; k < modes; ++k) at = at * dim[k] + coordinates(mode[k], p);
    return at;
  }
  template <class Coordinates>
  KOKKOS_FORCEINLINE_FUNCTION void unplace(std::uint64_t at, Coordinates const& coordinates,
                                           Position p) const {
    using Index = typename Coordinates::non_const_value_type;
    for (int k = modes - 1; k >= 0; --k) {
      coordinates(mode[k], p) = static_cast<Index>(at % dim[k]);
      at /= dim[k];
    }
  }
};

/// Nonzeros of one coordinate are added up, in order, and go to their block.
template <class Scoo, class Coordinates>
struct FillBlocks {
  CompareNonzeros<Coordinates> sparse, all;  // by the sparse modes; by all of them
  BlockShape shape;
  Coordinates from;                                                              // N x nnz
  Kokkos::View<typename Scoo::Scalar*, typename Scoo::MemorySpace> values_from;  // nnz
  Kokkos::View<Position*, typename Scoo::MemorySpace> heads;  // nnz: fibers that begin before p
  typename Scoo::Coordinates coordinates;                     // sparse modes x fibers
  typename Scoo::Values values;                               // fibers x block

  KOKKOS_FUNCTION void operator()(Position p) const {
    bool const opens = p == 0 || sparse(p - 1, p) != 0;
    Position const fiber = heads(p) - (opens ? 0 : 1);
    if (opens)
      for (int k = 0; k < sparse.modes; ++k) coordinates(k, fiber) = from(sparse.mode[k], p);
    if (p != 0 && all(p - 1, p) == 0) return;
    auto sum = static_cast<double>(values_from(p));
    for (Position q = p + 1; q < values_from.extent(0) && all(p, q) == 0; ++q)
      sum += static_cast<double>(values_from(q));
    values(fiber, shape.place(from, p)) = static_cast<typename Scoo::Scalar>(sum);
  }
};

/// A semi-sparse tensor of zeros with these sparse coordinates, a row a mode of sparse_modes, which
/// it shares. Allocates on exec. Throws Error unless sparse and dense modes are all modes, each
/// once, and there is one row of coordinates a sparse mode; and where the bytes overflow.
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
          " are said to be sparse or dense");
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

/// X with these modes dense, in blocks that list them in this order, slowest first; fibers sorted
/// by the other modes, ascending. Every nonzero of X becomes an entry of a block; equal coordinates
/// are added up in the order in which they came; all other entries are zero. Fences exec. X's
/// indices are trusted: check_coordinates checks them. Throws Error if a mode is not in [0, N) or
/// listed twice.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
ScooTensor<Scalar, Index, MemorySpace> make_scoo(ExecutionSpace const& exec,
                                                 CooTensor<Scalar, Index, MemorySpace> const& X,
                                                 std::vector<int> const& dense_modes) {
  using Scoo = ScooTensor<Scalar, Index, MemorySpace>;
  using Coordinates = typename CooTensor<Scalar, Index, MemorySpace>::Coordinates;
  using Range = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>;
  detail::check_modes(dense_modes, X.order(), "make_scoo");
  auto const sparse_modes = detail::other_modes(X.order(), dense_modes);
  auto all = sparse_modes;
  all.insert(all.end(), dense_modes.begin(), dense_modes.end());
  auto const S = sorted(exec, X, all);

  detail::CompareNonzeros<Coordinates> const by_sparse(S.coordinates, sparse_modes);
  auto const heads = detail::uninitialized<Kokkos::View<Position*, MemorySpace>>(
      exec, "sporades::scoo::heads", S.nnz());
  Kokkos::parallel_for("sporades::scoo::mark_heads", Range(exec, 0, S.nnz()),
                       detail::MarkHeads<Coordinates>{by_sparse, heads});
  Position const fibers = detail::exclusive_scan_total(exec, heads);
  auto const coordinates = detail::uninitialized<typename Scoo::Coordinates>(
      exec, "sporades::scoo::coordinates", sparse_modes.size(), fibers);
  Scoo Y =
      detail::allocate_scoo<Scalar, Index>(exec, X.dims, sparse_modes, dense_modes, coordinates);
  Y.sorted_modes = sparse_modes;
  Kokkos::parallel_for("sporades::scoo::fill_blocks", Range(exec, 0, S.nnz()),
                       detail::FillBlocks<Scoo, Coordinates>{by_sparse,
                                                             {S.coordinates, all},
                                                             {X.dims, dense_modes},
                                                             S.coordinates,
                                                             S.values,
                                                             heads,
                                                             Y.coordinates,
                                                             Y.values});
  detail::fence(exec, "sporades::scoo::make");
  return Y;
}

/// What becomes of entries of blocks that are zero: such as were never set cannot be told from such
/// as were set to zero.
enum class BlockZeros { drop, keep };

/// The entries of all blocks, block by block, as nonzeros: those that are not 0 (NaN among them),
/// or all where zeros are kept. With `drop`, to_coo(make_scoo(X)) holds X's nonzeros exactly, but
/// for explicit zeros; with `keep`, make_scoo(to_coo(Y)) is Y exactly, empty blocks included.
/// Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             ScooTensor<Scalar, Index, MemorySpace> const& Y,
                                             BlockZeros zeros = BlockZeros::drop) {
  using Range = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>;
  Position const size = Y.block_size();
  auto const values = Y.values;
  auto const from = Y.coordinates;
  bool const keeps = zeros == BlockZeros::keep;
  auto const first = detail::uninitialized<Kokkos::View<Position*, MemorySpace>>(
      exec, "sporades::scoo::first", Y.fibers());
  Kokkos::parallel_for(
      "sporades::scoo::count", Range(exec, 0, Y.fibers()), KOKKOS_LAMBDA(Position f) {
        Position count = 0;
        for (Position k = 0; k < size; ++k) count += keeps || values(f, k) != Scalar(0) ? 1 : 0;
        first(f) = count;
      });
  Position const nnz = detail::exclusive_scan_total(exec, first);
  auto X = detail::allocate_coo<Scalar, Index>(exec, Y.dims, nnz);
  auto const to = X.coordinates;
  auto const values_to = X.values;
  detail::BlockShape const shape(Y.dims, Y.dense_modes);
  Kokkos::Array<int, max_order> mode{};
  int const sparse = static_cast<int>(Y.sparse_modes.size());
  for (int k = 0; k < sparse; ++k) mode[k] = Y.sparse_modes[k];
  Kokkos::parallel_for(
      "sporades::scoo::expand", Range(exec, 0, Y.fibers()), KOKKOS_LAMBDA(Position f) {
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

/// The tensor in the memory space of exec; the same Views where it lies there already. A copy
/// fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
ScooTensor<Scalar, Index, typename ExecutionSpace::memory_space> copy_to(
    ExecutionSpace const& exec, ScooTensor<Scalar, Index, MemorySpace> const& Y) {
  using Target = ScooTensor<Scalar, Index, typename ExecutionSpace::memory_space>;
  if constexpr (std::is_same_v<typename Target::MemorySpace, MemorySpace>) {
    return Y;
  } else {
    auto const coordinates = detail::uninitialized<typename Target::Coordinates>(
        exec, "sporades::scoo::coordinates", Y.coordinates.extent(0), Y.coordinates.extent(1));
    Kokkos::deep_copy(exec, coordinates, Y.coordinates);
    return {Y.dims,        Y.sparse_modes, Y.dense_modes, coordinates, copy_matrix(exec, Y.values),
            Y.sorted_modes};
  }
}

}  // namespace sporades
