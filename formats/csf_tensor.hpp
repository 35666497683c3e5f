// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/coo_tensor.hpp>
#include <sporades/formats/sort_coo.hpp>

namespace sporades {

/// Compressed sparse fibers (Smith & Karypis 2015): a tree with one level a mode in a given order,
/// the root first. A node of level l has an index in mode mode_order[l]; its children are the
/// nodes first_child[l](f) to first_child[l](f + 1) of level l + 1. The nodes of the last level,
/// the leaves, are the nonzeros.
/// Work is split by nonzeros, not by fibers: `marks` holds the node above every mark_distance-th
/// leaf at each level, so that a chunk of leaves finds its place in the tree at once.
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
  std::vector<Indices> indices;               // per level: nodes of the level
  std::vector<Positions> first_child;         // per level but the last: nodes + 1
  Kokkos::View<Scalar*, MemorySpace> values;  // nnz
  std::vector<Positions> marks;               // per level but the last: ceil(nnz / distance)

  int order() const { return static_cast<int>(dims.size()); }
  Position nnz() const { return values.extent(0); }
  Position nodes(int level) const { return indices[level].extent(0); }

  /// One index a node, one pointer a node but the leaves, one value a nonzero, and the marks.
  std::uint64_t storage_bytes() const {
    std::uint64_t bytes = nnz() * sizeof(Scalar);
    for (auto const& level : indices) bytes += level.extent(0) * sizeof(Index);
    for (auto const& level : first_child) bytes += level.extent(0) * sizeof(Position);
    for (auto const& level : marks) bytes += level.extent(0) * sizeof(Position);
    return bytes;
  }
};

namespace detail {

/// start(p): 1 where nonzero p opens a new node at the level whose path is the first `modes` modes.
template <class MemorySpace, class Index>
struct OpensNode {
  Kokkos::View<Index const**, Kokkos::LayoutRight, MemorySpace> coordinates;  // N x nnz
  Kokkos::Array<int, max_order> modes;
  int depth;

  KOKKOS_FUNCTION bool operator()(Position p) const {
    if (p == 0) return true;
    for (int l = 0; l < depth; ++l)
      if (coordinates(modes[l], p) != coordinates(modes[l], p - 1)) return true;
    return false;
  }
};

/// Numbers the nodes of one level: on return node(p) is the node of this level above nonzero p.
/// On the final pass it also stores, at the nonzero that opens a node, the node's index and its
/// first child, which is what node(p) said of the level below.
template <class MemorySpace, class Index>
struct NumberNodes {
  OpensNode<MemorySpace, Index> opens;
  int mode;
  Kokkos::View<Position*, MemorySpace> node;         // nnz
  Kokkos::View<Index*, MemorySpace> indices;         // nodes, or empty while counting
  Kokkos::View<Position*, MemorySpace> first_child;  // nodes + 1, or empty while counting

  KOKKOS_FUNCTION void operator()(Position p, Position& count, bool final) const {
    bool const head = opens(p);
    if (head) ++count;
    if (!final) return;
    if (head) {
      indices(count - 1) = opens.coordinates(mode, p);
      first_child(count - 1) = node(p);
    }
    node(p) = count - 1;
  }
};

}  // namespace detail

