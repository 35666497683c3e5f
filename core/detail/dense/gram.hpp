// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense/gram_warps.hpp>
#include <sporades/core/detail/dense/shared_sums.hpp>

namespace sporades::detail {
/// Partial sums of A^T B over one block of rows, on CPUs: partial[block][i][j], tile by tile; of a
/// symmetric product only the tiles that meet the upper triangle. The tiles of 64 columns of B take
/// 64 rows at a time, so that these rows and sums stay in the caches. In the same blocks
/// KokkosBatched::SerialGemm takes 1.9 to 5.6 times as long for A^T A of 4 to 128 columns, and 1.7
/// to 3.3 times for 16 columns of A and 256 or 1024 of B (EPYC with AVX-512).
template <class ExecutionSpace, class Scalar>
struct GramBlocks {
  static constexpr std::uint64_t rows_at_once = 64, columns_at_once = 64;
  using Const =
      Kokkos::View<Scalar const**, Kokkos::LayoutRight, typename ExecutionSpace::memory_space>;

  Const A, B;  // I x R, I x S
  double* partial;
  RowBlocks blocks;
  bool symmetric;

  KOKKOS_FUNCTION void operator()(std::uint64_t block) const {
    std::uint64_t const end = blocks.end(block);
    double* const sums = partial + block * A.extent(1) * B.extent(1);
    for (std::uint64_t first = 0; first < B.extent(1); first += columns_at_once) {
      std::uint64_t const last =
          first + columns_at_once < B.extent(1) ? first + columns_at_once : B.extent(1);
      for (std::uint64_t row = blocks.begin(block); row < end; row += rows_at_once) {
        std::uint64_t const stop = row + rows_at_once < end ? row + rows_at_once : end;
        for_tiles<ExecutionSpace>(0, A.extent(1), [&](auto height, std::uint64_t i) {
          for_tiles<ExecutionSpace>(first, last, [&](auto width, std::uint64_t j) {
            if (symmetric && j + decltype(width)::value <= i) return;
            tile<decltype(height)::value, decltype(width)::value>(i, j, row, stop, sums,
                                                                  row == blocks.begin(block));
          });
        });
      }
    }
  }

