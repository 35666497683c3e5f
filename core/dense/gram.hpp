// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/dense/blocks.hpp>
#include <sporades/core/tile.hpp>

namespace sporades {
namespace detail {

/// Partial sums of A^T B over one block of rows: partial[block][i][j], tile by tile; of a symmetric
/// product only the tiles that meet the upper triangle. CPU: an item is a block, and 64 rows of it
/// at a time pass through all tiles while they are in the first-level cache. GPU: an item is a
/// (block, 4 x 4 tile).
template <class ExecutionSpace, class Scalar>
struct GramBlocks {
  static constexpr std::uint64_t rows_at_once = 64;
  using Const =
      Kokkos::View<Scalar const**, Kokkos::LayoutRight, typename ExecutionSpace::memory_space>;

  Const A, B;  // I x R, I x S
  double* partial;
  RowBlocks blocks;
  bool symmetric;

  static KOKKOS_INLINE_FUNCTION std::uint64_t tiles(Const const& matrix) {
    auto const columns = columns_per_item<ExecutionSpace>(matrix.extent(1));
    return (matrix.extent(1) + columns - 1) / columns;
  }
  std::uint64_t items() const { return blocks.count * tiles(A) * tiles(B); }

  KOKKOS_FUNCTION void operator()(std::uint64_t item) const {
    auto const rows = columns_per_item<ExecutionSpace>(A.extent(1));
    auto const columns = columns_per_item<ExecutionSpace>(B.extent(1));
    std::uint64_t const j = item % tiles(B) * columns, i = item / tiles(B) % tiles(A) * rows;
    std::uint64_t const j_end = j + columns < B.extent(1) ? j + columns : B.extent(1);
    std::uint64_t const i_end = i + rows < A.extent(1) ? i + rows : A.extent(1);
    std::uint64_t const b = item / (tiles(A) * tiles(B));
    std::uint64_t const begin = b * blocks.rows_per_block;
    std::uint64_t const end =
        begin + blocks.rows_per_block < blocks.rows ? begin + blocks.rows_per_block : blocks.rows;
    double* const sums = partial + b * A.extent(1) * B.extent(1);
    for (std::uint64_t row = begin; row < end; row += rows_at_once) {
      std::uint64_t const stop = row + rows_at_once < end ? row + rows_at_once : end;
      for_tiles<ExecutionSpace>(i, i_end, [&](auto height, std::uint64_t k) {
        for_tiles<ExecutionSpace>(j, j_end, [&](auto width, std::uint64_t c) {
          if (symmetric && c + decltype(width)::value <= k) return;
          tile<decltype(height)::value, decltype(width)::value>(k, c, row, stop, sums,
                                                                row == begin);
        });
      });
    }
  }

  template <int height, int width>
  KOKKOS_INLINE_FUNCTION void tile(std::uint64_t i, std::uint64_t j, std::uint64_t row,
                                   std::uint64_t stop, double* sums, bool first) const {
    Tile<Scalar, width> total[height];
    unrolled<height>([&](int k) { total[k].fill(0); });
    for (; row < stop; ++row) {
      Scalar const* const a = &A(row, i);
      auto const b = load_tile<Scalar, width>(&B(row, j));
      unrolled<height>([&](int k) { total[k].add_product(a[k], b); });
    }
    for (int k = 0; k < height; ++k)
      for (int c = 0; c < width; ++c) {
        double& sum = sums[(i + k) * B.extent(1) + j + c];
        sum = first ? static_cast<double>(total[k][c]) : sum + static_cast<double>(total[k][c]);
      }
  }
};

/// C(i, j) = sums[i][j], or its mirror image below the diagonal where only the upper part was
/// summed.
template <class Output>
struct StoreGram {
  double const* sums;
  Output C;
  bool symmetric;

  KOKKOS_FUNCTION void operator()(std::uint64_t item) const {
    std::uint64_t const i = item / C.extent(1), j = item % C.extent(1);
    C(i, j) = static_cast<typename Output::value_type>(
        symmetric && j < i ? sums[j * C.extent(1) + i] : sums[i * C.extent(1) + j]);
  }
};

/// The same entry by entry, for sum_and_store.
template <class Output>
struct StoreGramEntry {
  Output C;
  bool symmetric;

