// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense/blocks.hpp>
#include <sporades/core/detail/tile.hpp>

namespace sporades::detail {

/// True for NVIDIA GPUs of compute capability 8 and later, which have instructions for products of
/// doubles.
#if defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ARCH_KEPLER) &&   \
    !defined(KOKKOS_ARCH_MAXWELL) && !defined(KOKKOS_ARCH_PASCAL) && \
    !defined(KOKKOS_ARCH_VOLTA) && !defined(KOKKOS_ARCH_TURING75)
template <class ExecutionSpace>
inline constexpr bool has_products_of_lanes = std::is_same_v<ExecutionSpace, Kokkos::Cuda>;
#else
template <class ExecutionSpace>
inline constexpr bool has_products_of_lanes = false;
#endif

/// C += A^T B of four rows of 16 columns A and eight columns B that 32 lanes hold: lane 4 g + k has
/// A(k, g), A(k, g + 8) and B(k, g); of C it has C(g, 2 k), C(g, 2 k + 1), C(g + 8, 2 k) and
/// C(g + 8, 2 k + 1). By an instruction where has_products_of_lanes.
KOKKOS_FORCEINLINE_FUNCTION void add_product_of_lanes([[maybe_unused]] VectorLanes const& lanes,
                                                      double a0, double a1, double b,
                                                      double (&c)[4]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile(
      "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
      "{%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a0), "d"(a1), "d"(b));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};"
               : "+d"(c[0]), "+d"(c[1])
               : "d"(a0), "d"(b));
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};"
               : "+d"(c[2]), "+d"(c[3])
               : "d"(a1), "d"(b));
#else
  int const g = lanes.mine() / 4 * 4, k = lanes.mine() % 4;
  for (int row = 0; row < 4; ++row) {
    double const left[] = {lanes.of(g + row, a0), lanes.of(g + row, a1)};
    double const right[] = {lanes.of(8 * k + row, b), lanes.of(8 * k + 4 + row, b)};
    for (int e = 0; e < 4; ++e) c[e] += left[e / 2] * right[e % 2];
  }
#endif
}

/// Columns that a warp multiplies, from column `first` on: `parts` of eight. With `packed`, lanes
/// load packs of neighbouring columns, so that a part's columns are `pack` apart.
template <class Scalar, bool packed, int parts_>
struct ColumnParts {
  static constexpr int parts = parts_, columns = 8 * parts;
  static constexpr int most = 16 / sizeof(Scalar);
  static constexpr int pack = !packed ? 1 : most < parts ? most : parts;

  std::uint64_t first;

  /// Where among the columns the n-th of a part is.
  static KOKKOS_FORCEINLINE_FUNCTION int column(int part, int n) {
    return part / pack * 8 * pack + n * pack + part % pack;
  }

  /// x[part] = X(row, the lane's column of the part), 0 past the last row or column.
  template <class MatrixType>
  KOKKOS_FORCEINLINE_FUNCTION void load(MatrixType const& X, std::uint64_t row, std::uint64_t end,
                                        int n, Scalar (&x)[parts]) const {
    unrolled<parts / pack>([&](int p) {
      std::uint64_t const at = first + column(p * pack, n);
      Scalar const* const from = X.data() + row * X.stride(0) + at;
      if (row < end && at + pack <= X.extent(1)) {
        auto const several = *reinterpret_cast<Pack<Scalar, pack> const*>(from);
        unrolled<pack>([&](int e) { x[p * pack + e] = several.entry[e]; });
      } else {
        unrolled<pack>([&](int e) {
          x[p * pack + e] = row < end && at + e < X.extent(1) ? from[e] : Scalar(0);
        });
      }
    });
  }
};

