// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/coo_tensor.hpp>

namespace sporades {

/// Compressed sparse fibers (Smith & Karypis 2015): a tree with one level a mode, in a given order
/// of the modes, the root first. A node of level l has an index in mode mode_order[l]. The children
/// of node f are the nodes first_child[l](f) to first_child[l](f + 1) - 1 of level l + 1. The nodes
/// of the last level, the leaves, are the nonzeros.
/// Kernels divide the nonzeros among threads, not the fibers, so that long fibers do no harm. A
/// chunk of leaves finds its nodes on the other levels by `marks`, which hold the node above every
/// mark_distance-th leaf.
template <class ScalarType, class IndexType = std::uint32_t,
          class MemorySpaceType = Kokkos::HostSpace>
struct CsfTensor {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;
  using Indices = Kokkos::View<Index*, MemorySpace>;
  using Positions = Kokkos::View<Position*, MemorySpace>;

  static constexpr Position mark_distance = 128;

  Dims dims;                                  // I_0 ... I_{N-1}
  std::vector<int> mode_order;                // a permutation of 0 ... N-1, root first
  std::vector<Indices> indices;               // every level: its nodes' indices
  std::vector<Positions> first_child;         // every level except the last: nodes + 1
  Kokkos::View<Scalar*, MemorySpace> values;  // nnz
  std::vector<Positions> marks;               // every level except the last: ceil(nnz / distance)

  int order() const { return static_cast<int>(dims.size()); }
  Position nnz() const { return values.extent(0); }
  Position nodes(int level) const { return indices[level].extent(0); }

  /// One index a node, one position a node that is no leaf, one value a nonzero, and the marks.
  std::uint64_t storage_bytes() const {
    std::uint64_t bytes = nnz() * sizeof(Scalar);
    for (auto const& level : indices) bytes += level.extent(0) * sizeof(Index);
    for (auto const& level : first_child) bytes += level.extent(0) * sizeof(Position);
    for (auto const& level : marks) bytes += level.extent(0) * sizeof(Position);
    return bytes;
  }
};

/// The tree of X with this order of the modes, root first. X may be in any order; it is sorted if
/// X.sorted_modes does not show that it is. Nonzeros of equal coordinates stay separate leaves.
/// Takes the time of the sort and one pass over the coordinates a level. Fences exec.
/// X's indices are trusted; check_coordinates checks them.
/// Throws Error unless mode_order is a permutation of the modes.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CsfTensor<Scalar, Index, MemorySpace> make_csf(ExecutionSpace const& exec,
                                               CooTensor<Scalar, Index, MemorySpace> const& X,
                                               std::vector<int> const& mode_order);

/// The nonzeros in coordinate format, in the tree's order. Exact. Enqueued on exec, does not fence.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             CsfTensor<Scalar, Index, MemorySpace> const& T);

}  // namespace sporades

#include <sporades/formats/detail/csf_tensor.hpp>
