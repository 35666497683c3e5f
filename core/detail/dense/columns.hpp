// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense/shared_sums.hpp>
#include <sporades/core/detail/tile.hpp>

namespace sporades::detail {
/// A(i, r) *= s(r). CPU: an item is 64 rows; GPU: an item is a pack of columns, or one where they
/// are not aligned.
template <class ExecutionSpace, class Scalar, bool packed>
struct ScaleColumns {
  static constexpr std::uint64_t rows_per_item = is_gpu<ExecutionSpace> ? 1 : 64;
  static constexpr int pack = packed ? 16 / sizeof(Scalar) : 1;
  using Memory = typename ExecutionSpace::memory_space;

  Matrix<Scalar, Memory> A;
  Kokkos::View<Scalar const*, Memory> s;

  KOKKOS_INLINE_FUNCTION std::uint64_t packs() const {
    return is_gpu<ExecutionSpace> ? (A.extent(1) + pack - 1) / pack : 1;
  }
  std::uint64_t items() const {
    return (A.extent(0) + rows_per_item - 1) / rows_per_item * packs();
  }

  KOKKOS_FUNCTION void operator()(std::uint64_t item) const {
    Scalar const* const factor = s.data();
    if constexpr (is_gpu<ExecutionSpace>) {
      std::uint64_t const r = item % packs() * pack;
      Scalar* const a = &A(item / packs(), r);
      if (r + pack <= A.extent(1)) {
        auto tile = load_tile<Scalar, pack, packed>(a);
        tile.multiply(load_tile<Scalar, pack>(factor + r));
        store_tile<Scalar, pack, packed>(tile, a);
      } else {
        for (std::uint64_t c = 0; r + c < A.extent(1); ++c) a[c] *= factor[r + c];
      }
    } else {
      std::uint64_t const begin = item * rows_per_item;
      std::uint64_t const end =
          begin + rows_per_item < A.extent(0) ? begin + rows_per_item : A.extent(0);
      for (std::uint64_t i = begin; i < end; ++i) {
        Scalar* const a = &A(i, 0);
#pragma omp simd
        for (std::uint64_t r = 0; r < A.extent(1); ++r) a[r] *= factor[r];
      }
    }
  }
};

/// partial[block][r] = sum over the block's rows of V(i, r) A(i, r), or of A(i, r) alone where
/// there is no V, in double.
template <class ExecutionSpace, class Scalar, bool has_V>
struct ColumnSumBlocks {
  using Const =
      Kokkos::View<Scalar const**, Kokkos::LayoutRight, typename ExecutionSpace::memory_space>;

  Const V, A;  // I x R
  double* partial;
  RowBlocks blocks;

  KOKKOS_INLINE_FUNCTION std::uint64_t tiles() const {
    auto const columns = columns_per_item<ExecutionSpace>(A.extent(1));
    return (A.extent(1) + columns - 1) / columns;
  }
  std::uint64_t items() const { return blocks.count * tiles(); }

  KOKKOS_FUNCTION void operator()(std::uint64_t item) const {
    auto const columns = columns_per_item<ExecutionSpace>(A.extent(1));
    std::uint64_t const block = item / tiles(), first = item % tiles() * columns;
    std::uint64_t const stop = first + columns < A.extent(1) ? first + columns : A.extent(1);
    for_tiles<ExecutionSpace>(first, stop, [&](auto width, std::uint64_t r) {
      sum<decltype(width)::value>(r, blocks.begin(block), blocks.end(block),
                                  partial + block * A.extent(1) + r);
    });
  }

  template <int width>
  KOKKOS_INLINE_FUNCTION void sum(std::uint64_t r, std::uint64_t begin, std::uint64_t end,
                                  double* sums) const {
    double total[width];
    for (int c = 0; c < width; ++c) total[c] = 0;
    for (std::uint64_t i = begin; i < end; ++i) {
      Scalar const* const a = &A(i, r);
      if constexpr (has_V) {
        Scalar const* const v = &V(i, r);
#pragma omp simd
        for (int c = 0; c < width; ++c)
          total[c] += static_cast<double>(v[c]) * static_cast<double>(a[c]);
      } else {
#pragma omp simd
        for (int c = 0; c < width; ++c) total[c] += static_cast<double>(a[c]);
      }
    }
    for (int c = 0; c < width; ++c) sums[c] = total[c];
  }
};

/// For sum_and_store.
template <class Output>
struct StoreDot {
  Output d;

  KOKKOS_FUNCTION bool needs(std::uint64_t) const { return true; }
  KOKKOS_FUNCTION void operator()(std::uint64_t r, double sum) const { d(r) = sum; }
};

/// d(r) = sums[r]
template <class Output>
struct StoreColumns {
  double const* sums;
  Output d;

