// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/core/detail/launch.hpp>
#include <sporades/formats/csf_tensor.hpp>
#include <sporades/formats/detail/ranges.hpp>
#include <sporades/formats/detail/sort_bytes.hpp>
#include <sporades/formats/sort_coo.hpp>

namespace sporades {
namespace detail {

/// Numbers the nodes of one level. A node is a run of nonzeros that agree in the modes of this
/// level and of those above it. Before the scan, node(p) is the node of the level below that
/// nonzero p belongs to; after it, the node of this level. The first nonzero of a node stores the
/// node's index and its first child.
template <class Coordinates>
struct NumberNodes {
  using Memory = typename Coordinates::memory_space;

  CompareNonzeros<Coordinates> compare;  // by the modes of this level and those above it
  int mode;                              // of this level
  Kokkos::View<Position*, Memory> node;  // nnz
  Kokkos::View<typename Coordinates::non_const_value_type*, Memory> indices;  // nodes
  Kokkos::View<Position*, Memory> first_child;                                // nodes + 1

  KOKKOS_FUNCTION void operator()(Position p, Position& count, bool is_last) const {
    bool const begins = compare.begins_run(p);
    if (begins) ++count;
    if (!is_last) return;
    if (begins) {
      indices(count - 1) = compare.coordinates(mode, p);
      first_child(count - 1) = node(p);
    }
    node(p) = count - 1;
  }
};

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CsfTensor<Scalar, Index, MemorySpace> make_csf(ExecutionSpace const& exec,
                                               CooTensor<Scalar, Index, MemorySpace> const& X,
                                               std::vector<int> const& mode_order) {
  using Tensor = CsfTensor<Scalar, Index, MemorySpace>;
  using Coordinates = typename CooTensor<Scalar, Index, MemorySpace>::Coordinates;
  using Range = detail::Range<ExecutionSpace>;
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
  detail::copy_view(exec, T.indices[N - 1], row(S.coordinates, mode_order[N - 1]));

  auto const node =
      detail::uninitialized<typename Tensor::Positions>(exec, "sporades::csf::node", nnz);
  detail::launch_items(
      exec, "sporades::csf::number_leaves", nnz, KOKKOS_LAMBDA(Position p) { node(p) = p; });
  Position children = nnz;
  for (int l = N - 2; l >= 0; --l) {
    detail::CompareNonzeros<Coordinates> const compare(
        S.coordinates, {mode_order.begin(), mode_order.begin() + l + 1});
    Position const nodes = detail::count_runs(exec, "sporades::csf::count_nodes", compare, nnz);
    T.indices[l] =
        detail::uninitialized<typename Tensor::Indices>(exec, "sporades::csf::indices", nodes);
    T.first_child[l] = detail::uninitialized<typename Tensor::Positions>(
        exec, "sporades::csf::first_child", nodes + 1);
    Kokkos::parallel_scan("sporades::csf::number_nodes", Range(exec, 0, nnz),
                          detail::NumberNodes<Coordinates>{compare, mode_order[l], node,
                                                           T.indices[l], T.first_child[l]});
    detail::fill_view(exec, Kokkos::subview(T.first_child[l], std::make_pair(nodes, nodes + 1)),
                      children);
    constexpr Position distance = Tensor::mark_distance;
    auto const marks = detail::uninitialized<typename Tensor::Positions>(
        exec, "sporades::csf::marks", (nnz + distance - 1) / distance);
    detail::launch_items(
        exec, "sporades::csf::mark", marks.extent(0),
        KOKKOS_LAMBDA(Position m) { marks(m) = node(m * distance); });
    T.marks[l] = marks;
    children = nodes;
  }
  detail::fence(exec, "sporades::csf::make");
  return T;
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             CsfTensor<Scalar, Index, MemorySpace> const& T) {
  int const N = T.order();
  auto X = detail::allocate_coo<Scalar, Index>(exec, T.dims, T.nnz());
  detail::copy_view(exec, X.values, T.values);
  X.sorted_modes = T.mode_order;
  auto const coordinates = X.coordinates;
  detail::copy_view(exec, Kokkos::subview(coordinates, T.mode_order[N - 1], Kokkos::ALL),
                    T.indices[N - 1]);
  Kokkos::View<Position*, MemorySpace> first;  // leaf below each node of a level
  for (int l = N - 2; l >= 0; --l) {
    auto const child = T.first_child[l];
    if (l == N - 2) {
      first = child;
    } else {
      auto const below = first;
      auto const here = detail::uninitialized<Kokkos::View<Position*, MemorySpace>>(
          exec, "sporades::csf::first_leaf", T.nodes(l) + 1);
      detail::launch_items(
          exec, "sporades::csf::first_leaf", T.nodes(l) + 1,
          KOKKOS_LAMBDA(Position f) { here(f) = below(child(f)); });
      first = here;
    }
    int const mode = T.mode_order[l];
    auto const index = T.indices[l];
    detail::for_items(
        exec, "sporades::csf::expand", first, T.nnz(),
        KOKKOS_LAMBDA(Position f, Position p) { coordinates(mode, p) = index(f); });
  }
  return X;
}

namespace detail {

/// make_csf, which shares the values of an X in that order. tuples: FiberCountEstimate or its like.
template <class ExecutionSpace, class Tuples>
MadeBytes csf_bytes(ExecutionSpace const& exec, CooShape const& X, std::vector<int> const& modes,
                    Tuples& tuples) {
  auto const list = sorted_bytes(exec, X, modes);
  double const marks = 8 * std::ceil(X.nnz / double{CsfTensor<double>::mark_distance});
  double tree = X.nnz * X.index_bytes;
  for (std::size_t l = 0; l + 1 < modes.size(); ++l)
    tree += tuples.of(modes, l + 1) * (X.index_bytes + 8) + 8 + marks;
  return {tree + (is_sorted_by(X, modes) ? 0 : X.value_bytes()),
          std::max(list.peak, list.kept + 8 * X.nnz + tree)};
}

/// make_hocfs on the last of these modes, without padding; with ELL slices it shares no values.
template <class ExecutionSpace, class Tuples>
MadeBytes hocfs_bytes(ExecutionSpace const& exec, CooShape const& X, std::vector<int> const& modes,
                      bool is_ell, Tuples& tuples) {
  auto made = csf_bytes(exec, is_ell ? X.unordered() : X, modes, tuples);
  double const fibers = tuples.of(modes, modes.size() - 1);
  double const slices = modes.size() > 2 ? tuples.of(modes, modes.size() - 2) : 1;
  made.kept += 9 * slices + 16;
  // Slices in rows stay until they are padded.
  double const rows = X.nnz * (X.index_bytes + X.scalar_bytes) + 8 * (slices + fibers + 1);
  return {made.kept, std::max(made.peak, made.kept + (is_ell ? rows : 0))};
}

}  // namespace detail

// What is no CooTensor is refused.
template <class ExecutionSpace>
CsfTensor<double, std::uint32_t, typename ExecutionSpace::memory_space> make_csf(
    ExecutionSpace const&, detail::NotCoo, std::vector<int> const&) {
  return {};
}

}  // namespace sporades

#include <sporades/eti/csf_tensor.hpp>
