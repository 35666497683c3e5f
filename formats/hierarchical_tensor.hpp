// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/out_of_core_memory.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <sporades/formats/detail/storage_words.hpp>

namespace sporades {

/// The non-empty fibers of one mode. Items are nonzeros, or blocks of a semi-sparse tensor. A fiber
/// is a range of items whose coordinates agree in all other sparse modes. Fiber f holds the items
/// begin(f) to begin(f + 1) - 1; item p has index index(p) in the fibers' mode.
template <class IndexType, class MemorySpaceType>
struct Fibers {
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;
  using Coordinates = Kokkos::View<Index**, Kokkos::LayoutRight, MemorySpace>;

  static constexpr Position mark_distance = 32;

  int mode = 0;                                // n, along which the fibers run
  std::vector<int> modes;                      // the others, slowest of the fibers' order first
  Coordinates coordinates;                     // in these modes: (K - 1) x fibers
  Kokkos::View<Position*, MemorySpace> begin;  // fibers + 1
  Kokkos::View<Index*, MemorySpace> index;     // items
  Kokkos::View<Position*, MemorySpace> marks;  // the fiber of every mark_distance-th item
  /// Bit p % 32 of word p / 32 is set if item p begins a fiber. Bit items() is set, too. There is
  /// one word more than there are marks.
  Kokkos::View<std::uint32_t*, MemorySpace> heads;
  Position longest = 0;  // items of the longest fiber

  Position count() const { return coordinates.extent(1); }
  Position items() const { return index.extent(0); }

  std::uint64_t storage_bytes() const {
    return (coordinates.size() + items()) * sizeof(Index) +
           (begin.extent(0) + marks.extent(0)) * sizeof(Position) +
           heads.extent(0) * sizeof(std::uint32_t);
  }
};

/// A tensor by the fibers of one mode n (Ahmad et al. 2024). fibers.begin, fibers.index and values
/// are a matrix, fibers x I_n, in compressed sparse rows.
template <class ScalarType, class IndexType = std::uint32_t,
          class MemorySpaceType = Kokkos::HostSpace>
struct HierarchicalTensor {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  Dims dims;                                  // I_0 ... I_{N-1}
  Fibers<Index, MemorySpace> fibers;          // of nonzeros
  Kokkos::View<Scalar*, MemorySpace> values;  // nnz
  detail::OutOfCoreMemory out_of_core =
      {};  // where all arrays are in out-of-core memory: holds it; else empty

  int order() const { return static_cast<int>(dims.size()); }
  int mode() const { return fibers.mode; }
  Position nnz() const { return values.extent(0); }

  /// 2 nnz + N fibers + 1: a matrix in compressed sparse rows, and N - 1 coordinates a fiber.
  std::uint64_t storage_words() const {
    return detail::hierarchical_words(order(), fibers.count(), nnz());
  }
  std::uint64_t storage_bytes() const { return fibers.storage_bytes() + nnz() * sizeof(Scalar); }
};

/// X by the fibers of the last of `modes`, which lists all modes: the nonzeros are sorted in this
/// order, slowest mode first. X may be in any order. Nonzeros of equal coordinates stay separate.
/// X's indices are trusted; check_coordinates checks them. Fences exec.
/// Throws Error unless modes is a permutation of the modes.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
HierarchicalTensor<Scalar, Index, MemorySpace> make_hierarchical(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
    std::vector<int> const& modes);

/// The nonzeros in coordinate format, fiber by fiber. Exact. Enqueued on exec, does not fence.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(
    ExecutionSpace const& exec, HierarchicalTensor<Scalar, Index, MemorySpace> const& H);

}  // namespace sporades

#include <sporades/formats/detail/hierarchical_tensor.hpp>
