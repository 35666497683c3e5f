// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/csf_tensor.hpp>
#include <sporades/kernels/detail/ttm_chain/chunks.hpp>
#include <sporades/kernels/ttm_chain_plan.hpp>

namespace sporades::detail {

/// One work item of strategy `csf` on CPUs: a chunk of consecutive leaves x all columns. The leaves
/// of a fiber are summed in registers; the sum times its parent's factor row is added to the
/// parent's partial product, and so on up the tree, the last product going straight to the output
/// row (Smith & Karypis, Euro-Par 2017). A node that the chunk cuts is summed in parts.
template <class Scalar, class Index, class MemorySpace, int Width>
struct ChainTreeWalk {
  using T = Tile<Scalar, Width>;
  static constexpr int capacity = max_order - 1;

  int levels;                                                            // above the leaves, N - 1
  Kokkos::Array<RawVector<Index const, MemorySpace>, capacity> indices;  // level: nodes
  Kokkos::Array<RawVector<Position const, MemorySpace>, capacity> first_child;  // nodes + 1
  Kokkos::Array<RawVector<Position const, MemorySpace>, capacity> marks;
  Kokkos::Array<RawMatrix<Scalar const, MemorySpace>, capacity> factors;  // [0] is not read
  Kokkos::Array<int, capacity> ranks;                                     // [0] is not read
  Kokkos::Array<std::size_t, capacity> sizes;        // of the partial product below a node
  RawVector<Index const, MemorySpace> leaf_index;    // nnz
  RawVector<Scalar const, MemorySpace> values;       // nnz
  RawMatrix<Scalar const, MemorySpace> leaf_factor;  // with its padding
  ChainRows<Scalar, Index, MemorySpace> out;
  ChainChunks<Scalar, MemorySpace> chunks;
  Position mark_distance;

  /// Where the walk stands: a node a level, and where its partial product is summed.
  struct Place {
    Position node[capacity];
    Scalar* sum[capacity];
    bool fresh[capacity];  // nothing has been added yet
  };

  KOKKOS_FUNCTION void operator()(Position chunk) const {
    Position const begin = chunks.begin(chunk), end = chunks.end(chunk, values.extent(0));
    int const bottom = levels - 1;
    Place at{};
    Scalar* scratch = chunks.scratch(chunk);
    for (int l = 0; l < levels; ++l) {
      at.node[l] = marks[l](begin / mark_distance);
      at.fresh[l] = true;
      at.sum[l] = scratch;
      if (l > 0 && l < bottom) scratch += sizes[l];
    }
    Position const first_root = at.node[0];
    ChunkState state{chunk, first_leaf(first_root) < begin, true};
    at.sum[0] = out.target(state, first_root, continues(first_root, end));
    Position p = begin;
    while (true) {
      Position const fiber_end = first_child[bottom](at.node[bottom] + 1);
      Position const stop = fiber_end < end ? fiber_end : end;
      sum_fiber(at, p, stop);
      p = stop;
      if (p == end) break;
      climb(state, at, end);
    }
    for (int l = bottom - 1; l > 0; --l) fold(at, l);
    out.finish(state, first_root, at.node[0], continues(at.node[0], end));
  }

  /// The leaves of a fiber, and their sum times the factor row of the node above.
  KOKKOS_FORCEINLINE_FUNCTION void sum_fiber(Place& at, Position begin, Position stop) const {
    int const bottom = levels - 1;
    std::size_t const size = sizes[bottom];
    for (std::size_t first = 0; first < size; first += Width) {
      T sum;
      sum.fill(Scalar(0));
      for (Position p = begin; p < stop; ++p)
        sum.add_product(values(p), load_tile<Scalar, Width>(&leaf_factor(leaf_index(p), first)));
      if (bottom == 0) {
        add_tile(at.sum[0] + first, at.fresh[0], sum);
        continue;
      }
      Scalar const* const row = &factors[bottom](indices[bottom](at.node[bottom]), 0);
      Scalar* const to = at.sum[bottom - 1] + first;
      for (int j = 0; j < ranks[bottom]; ++j) {
        T product = sum;
        product.multiply(row[j]);
        add_tile(to + j * size, at.fresh[bottom - 1], product);
      }
    }
    at.fresh[bottom == 0 ? 0 : bottom - 1] = false;
  }