/// The tree of X with this order of the modes, root first. X may be in any order; it is sorted
/// unless it is so already. Duplicate coordinates stay separate leaves.
/// Fences exec. X's indices are trusted: check_coordinates checks them. Throws Error unless
/// mode_order is a permutation of the modes.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CsfTensor<Scalar, Index, MemorySpace> make_csf(ExecutionSpace const& exec,
                                               CooTensor<Scalar, Index, MemorySpace> const& X,
                                               std::vector<int> const& mode_order) {
  using Tensor = CsfTensor<Scalar, Index, MemorySpace>;
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>;
  int const N = X.order();
  expects(static_cast<int>(mode_order.size()) == N, "make_csf: mode_order names ",
          mode_order.size(), " modes of ", N);
  auto const S = sorted(exec, X, mode_order);
  Position const nnz = S.nnz();

  Tensor T;
  T.dims = X.dims;
  T.mode_order = mode_order;
  T.values = S.values;
  T.indices.resize(N);
  T.first_child.resize(N - 1);
  T.marks.resize(N - 1);
  auto row = [](auto const& matrix, int n) { return Kokkos::subview(matrix, n, Kokkos::ALL); };
  T.indices[N - 1] =
      detail::uninitialized<typename Tensor::Indices>(exec, "sporades::csf::indices", nnz);
  Kokkos::deep_copy(exec, T.indices[N - 1], row(S.coordinates, mode_order[N - 1]));

  detail::OpensNode<MemorySpace, Index> opens{S.coordinates, {}, 0};
  for (int l = 0; l < N; ++l) opens.modes[l] = mode_order[l];
  auto const node =
      detail::uninitialized<typename Tensor::Positions>(exec, "sporades::csf::node", nnz);
  Kokkos::parallel_for(
      "sporades::csf::leaves", Policy(exec, 0, nnz), KOKKOS_LAMBDA(Position p) { node(p) = p; });
  Position children = nnz;
  for (int l = N - 2; l >= 0; --l) {
    opens.depth = l + 1;
    Position nodes = 0;
    auto const count = opens;
    Kokkos::parallel_reduce(
        "sporades::csf::count", Policy(exec, 0, nnz),
        KOKKOS_LAMBDA(Position p, Position & sum) { sum += count(p) ? 1 : 0; }, nodes);
    T.indices[l] =
        detail::uninitialized<typename Tensor::Indices>(exec, "sporades::csf::indices", nodes);
    T.first_child[l] = detail::uninitialized<typename Tensor::Positions>(
        exec, "sporades::csf::first_child", nodes + 1);
    Kokkos::parallel_scan("sporades::csf::number", Policy(exec, 0, nnz),
                          detail::NumberNodes<MemorySpace, Index>{opens, mode_order[l], node,
                                                                  T.indices[l], T.first_child[l]});
    Kokkos::deep_copy(exec, Kokkos::subview(T.first_child[l], nodes), children);
    constexpr Position distance = Tensor::mark_distance;
    auto const marks = detail::uninitialized<typename Tensor::Positions>(
        exec, "sporades::csf::marks", (nnz + distance - 1) / distance);
    Kokkos::parallel_for(
        "sporades::csf::mark", Policy(exec, 0, marks.extent(0)),
        KOKKOS_LAMBDA(Position m) { marks(m) = node(m * distance); });
    T.marks[l] = marks;
    children = nodes;
  }
  detail::fence(exec, "sporades::csf::make");
  return T;
}

/// The nonzeros in the tree's order. Exact. Enqueued on exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             CsfTensor<Scalar, Index, MemorySpace> const& T) {
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>;
  int const N = T.order();
  auto X = detail::allocate_coo<Scalar, Index>(exec, T.dims, T.nnz());
  Kokkos::deep_copy(exec, X.values, T.values);
  X.sorted_modes = T.mode_order;
  auto const coordinates = X.coordinates;
  // first(f): the first leaf below node f, level by level from the leaves up
  auto first = detail::uninitialized<Kokkos::View<Position*, MemorySpace>>(
      exec, "sporades::csf::first", T.nnz() + 1);
  auto const leaf = first;
  Kokkos::parallel_for(
      "sporades::csf::leaves", Policy(exec, 0, T.nnz() + 1),
      KOKKOS_LAMBDA(Position p) { leaf(p) = p; });
  for (int l = N - 1; l >= 0; --l) {
    int const mode = T.mode_order[l];
    auto const index = T.indices[l];
    if (l < N - 1) {
      auto const below = first;
      auto const child = T.first_child[l];
      auto const here = detail::uninitialized<Kokkos::View<Position*, MemorySpace>>(
          exec, "sporades::csf::first", T.nodes(l) + 1);
      Kokkos::parallel_for(
          "sporades::csf::descend", Policy(exec, 0, T.nodes(l) + 1),
          KOKKOS_LAMBDA(Position f) { here(f) = below(child(f)); });
      first = here;
    }
    auto const begin = first;
    Kokkos::parallel_for(
        "sporades::csf::expand", Policy(exec, 0, T.nodes(l)), KOKKOS_LAMBDA(Position f) {
          for (Position p = begin(f); p < begin(f + 1); ++p) coordinates(mode, p) = index(f);
        });
  }
  return X;
}

}  // namespace sporades