  template <int height, int width>
  KOKKOS_INLINE_FUNCTION void tile(std::uint64_t i, std::uint64_t j, std::uint64_t row,
                                   std::uint64_t stop, double* sums, bool first) const {
    Tile<double, width> total[height];
    unrolled<height>([&](int k) { total[k].fill(0); });
    for (; row < stop; ++row) {
      Scalar const* const a = &A(row, i);
      auto const b = in_double(load_tile<Scalar, width>(&B(row, j)));
      unrolled<height>([&](int k) { total[k].add_product(static_cast<double>(a[k]), b); });
    }
    for (int k = 0; k < height; ++k)
      for (int c = 0; c < width; ++c) {
        double& sum = sums[(i + k) * B.extent(1) + j + c];
        sum = first ? total[k][c] : sum + total[k][c];
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

/// Stores the sum of entry e = (i, j) in C(i, j), for sum_and_store. Of a symmetric C only the
/// upper part is summed; each of its sums is stored below the diagonal, too.
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

/// Sums blocks of rows on GPUs, and adds them up: two launches. make(partial, blocks): the kernel
/// of these blocks.
template <class ExecutionSpace, class Output, class Memory, class Make>
void sum_by_teams(ExecutionSpace const& exec, RowMap const& rows, RowBlocks const& blocks,
                  Output const& C, bool symmetric, Workspace<Memory>& workspace, Make const& make) {
  std::uint64_t const entries = C.extent(0) * C.extent(1);
  sum_row_blocks(
      exec, rows, blocks, entries, most_stored_blocks, workspace,
      [&](double* partial, RowBlocks const& here) {
        auto const kernel = make(partial, here);
        using Kernel = std::decay_t<decltype(kernel)>;
        typename Kernel::Policy policy(exec, static_cast<int>(kernel.teams()), Kernel::threads, 1);
        Kokkos::parallel_for("sporades::dense::gram",
                             with_scratch(policy, Kernel::scratch_bytes + 16), kernel);
      },
      [&](double* partial, std::uint64_t count) {
        sum_and_store(exec, partial, count, entries, StoreGramEntry<Output>{C, symmetric});
      });
}

/// C = A^T B by GramWarps. blocks: of all rows.
template <bool packed, class ExecutionSpace, class Left, class Right, class Output, class Memory>
void fine_block_product(ExecutionSpace const& exec, Left const& A, Right const& B, Output const& C,
                        bool symmetric, RowMap const& rows, RowBlocks const& blocks,
                        Workspace<Memory>& workspace) {
  using Scalar = typename Left::non_const_value_type;
  auto const by_warps = [&](auto left, auto right, auto is_all) {
    using Kernel = GramWarps<ExecutionSpace, Scalar, packed, left(), right(), is_all()>;
    sum_by_teams(exec, rows, blocks, C, symmetric, workspace,
                 [&](double* partial, RowBlocks const& here) {
                   return Kernel{A, B, partial, here, symmetric};
                 });
  };
  std::integral_constant<int, 2> const two{};
  std::integral_constant<int, 4> const four{};
  std::integral_constant<int, 8> const eight{};
  std::true_type const all{};
  std::false_type const some{};
  if (symmetric && A.extent(1) <= 16)
    by_warps(two, two, all);
  else if (symmetric && A.extent(1) <= 32)
    by_warps(four, four, all);
  else if (symmetric && A.extent(1) <= 64)
    by_warps(eight, eight, all);
  else if (!symmetric && A.extent(1) <= 16)
    by_warps(two, four, some);
  else if (!symmetric && B.extent(1) <= 32)
    by_warps(four, four, some);
  else
    by_warps(four, eight, some);
}

template <class ExecutionSpace, class Left, class Right, class Output, class Memory>
void block_product(ExecutionSpace const& exec, Left const& A, Right const& B, Output const& C,
                   bool symmetric, RowMap const& rows, Workspace<Memory>& workspace) {
  using Scalar = typename Left::non_const_value_type;
  std::uint64_t const entries = A.extent(1) * B.extent(1);
  std::uint64_t const all_rows = rows.all(A.extent(0));
  if (entries == 0) return;
  if (all_rows == 0) {
    fill_view(exec, C, 0);
    return;
  }
  if constexpr (is_gpu<ExecutionSpace>) {
    auto const blocks = RowBlocks::of_products(all_rows, entries);
    for_packed<ExecutionSpace>(
        [&](auto packed) {
          fine_block_product<packed()>(exec, A, B, C, symmetric, rows, blocks, workspace);
        },
        A, B);
    return;
  }
  RowBlocks const blocks(all_rows, entries);
  sum_row_blocks(
      exec, rows, blocks, entries, 1, workspace,
      [&](double* partial, RowBlocks const& here) {
        GramBlocks<ExecutionSpace, Scalar> const kernel{A, B, partial, here, symmetric};
        launch(exec, "sporades::dense::gram", here.count, here.rows_per_block * entries, kernel);
      },
      [&](double* partial, std::uint64_t count) {
        double const* const sums = sum_blocks(exec, partial, count, entries);
        launch(exec, "sporades::dense::gram_store", entries, 1,
               StoreGram<Output>{sums, C, symmetric});
      });
}

/// G = A^T A. A: I x R, G: R x R, whole, exactly symmetric. Summed in double, in an order given by
/// I and R alone: the same bits on every run and on any number of threads and processes. Enqueued
/// on exec, does not fence except where the workspace grows. I R^2 flops (upper triangle). A may be
/// the rows that are here of a distributed matrix: then this is collective, fences exec, and gives
/// G of the whole. Throws Error if G is not R x R.
template <class ExecutionSpace, class Input, class Output, class Memory>
void gram(ExecutionSpace const& exec, Input const& A, Output const& G, Workspace<Memory>& workspace,
          RowMap const& rows = {}) {
  expects(G.extent(0) == A.extent(1) && G.extent(1) == A.extent(1), "gram: G is ", G.extent(0),
          " x ", G.extent(1), ", A has ", A.extent(1), " columns");
  block_product(exec, A, A, G, true, rows, workspace);
}

/// C = A^T B, summed as gram is: the same bits on every run and on any number of threads and
/// processes. A: I x R, B: I x S, C: R x S. 2 I R S flops. Throws Error if the shapes disagree.
template <class ExecutionSpace, class Left, class Right, class Output, class Memory>
void transposed_product(ExecutionSpace const& exec, Left const& A, Right const& B, Output const& C,
                        Workspace<Memory>& workspace, RowMap const& rows = {}) {
  expects(A.extent(0) == B.extent(0) && C.extent(0) == A.extent(1) && C.extent(1) == B.extent(1),
          "transposed_product: A is ", A.extent(0), " x ", A.extent(1), ", B is ", B.extent(0),
          " x ", B.extent(1), ", C is ", C.extent(0), " x ", C.extent(1));
  block_product(exec, A, B, C, false, rows, workspace);
}

}  // namespace sporades::detail