  /// The partial product of level l times its node's factor row goes to the level above.
  KOKKOS_FORCEINLINE_FUNCTION void fold(Place& at, int l) const {
    Scalar const* const row = &factors[l](indices[l](at.node[l]), 0);
    std::size_t const size = sizes[l];
    for (std::size_t first = 0; first < size; first += Width) {
      T const sum = load_tile<Scalar, Width>(at.sum[l] + first);
      for (int j = 0; j < ranks[l]; ++j) {
        T product = sum;
        product.multiply(row[j]);
        add_tile(at.sum[l - 1] + j * size + first, at.fresh[l - 1], product);
      }
    }
    at.fresh[l] = true;
    at.fresh[l - 1] = false;
  }

  /// The fiber has ended: closes every node that ended with it and goes on to the next ones.
  KOKKOS_FORCEINLINE_FUNCTION void climb(ChunkState& state, Place& at, Position end) const {
    for (int l = levels - 1; l > 0; --l) {
      if (l < levels - 1) fold(at, l);
      ++at.node[l];
      if (at.node[l] < first_child[l - 1](at.node[l - 1] + 1)) return;
    }
    state.first = false;
    ++at.node[0];
    at.fresh[0] = true;
    at.sum[0] = out.target(state, at.node[0], continues(at.node[0], end));
  }

  KOKKOS_FORCEINLINE_FUNCTION Position first_leaf(Position root) const {
    for (int l = 0; l < levels; ++l) root = first_child[l](root);
    return root;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool continues(Position root, Position end) const {
    return end < values.extent(0) && first_leaf(root + 1) > end;
  }
};

/// y(row, 0) = value: the whole of it for a tensor of order 1.
template <class Scalar, class MemorySpace>
struct ChainOfOne {
  RawMatrix<Scalar, MemorySpace> Y;  // nnz x 4
  RawVector<Scalar const, MemorySpace> values;
  KOKKOS_FUNCTION void operator()(Position p) const {
    Y(p, 0) = values(p);
    for (std::size_t c = 1; c < Y.extent(1); ++c) Y(p, c) = 0;
  }
};

/// Strategy `csf`. Y: root nodes x columns of the tree's mode order.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void ttm_chain_csf(ExecutionSpace const& exec, CsfTensor<Scalar, Index, MemorySpace> const& X,
                   Factors<Scalar, MemorySpace> const& A, TtmChainColumns const& columns,
                   Matrix<Scalar, MemorySpace> const& Y,
                   TtmChainBuffers<Scalar, Index, MemorySpace>& buffers) {
  if (X.nnz() == 0) return;
  int const levels = X.order() - 1;
  if (levels == 0)
    return launch_items(exec, "sporades::ttm_chain::order_one", X.nnz(),
                        ChainOfOne<Scalar, MemorySpace>{Y, X.values});
  auto const work = begin_chain(exec, X.nnz(), columns, Y, buffers);
  with_leaf_width(columns.tile(), [&](auto width) {
    ChainTreeWalk<Scalar, Index, MemorySpace, width()> walk{};
    walk.levels = levels;
    for (int l = 0; l < levels; ++l) {
      walk.indices[l] = X.indices[l];
      walk.first_child[l] = X.first_child[l];
      walk.marks[l] = X.marks[l];
      if (l > 0) walk.factors[l] = A[X.mode_order[l]];
      if (l > 0) walk.ranks[l] = columns.ranks[l - 1];
    }
    walk.sizes[levels - 1] = columns.tile();
    for (int l = levels - 1; l > 0; --l) walk.sizes[l - 1] = walk.sizes[l] * columns.ranks[l - 1];
    walk.leaf_index = X.indices[levels];
    walk.values = X.values;
    walk.leaf_factor = with_padding(A[X.mode_order[levels]]);
    walk.out = work.rows;
    walk.chunks = work.chunks;
    walk.mark_distance = X.mark_distance;
    launch_items(exec, "sporades::ttm_chain::csf", work.count, walk);
  });
  finish_chain(exec, work, Y, buffers);
}

}  // namespace sporades::detail