  KOKKOS_FUNCTION void operator()(std::uint64_t r) const { d(r) = sums[r]; }
};

/// For GPUs: so many small blocks that few rows keep every thread busy, and two launches.
template <bool has_V, class ExecutionSpace, class Left, class Right, class Output, class Memory>
void fine_column_sums(ExecutionSpace const& exec, char const* label, Left const& V, Right const& A,
                      Output const& d, RowMap const& rows, Workspace<Memory>& workspace) {
  using Scalar = typename Right::non_const_value_type;
  std::uint64_t const R = A.extent(1);
  auto const blocks = RowBlocks::of_columns(rows.all(A.extent(0)), R);
  sum_row_blocks(
      exec, rows, blocks, R, most_stored_blocks, workspace,
      [&](double* partial, RowBlocks const& here) {
        ColumnSumBlocks<ExecutionSpace, Scalar, has_V> const kernel{V, A, partial, here};
        launch_items(exec, label, kernel.items(), kernel);
      },
      [&](double* partial, std::uint64_t count) {
        sum_and_store(exec, partial, count, R, StoreDot<Output>{d});
      });
}

/// column_dots, or column_sums where it has no V.
template <bool has_V, class ExecutionSpace, class Left, class Right, class Output, class Memory>
void sum_columns(ExecutionSpace const& exec, char const* label, Left const& V, Right const& A,
                 Output const& d, RowMap const& rows, Workspace<Memory>& workspace) {
  using Scalar = typename Right::non_const_value_type;
  std::uint64_t const R = A.extent(1);
  if (R == 0) return;
  if (rows.all(A.extent(0)) == 0) {
    fill_view(exec, d, 0);
    return;
  }
  if constexpr (is_gpu<ExecutionSpace>) {
    fine_column_sums<has_V>(exec, label, V, A, d, rows, workspace);
    return;
  }
  RowBlocks const blocks(rows.all(A.extent(0)), R);
  sum_row_blocks(
      exec, rows, blocks, R, 1, workspace,
      [&](double* partial, RowBlocks const& here) {
        ColumnSumBlocks<ExecutionSpace, Scalar, has_V> const kernel{V, A, partial, here};
        launch(exec, label, kernel.items(), here.rows_per_block * R, kernel);
      },
      [&](double* partial, std::uint64_t count) {
        double const* const sums = sum_blocks(exec, partial, count, R);
        launch(exec, "sporades::dense::store_columns", R, 1, StoreColumns<Output>{sums, d});
      });
}

/// A(i, r) *= s(r). A: I x R, s: R of A's scalar type. Enqueued on exec, does not fence.
/// Throws Error if the shapes disagree. KokkosBlas::scal gives the same bits and takes, on an H200
/// with 16 million rows of 4, 16 and 32 columns, 2.4, 5.4 and 7.7 times as long in float, and 2.3,
/// 3.9 and 3.9 times in double; on CPUs, with 200,000 rows, 2.6 to 10.8 times for 16 to 128
/// columns, and 0.25 (float) and 0.56 times (double) for 4.
template <class ExecutionSpace, class MatrixType, class VectorType>
void scale_columns(ExecutionSpace const& exec, MatrixType const& A, VectorType const& s) {
  using Scalar = typename MatrixType::non_const_value_type;
  expects(A.extent(1) == s.extent(0), "scale_columns: A has ", A.extent(1), " columns, s has ",
          s.extent(0), " entries");
  if (A.extent(0) == 0 || A.extent(1) == 0) return;
  for_packed<ExecutionSpace>(
      [&](auto packed) {
        ScaleColumns<ExecutionSpace, Scalar, packed()> const kernel{A, s};
        launch(exec, "sporades::dense::scale_columns", kernel.items(),
               kernel.rows_per_item * A.extent(1), kernel);
      },
      A);
}

/// d(r) = sum_i V(i, r) A(i, r), in double and in an order given by the shape alone.
/// V, A: I x R, d: R doubles. Enqueued on exec, does not fence except where the workspace grows. V
/// and A may be the rows that are here of distributed matrices: then this is collective, fences
/// exec, and gives d of the whole. Throws Error if the shapes disagree. The bits of KokkosBlas::dot
/// of matrices change from run to run of an H200, where it takes 3.2 to 12 times as long for 16
/// million rows of 16 and 32 columns.
template <class ExecutionSpace, class Left, class Right, class Output, class Memory>
void column_dots(ExecutionSpace const& exec, Left const& V, Right const& A, Output const& d,
                 Workspace<Memory>& workspace, RowMap const& rows = {}) {
  expects(V.extent(0) == A.extent(0) && V.extent(1) == A.extent(1) && d.extent(0) == A.extent(1),
          "column_dots: V is ", V.extent(0), " x ", V.extent(1), ", A is ", A.extent(0), " x ",
          A.extent(1), ", d has ", d.extent(0), " entries");
  sum_columns<true>(exec, "sporades::dense::column_dots", V, A, d, rows, workspace);
}

/// d(r) = sum_i A(i, r), as column_dots. The bits of KokkosBlas::sum change, too, and it takes 2.9
/// to 8.7 times as long.
template <class ExecutionSpace, class MatrixType, class Output, class Memory>
void column_sums(ExecutionSpace const& exec, MatrixType const& A, Output const& d,
                 Workspace<Memory>& workspace, RowMap const& rows = {}) {
  expects(d.extent(0) == A.extent(1), "column_sums: A has ", A.extent(1), " columns, d has ",
          d.extent(0), " entries");
  sum_columns<false>(exec, "sporades::dense::column_sums", A, A, d, rows, workspace);
}

}  // namespace sporades::detail
