// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/csf_tensor.hpp>
#include <sporades/kernels/detail/nonzeros/coo.hpp>
#include <sporades/kernels/detail/row_walk.hpp>

namespace sporades::detail {

/// One work item of MTTKRP on the root mode of a CSF tree: a chunk of consecutive leaves x a tile
/// of columns. The sum of a fiber is multiplied once by the factor row of its parent, and so on up
/// the tree (Smith et al., IPDPS 2015, Algorithm 1 on every level). A node that the chunk cuts is
/// summed in parts, which is the same sum; only output rows that it cuts need the carry.
/// `Levels` is N - 1, the levels above the leaves, or any_number.
template <class Scalar, class Index, class MemorySpace, class Sums, int Width, Access access,
          int Levels>
struct TreeWalk {
  using Columns = TileColumns<Scalar, Width, access>;
  using T = typename Columns::T;
  static constexpr int capacity = Levels == any_number ? max_order - 1 : Levels;

  Kokkos::Array<RawVector<Index const, MemorySpace>, capacity> indices;         // level: nodes
  Kokkos::Array<RawVector<Position const, MemorySpace>, capacity> first_child;  // nodes + 1
  Kokkos::Array<RawVector<Position const, MemorySpace>, capacity> marks;
  Kokkos::Array<RawMatrix<Scalar const, MemorySpace>, capacity> factors;  // [0] is not read
  RawVector<Index const, MemorySpace> leaf_index;                         // nnz
  RawVector<Scalar const, MemorySpace> values;                            // nnz
  RawMatrix<Scalar const, MemorySpace> leaf_factor;
  Sums out;
  WalkShape shape;  // chunks are multiples of the distance of marks
  Position mark_distance;
  int level_count;

  KOKKOS_FORCEINLINE_FUNCTION int levels() const {
    return Levels == any_number ? level_count : Levels;
  }

  KOKKOS_FUNCTION void operator()(Position item) const {
    auto const tile = shape.template tile<Columns>(item);
    Position const begin = shape.begin(item), end = shape.end(item, values.extent(0));
    ChunkState state{shape.chunk(item), false, true};

    Position node[capacity] = {};
    T sum[capacity];
    for (int l = 0; l < levels(); ++l) {
      node[l] = marks[l](begin / mark_distance);
      sum[l].fill(Scalar(0));
    }
    Position const first_root = node[0];
    state.shared = begin > 0 && starts_inside(node, begin);
    Position p = begin;
    while (true) {
      int const bottom = levels() - 1;
      Position const fiber_end = first_child[bottom](node[bottom] + 1);
      Position const stop = fiber_end < end ? fiber_end : end;
      for (; p < stop; ++p)
        sum[bottom].add_product(values(p), tile.load(leaf_factor, leaf_index(p)));
      if (p == end) break;
      climb(state, tile, node, sum);
    }
    for (int l = levels() - 1; l > 0; --l) fold(tile, node, sum, l);
    bool const continues = end < values.extent(0) && last_leaf_end(node) > end;
    out.finish(state, tile, indices[0](first_root), indices[0](node[0]), sum[0], continues);
  }

  /// Adds what level l has summed to the level above.
  KOKKOS_FORCEINLINE_FUNCTION void fold(Columns const& tile, Position const (&node)[capacity],
                                        T (&sum)[capacity], int l) const {
    sum[l - 1].add_product(sum[l], tile.load(factors[l], indices[l](node[l])));
    sum[l].fill(Scalar(0));
  }

  /// The fiber has ended: closes every node that ended with it and goes on to the next ones.
  KOKKOS_FORCEINLINE_FUNCTION void climb(ChunkState& state, Columns const& tile,
                                         Position (&node)[capacity], T (&sum)[capacity]) const {
    for (int l = levels() - 1; l > 0; --l) {
      fold(tile, node, sum, l);
      ++node[l];
      if (node[l] < first_child[l - 1](node[l - 1] + 1)) return;
    }
    out.close(state, tile, indices[0](node[0]), sum[0]);
    sum[0].fill(Scalar(0));
    state.first = false;
    ++node[0];
  }

  /// True if the root node of leaf p has leaves before p.
  KOKKOS_FORCEINLINE_FUNCTION bool starts_inside(Position const (&node)[capacity],
                                                 Position p) const {
    Position f = node[0];
    for (int l = 0; l < levels(); ++l) f = first_child[l](f);
    return f < p;
  }

  /// One past the last leaf of the root node.
  KOKKOS_FORCEINLINE_FUNCTION Position last_leaf_end(Position const (&node)[capacity]) const {
    Position f = node[0] + 1;
    for (int l = 0; l < levels(); ++l) f = first_child[l](f);
    return f;
  }
};

/// Strategy `csf`, the baseline of SPLATT, which `automatic` never takes. A tree of one level is a
/// list sorted by row: order 1 needs no walk of fibers.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_csf(ExecutionSpace const& exec, CsfTensor<Scalar, Index, MemorySpace> const& X,
                Factors<Scalar, MemorySpace> const& A, Matrix<Scalar, MemorySpace> const& V,
                CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  char const* const label = "sporades::mttkrp::csf";
  int const levels = X.order() - 1;
  bool const aligned = all_rows_aligned(A, X.mode_order[0], V);
  if (levels == 0) {
    CooNonzeros<Scalar, Index, MemorySpace, any_number> nonzeros;
    nonzeros.row_of = X.indices[0];
    nonzeros.values = X.values;
    nonzeros.others = 0;
    return sum_sorted_rows<TileWidths::coarse>(exec, label, nonzeros, false, V, aligned, carry);
  }
  auto const rows = begin_rows(exec, X.nnz(), chunk_length<ExecutionSpace>(X.nnz()),
                               X.nodes(0) == V.extent(0), V, carry);
  if (rows.chunks == 0) return;
  with_unrolled_modes<Index>(levels, [&](auto others) {
    for_column_tiles<ExecutionSpace, Scalar, TileWidths::coarse>(
        V.extent(1), aligned, [&](auto width, auto access, std::size_t first, Position tiles) {
          TreeWalk<Scalar, Index, MemorySpace, std::decay_t<decltype(rows.sums)>, width(), access(),
                   others()>
              walk;
          for (int l = 0; l < levels; ++l) {
            walk.indices[l] = X.indices[l];
            walk.first_child[l] = X.first_child[l];
            walk.marks[l] = X.marks[l];
            if (l > 0) walk.factors[l] = A[X.mode_order[l]];
          }
          walk.leaf_index = X.indices[levels];
          walk.values = X.values;
          walk.leaf_factor = A[X.mode_order[levels]];
          walk.out = rows.sums;
          walk.shape = {rows.length, first, V.extent(1), tiles};
          walk.mark_distance = X.mark_distance;
          walk.level_count = levels;
          launch_items(exec, label, rows.chunks * tiles, walk);
        });
  });
  finish_rows(exec, rows, V, carry);
}

}  // namespace sporades::detail