/// Partial sums of A^T B over one block of rows, on GPUs: partial[block][i][j]. A team takes a
/// block of rows, `left` parts of eight columns of A and `right` ones of B; with is_all, all parts
/// of A, which is B. Its warps load four rows at a time, each lane the entries that it multiplies,
/// and add the products of their rows in registers; their sums are added in order. A float is
/// converted where it is loaded. Times on an H200, 2026-11-26, those of cuBLAS in double in
/// brackets, microseconds:
///   A^T A, double, 18 million rows of 16, 32, 64 columns: 550, 1160, 2830; in float 363, 915, 2190
///   A^T B, double, 16 million rows of 16 and 16, 16 and 32, 32 and 32 columns: 1150 (940), 1440
///     (1400), 2080 (1870)
///   A^T B, double, 160,000 rows of 32 and 1024, 16 and 256 columns: 620 (324), 123 (105)
template <class ExecutionSpace, class Scalar, bool packed, int left, int right, bool is_all>
struct GramWarps {
  static constexpr int warps = 8, threads = 32 * warps;
  static constexpr int step = 4 * warps;  // rows
  // Results of 16 x 8 columns, four in a lane.
  static constexpr int results = is_all ? left / 2 * (left / 2 + 1) : left / 2 * right;
  static constexpr int scratch_bytes = warps * threads * sizeof(double);
  // Rows that a lane loads at once, whether it does so before it multiplies those before them, and
  // teams that a multiprocessor is to hold: measured on an H200.
  static constexpr bool is_square = !is_all && left == right;
  static constexpr int row_bytes = (is_all ? left : left + right) * sizeof(Scalar);
  static constexpr int rows_at_once = row_bytes <= 16 ? 4 : is_square ? 1 : 2;
  static constexpr bool loads_ahead =
      !std::is_same_v<Scalar, double> || (left == right && left > 2);
  using Policy =
      Kokkos::TeamPolicy<ExecutionSpace, TeamBounds<ExecutionSpace, threads, is_square ? 2 : 1>>;
  using Member = typename Policy::member_type;
  using Const =
      Kokkos::View<Scalar const**, Kokkos::LayoutRight, typename ExecutionSpace::memory_space>;
  using Left = ColumnParts<Scalar, packed, left>;
  using Right = ColumnParts<Scalar, packed, right>;

  Const A, B;  // I x R, I x S
  double* partial;
  RowBlocks blocks;
  bool symmetric;  // A and B are the same: sums[i][j] for i <= j only

  KOKKOS_INLINE_FUNCTION std::uint64_t left_panels() const {
    return is_all ? 1 : (A.extent(1) + Left::columns - 1) / Left::columns;
  }
  KOKKOS_INLINE_FUNCTION std::uint64_t right_panels() const {
    return is_all ? 1 : (B.extent(1) + Right::columns - 1) / Right::columns;
  }
  std::uint64_t teams() const { return blocks.count * left_panels() * right_panels(); }

  /// Rows that a lane has loaded.
  struct Rows {
    Scalar a[is_all ? 1 : rows_at_once][left], b[rows_at_once][right];
  };

  KOKKOS_FUNCTION void operator()(Member const& team) const {
    auto const item = static_cast<std::uint64_t>(team.league_rank());
    std::uint64_t const block = item / (left_panels() * right_panels());
    Left const rows_of_C{item / right_panels() % left_panels() * Left::columns};
    Right const columns_of_C{item % right_panels() * Right::columns};
    if (symmetric && columns_of_C.first + Right::columns <= rows_of_C.first) return;
    auto const lanes = VectorLanes::of_items(32);

    double sums[results][4] = {};
    std::uint64_t const end = blocks.end(block);
    std::uint64_t row = blocks.begin(block) + team.team_rank() / 32 * 4;
    Rows next = loads_ahead ? load(lanes, rows_of_C, columns_of_C, row, end) : Rows{};
    for (; row < end; row += step * rows_at_once) {
      Rows const rows = loads_ahead ? next : load(lanes, rows_of_C, columns_of_C, row, end);
      if (loads_ahead) next = load(lanes, rows_of_C, columns_of_C, row + step * rows_at_once, end);
      add_products(lanes, rows, sums);
    }
    add_warps(team, lanes, rows_of_C, columns_of_C, block, sums);
  }

