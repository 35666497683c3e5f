// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense/blocks.hpp>
#include <sporades/core/detail/tile.hpp>

namespace sporades::detail {

/// C += A^T B of four rows of 16 columns A and eight columns B that 32 lanes hold: lane 4 g + k has
/// A(k, g), A(k, g + 8) and B(k, g); of C it has C(g, 2 k), C(g, 2 k + 1), C(g + 8, 2 k) and
/// C(g + 8, 2 k + 1). NVIDIA GPUs of compute capability 8 and later have instructions for it.
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
      Scalar const* const from = X.data() + row * X.stride_0() + at;
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

/// Partial sums of A^T A over one block of rows, on GPUs: partial[block][i][j] for i <= j. A team
/// takes a block of rows and `left` x `right` parts of eight columns; all parts of A where both are
/// the same. Its warps load four rows at a time, each lane the entries that it multiplies, and add
/// the products of their rows in registers; their sums are added in order. On an H200, in double,
/// cuBLAS takes 1.6, 1.0 and 1.0 times as long for 18 million rows of 16, 32 and 64 columns, 1.8,
/// 1.9 and 0.8 times for 100,000. A float is converted where it is loaded, and takes 0.7 to 0.9
/// times as long as a double.
template <class ExecutionSpace, class Scalar, bool packed, int left, int right>
struct GramWarps {
  static constexpr int warps = 8, threads = 32 * warps;
  static constexpr bool is_all = left == right;  // then parts below the diagonal are left out
  // Results of 16 x 8 columns, four in a lane.
  static constexpr int results = is_all ? left / 2 * (left / 2 + 1) : left / 2 * right;
  static constexpr int scratch_bytes = warps * threads * sizeof(double);
  // Rows that a lane loads before it multiplies: about 64 bytes (H200).
  static constexpr int row_bytes = (is_all ? left : left + right) * sizeof(Scalar);
  static constexpr int rows_at_once = row_bytes <= 16 ? 4 : 2;
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, TeamBounds<ExecutionSpace, threads, 1>>;
  using Member = typename Policy::member_type;
  using Const =
      Kokkos::View<Scalar const**, Kokkos::LayoutRight, typename ExecutionSpace::memory_space>;
  using Left = ColumnParts<Scalar, packed, left>;
  using Right = ColumnParts<Scalar, packed, right>;

  Const A;  // I x R
  double* partial;
  RowBlocks blocks;

  template <class Columns>
  KOKKOS_INLINE_FUNCTION std::uint64_t panels() const {
    return is_all ? 1 : (A.extent(1) + Columns::columns - 1) / Columns::columns;
  }
  std::uint64_t teams() const { return blocks.count * panels<Left>() * panels<Right>(); }

  KOKKOS_FUNCTION void operator()(Member const& team) const {
    auto const item = static_cast<std::uint64_t>(team.league_rank());
    std::uint64_t const block = item / (panels<Left>() * panels<Right>());
    Left const rows_of_G{item / panels<Right>() % panels<Left>() * Left::columns};
    Right const columns_of_G{item % panels<Right>() * Right::columns};
    if (columns_of_G.first + Right::columns <= rows_of_G.first) return;
    auto const lanes = VectorLanes::of_items(32);
    int const warp = team.team_rank() / 32, n = lanes.mine() / 4, k = lanes.mine() % 4;

    double sums[results][4] = {};
    std::uint64_t const end = blocks.end(block);
    constexpr int step = 4 * warps;
    for (std::uint64_t row = blocks.begin(block) + 4 * warp; row < end;
         row += step * rows_at_once) {
      [[maybe_unused]] Scalar a[is_all ? 1 : rows_at_once][left];
      Scalar b[rows_at_once][right];
      unrolled<rows_at_once>([&](int u) {
        std::uint64_t const mine = row + step * u + k;
        columns_of_G.load(A, mine, end, n, b[u]);
        if constexpr (!is_all) rows_of_G.load(A, mine, end, n, a[u]);
      });
      unrolled<rows_at_once>([&](int u) {
        double x[left], y[right];
        unrolled<right>([&](int j) { y[j] = static_cast<double>(b[u][j]); });
        unrolled<left>([&](int i) {
          if constexpr (is_all)
            x[i] = y[i];
          else
            x[i] = static_cast<double>(a[u][i]);
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
    add_warps(team, lanes, rows_of_G, columns_of_G, block, sums);
  }

  /// Results are numbered by pairs of left parts, and then by right parts; with is_all by those
  /// that are not below the diagonal. The number that right part 0 of a pair would have.
  static KOKKOS_FORCEINLINE_FUNCTION constexpr int first_result(int pair) {
    return is_all ? pair * (left - 1 - pair) : pair * right;
  }

  /// Two results at a time, which are an entry for each thread of the team.
  KOKKOS_INLINE_FUNCTION void add_warps(Member const& team, VectorLanes const& lanes,
                                        Left const& rows_of_G, Right const& columns_of_G,
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
      store(rows_of_G, 2 * pair + entry % 4 / 2, me / 4, columns_of_G, result - first_result(pair),
            me % 4 * 2 + entry % 2, block, total);
      team.team_barrier();
    });
  }

  /// The sum of products of the m-th column of a left part and the n-th of a right part. With
  /// is_all the columns of parts are woven into one another: some of a part's are right of some of
  /// those of the next parts, and their sums are stored as those of the mirror image.
  KOKKOS_INLINE_FUNCTION void store(Left const& rows_of_G, int left_part, int m,
                                    Right const& columns_of_G, int right_part, int n,
                                    std::uint64_t block, double sum) const {
    std::uint64_t const i = rows_of_G.first + Left::column(left_part, m);
    std::uint64_t const j = columns_of_G.first + Right::column(right_part, n);
    std::uint64_t const R = A.extent(1);
    if (i >= R || j >= R || (is_all && left_part > right_part)) return;
    if (i <= j)
      partial[(block * R + i) * R + j] = sum;
    else if (is_all && left_part < right_part)
      partial[(block * R + j) * R + i] = sum;
  }
};

}  // namespace sporades::detail