  KOKKOS_FUNCTION bool needs(std::uint64_t e) const {
    return !symmetric || e % C.extent(1) >= e / C.extent(1);
  }
  KOKKOS_FUNCTION void operator()(std::uint64_t e, double sum) const {
    std::uint64_t const i = e / C.extent(1), j = e % C.extent(1);
    C(i, j) = static_cast<typename Output::value_type>(sum);
    if (symmetric && i != j) C(j, i) = static_cast<typename Output::value_type>(sum);
  }
};

/// For GPUs: so many small blocks that few rows keep every thread busy, and two launches.
template <class ExecutionSpace, class Left, class Right, class Output, class Memory>
void fine_block_product(ExecutionSpace const& exec, Left const& A, Right const& B, Output const& C,
                        bool symmetric, Workspace<Memory>& workspace) {
  using Scalar = typename Left::non_const_value_type;
  using Kernel = GramBlocks<ExecutionSpace, Scalar>;
  std::uint64_t const entries = A.extent(1) * B.extent(1);
  auto const blocks = RowBlocks::fine(A.extent(0), entries, Kernel::tiles(A) * Kernel::tiles(B));
  auto const partial = workspace.template get<double>(
      exec, blocks.count * entries + scratch_of_sum_blocks(blocks.count, entries));
  Kernel const kernel{A, B, partial.data(), blocks, symmetric};
  Kokkos::parallel_for("sporades::dense::gram", Range<ExecutionSpace>(exec, 0, kernel.items()),
                       kernel);
  sum_and_store(exec, partial.data(), blocks.count, entries, StoreGramEntry<Output>{C, symmetric});
}

template <class ExecutionSpace, class Left, class Right, class Output, class Memory>
void block_product(ExecutionSpace const& exec, Left const& A, Right const& B, Output const& C,
                   bool symmetric, Workspace<Memory>& workspace) {
  using Scalar = typename Left::non_const_value_type;
  std::uint64_t const entries = A.extent(1) * B.extent(1);
  if (entries == 0) return;
  if (A.extent(0) == 0) {
    Kokkos::deep_copy(exec, C, 0);
    return;
  }
  if constexpr (is_gpu<ExecutionSpace>) {
    fine_block_product(exec, A, B, C, symmetric, workspace);
    return;
  }
  RowBlocks const blocks(A.extent(0), entries);
  auto const partial = workspace.template get<double>(
      exec, blocks.count * entries + scratch_of_sum_blocks(blocks.count, entries));
  GramBlocks<ExecutionSpace, Scalar> const kernel{A, B, partial.data(), blocks, symmetric};
  Kokkos::parallel_for("sporades::dense::gram", Range<ExecutionSpace>(exec, 0, kernel.items()),
                       kernel);
  double const* const sums = sum_blocks(exec, partial.data(), blocks.count, entries);
  Kokkos::parallel_for("sporades::dense::gram_store", Range<ExecutionSpace>(exec, 0, entries),
                       StoreGram<Output>{sums, C, symmetric});
}

}  // namespace detail

/// G = A^T A. A: I x R, G: R x R, whole. Sums of up to 64 rows are taken in Scalar, others in
/// double, in an order given by I and R alone: the same bits on any number of threads. Enqueued on
/// exec, does not fence but where the workspace grows. I R^2 flops (upper triangle). Throws Error
/// if G is not R x R.
template <class ExecutionSpace, class Input, class Output, class Memory>
void gram(ExecutionSpace const& exec, Input const& A, Output const& G,
          Workspace<Memory>& workspace) {
  expects(G.extent(0) == A.extent(1) && G.extent(1) == A.extent(1), "gram: G is ", G.extent(0),
          " x ", G.extent(1), ", A has ", A.extent(1), " columns");
  detail::block_product(exec, A, A, G, true, workspace);
}

/// C = A^T B, summed as gram is. A: I x R, B: I x S, C: R x S. Throws Error if the shapes disagree.
template <class ExecutionSpace, class Left, class Right, class Output, class Memory>
void transposed_product(ExecutionSpace const& exec, Left const& A, Right const& B, Output const& C,
                        Workspace<Memory>& workspace) {
  expects(A.extent(0) == B.extent(0) && C.extent(0) == A.extent(1) && C.extent(1) == B.extent(1),
          "transposed_product: A is ", A.extent(0), " x ", A.extent(1), ", B is ", B.extent(0),
          " x ", B.extent(1), ", C is ", C.extent(0), " x ", C.extent(1));
  detail::block_product(exec, A, B, C, false, workspace);
}

}  // namespace sporades