  KOKKOS_INLINE_FUNCTION Rows load(VectorLanes const& lanes, Left const& rows_of_C,
                                   Right const& columns_of_C, std::uint64_t row,
                                   std::uint64_t end) const {
    int const n = lanes.mine() / 4, k = lanes.mine() % 4;
    Rows rows;
    unrolled<rows_at_once>([&](int u) {
      columns_of_C.load(B, row + step * u + k, end, n, rows.b[u]);
      if constexpr (!is_all) rows_of_C.load(A, row + step * u + k, end, n, rows.a[u]);
    });
    return rows;
  }

  KOKKOS_INLINE_FUNCTION void add_products(VectorLanes const& lanes, Rows const& rows,
                                           double (&sums)[results][4]) const {
    unrolled<rows_at_once>([&](int u) {
      double x[left], y[right];
      unrolled<right>([&](int j) { y[j] = static_cast<double>(rows.b[u][j]); });
      unrolled<left>([&](int i) {
        if constexpr (is_all)
          x[i] = y[i];
        else
          x[i] = static_cast<double>(rows.a[u][i]);
      });
      unrolled<left / 2>([&](int half) {
        unrolled<right>([&](int j) {
          if (is_all && j < 2 * half) return;
          add_product_of_lanes(lanes, x[2 * half], x[2 * half + 1], y[j],
                               sums[first_result(half) + j]);
        });
      });
    });
  }

  /// Results are numbered by pairs of left parts, and then by right parts; with is_all by those
  /// that are not below the diagonal. The number that right part 0 of a pair would have.
  static KOKKOS_FORCEINLINE_FUNCTION constexpr int first_result(int pair) {
    return is_all ? pair * (left - 1 - pair) : pair * right;
  }

  /// Two results at a time, which are an entry for each thread of the team.
  KOKKOS_INLINE_FUNCTION void add_warps(Member const& team, VectorLanes const& lanes,
                                        Left const& rows_of_C, Right const& columns_of_C,
                                        std::uint64_t block,
                                        double const (&sums)[results][4]) const {
    auto* const shared =
        static_cast<double*>(team.team_scratch(0).get_shmem_aligned(int{scratch_bytes}, 16));
    int const me = lanes.mine(), entry = team.team_rank() / 32;
    unrolled<results / 2>([&](int q) {
      unrolled<8>([&](int e) {
        shared[(team.team_rank() / 32 * 8 + e) * 32 + me] = sums[2 * q + e / 4][e % 4];
      });
      team.team_barrier();
      double total = 0;
      for (int w = 0; w < warps; ++w) total += shared[(w * 8 + entry) * 32 + me];
      int const result = 2 * q + entry / 4;
      int pair = left / 2 - 1;
      while (result < first_result(pair) + (is_all ? 2 * pair : 0)) --pair;
      store(rows_of_C, 2 * pair + entry % 4 / 2, me / 4, columns_of_C, result - first_result(pair),
            me % 4 * 2 + entry % 2, block, total);
      team.team_barrier();
    });
  }

  /// The sum of products of the m-th column of a left part and the n-th of a right part. With
  /// is_all the columns of parts are woven into one another: some of a part's are right of some of
  /// those of the next parts, and their sums are stored as those of the mirror image.
  KOKKOS_INLINE_FUNCTION void store(Left const& rows_of_C, int left_part, int m,
                                    Right const& columns_of_C, int right_part, int n,
                                    std::uint64_t block, double sum) const {
    std::uint64_t const i = rows_of_C.first + Left::column(left_part, m);
    std::uint64_t const j = columns_of_C.first + Right::column(right_part, n);
    std::uint64_t const R = A.extent(1), S = B.extent(1);
    if (i >= R || j >= S || (is_all && left_part > right_part)) return;
    if (i <= j || !symmetric)
      partial[(block * R + i) * S + j] = sum;
    else if (is_all && left_part < right_part)
      partial[(block * S + j) * S + i] = sum;
  }
};

}  // namespace sporades::detail
