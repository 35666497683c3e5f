// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/out_of_core_memory.hpp>
#include <sporades/core/matrix.hpp>
#include <sporades/formats/coo_tensor.hpp>

namespace sporades {

/// Semi-sparse coordinate format (sCOO: Ma et al. 2018, section 3.2). Some modes are sparse and the
/// others dense. Each fiber has coordinates in the sparse modes, and a dense block over all dense
/// modes: one row of a matrix, the last dense mode fastest. Any modes may be dense. If all are,
/// there is one block, or none for an empty tensor. Rows are padded as make_matrix pads them, so
/// that kernels load aligned tiles.
template <class ScalarType, class IndexType = std::uint32_t,
          class MemorySpaceType = Kokkos::HostSpace>
struct ScooTensor {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;
  using Coordinates = Kokkos::View<Index**, Kokkos::LayoutRight, MemorySpace>;
  using Values = Matrix<Scalar, MemorySpace>;

  Dims dims;                      // I_0 ... I_{N-1}
  std::vector<int> sparse_modes;  // the mode of each row of coordinates
  std::vector<int> dense_modes;   // the modes of a block, slowest first
  Coordinates coordinates;        // number of sparse modes x fibers
  Values values;                  // fibers x the product of the dense modes' lengths
  std::vector<int> sorted_modes;  // the fibers are in lexicographic order by these sparse modes,
                                  // slowest first; empty if in no known order
  detail::OutOfCoreMemory out_of_core_coordinates =
      {};  // where these are in out-of-core memory: holds it; else empty
  detail::OutOfCoreMemory out_of_core_values = {};

  int order() const { return static_cast<int>(dims.size()); }
  Position fibers() const { return values.extent(0); }
  Position block_size() const { return values.extent(1); }

  /// Coordinates and entries of blocks, without padding.
  std::uint64_t storage_words() const { return fibers() * (sparse_modes.size() + block_size()); }
  /// Bytes of the coordinates and the blocks, padding included.
  std::uint64_t storage_bytes() const {
    return fibers() *
           (sparse_modes.size() * sizeof(Index) + padded_columns(block_size()) * sizeof(Scalar));
  }
};

/// X with these modes dense, in blocks that list them in this order, slowest first. Fibers are
/// sorted by the sparse modes in ascending order of the modes. Every nonzero of X becomes an entry
/// of a block. Values of equal coordinates are added in the order in which they came, in double.
/// All other entries are zero.
/// X's indices are trusted; check_coordinates checks them. Fences exec.
/// Throws Error if a mode is not in [0, N) or is listed twice, or the blocks' bytes overflow 64
/// bits.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
ScooTensor<Scalar, Index, MemorySpace> make_scoo(ExecutionSpace const& exec,
                                                 CooTensor<Scalar, Index, MemorySpace> const& X,
                                                 std::vector<int> const& dense_modes);

/// What to_coo does with entries of blocks that are zero. It cannot tell those that were never set
/// from those that were set to zero.
enum class BlockZeros {
  drop,  // leaves them out
  keep   // makes nonzeros of them, with the value 0
};

/// The entries of all blocks as nonzeros, block by block; NaN is kept in either case.
/// With `drop`, to_coo(exec, make_scoo(exec, X, ...)) has exactly X's nonzeros, except those whose
/// value is 0. With `keep`, make_scoo of the result is exactly Y, empty blocks included.
/// Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             ScooTensor<Scalar, Index, MemorySpace> const& Y,
                                             BlockZeros zeros = BlockZeros::drop);

/// The tensor in the memory space of exec: the same Views if it is there already, else a copy,
/// which fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
ScooTensor<Scalar, Index, typename ExecutionSpace::memory_space> copy_to(
    ExecutionSpace const& exec, ScooTensor<Scalar, Index, MemorySpace> const& Y);

}  // namespace sporades

#include <sporades/formats/detail/scoo_tensor.hpp>
