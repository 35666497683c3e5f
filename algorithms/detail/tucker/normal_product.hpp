// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/detail/streaming.hpp>
#include <sporades/kernels/detail/row_sums.hpp>

namespace sporades::detail {

/// What normal_product computes.
enum class NormalStep {
  both,  // U = Y V and Z = Y^T U, in one pass over Y
  left,  // U = Y V
  right  // Z = Y^T U from a U that is given
};

/// The step for a block of rows and, one after another, tiles of eight or four vectors. Eight rows
/// at a time meet V, and the eight before them, which are in cache, are added to the block's sums
/// in the same loop: so Y comes from memory once, where two products would read it twice, and
/// memory does not wait for the sums. An entry of Y meets a whole tile: no sums across registers.
template <class Scalar, class MemorySpace, NormalStep step>
struct NormalBlocks {
  static constexpr int rows_at_once = 8, columns_at_once = 4;
  static constexpr bool multiplies = step != NormalStep::right, adds = step != NormalStep::left;

  RawMatrix<Scalar const, MemorySpace> Y;  // I x P, P a multiple of 4
  RawMatrix<double const, MemorySpace> V;  // P x Q, Q a multiple of 4
  RawMatrix<Scalar, MemorySpace> U;        // I x up to Q
  double* partial;                         // [block][P][Q]
  RowBlocks blocks;

  KOKKOS_FUNCTION void operator()(std::uint64_t block) const {
    std::uint64_t const begin = blocks.begin(block), end = blocks.end(block), Q = V.extent(1);
    double* const sums = partial + block * V.extent(0) * Q;
    if constexpr (adds)
      for (std::uint64_t e = 0; e < V.extent(0) * Q; ++e) sums[e] = 0;
    std::uint64_t q = 0;
    for (; q + 8 <= Q; q += 8) vectors<8>(begin, end, q, sums);
    if (q < Q) vectors<4>(begin, end, q, sums);
  }

  template <int Width>
  KOKKOS_INLINE_FUNCTION void vectors(std::uint64_t begin, std::uint64_t end, std::uint64_t q,
                                      double* sums) const {
    using T = Tile<double, Width>;
    constexpr int count = rows_at_once;
    T left[count], before[count];
    std::uint64_t const whole = begin + (end - begin) / count * count;
    for (std::uint64_t i = begin; i < whole; i += count) {
      if constexpr (step == NormalStep::right) {
        load_left(i, q, left);
        pass<false, true>(i, q, left, left, sums);
      } else {
        if (adds && i > begin)
          pass<true, adds>(i, q, left, before, sums);
        else
          pass<true, false>(i, q, left, before, sums);
        store_left(i, q, left);
        for (int r = 0; r < count; ++r) before[r] = left[r];
      }
    }
    if (step == NormalStep::both && whole > begin)
      pass<false, true>(whole - count, q, left, before, sums);
    for (std::uint64_t i = whole; i < end; ++i) {
      T one[1];
      if constexpr (multiplies) {
        pass<true, false>(i, q, one, one, sums);
        store_left(i, q, one);
      } else {
        load_left(i, q, one);
      }
      if constexpr (adds) pass<false, true>(i, q, one, one, sums);
    }
  }

  /// left = the rows from i on times V, and sums += the rows times `before`: these rows, or where
  /// both are done those before them.
  template <bool multiply, bool add, int Width, int count>
  KOKKOS_FORCEINLINE_FUNCTION void pass(std::uint64_t i, std::uint64_t q,
                                        Tile<double, Width> (&left)[count],
                                        Tile<double, Width> const (&before)[count],
                                        double* sums) const {
    using T = Tile<double, Width>;
    constexpr int width = columns_at_once;
    constexpr int ahead = 64;  // columns: a few lines, which is what memory takes to come
    std::uint64_t const P = V.extent(0), Q = V.extent(1);
    Scalar const* const y = &Y(i, 0);
    Scalar const* const old = multiply ? y - count * P : y;
    T total[count], factor[count];
    for (int r = 0; r < count; ++r) total[r].fill(0);
    if constexpr (add)
      for (int r = 0; r < count; ++r) factor[r] = before[r];
    for (std::uint64_t c = 0; c < P; c += width) {
      T tile[width];
      if constexpr (multiply) {
        for (int j = 0; j < width; ++j) tile[j] = load_tile<double, Width>(&V(c + j, q));
        unrolled<count>([&](int r) {
          prefetch(y + r * P + c + ahead);
          for (int j = 0; j < width; ++j)
            total[r].add_product(static_cast<double>(y[r * P + c + j]), tile[j]);
        });
      }
      if constexpr (add) {
        double* const sum = sums + c * Q + q;
        for (int j = 0; j < width; ++j) tile[j] = load_tile<double, Width>(sum + j * Q);
        unrolled<count>([&](int r) {
          for (int j = 0; j < width; ++j)
            tile[j].add_product(static_cast<double>(old[r * P + c + j]), factor[r]);
        });
        for (int j = 0; j < width; ++j) store_tile<double, Width>(tile[j], sum + j * Q);
      }
    }
    if constexpr (multiply)
      for (int r = 0; r < count; ++r) left[r] = total[r];
  }

  template <int Width, int count>
  KOKKOS_FORCEINLINE_FUNCTION void load_left(std::uint64_t i, std::uint64_t q,
                                             Tile<double, Width> (&left)[count]) const {
    for (int r = 0; r < count; ++r)
      for (int k = 0; k < Width; ++k)
        left[r].set(k, q + k < U.extent(1) ? static_cast<double>(U(i + r, q + k)) : 0);
  }
  template <int Width, int count>
  KOKKOS_FORCEINLINE_FUNCTION void store_left(std::uint64_t i, std::uint64_t q,
                                              Tile<double, Width> const (&left)[count]) const {
    for (int r = 0; r < count; ++r)
      for (int k = 0; k < Width; ++k)
        if (q + k < U.extent(1)) U(i + r, q + k) = static_cast<Scalar>(left[r][k]);
  }
};

/// The blocks of rows of normal_product, whose partial sums, of P Q entries, take up to 8 MiB.
inline RowBlocks normal_blocks(std::uint64_t rows, std::uint64_t entries) {
  return RowBlocks(rows, 4 * entries);
}

/// U = Y V and Z = Y^T U on a CPU, or one of them. Y: I x P, contiguous, P a multiple of 4. V, Z: P
/// x Q in double, contiguous, Q a multiple of 4. U: I x up to Q, contiguous or padded. Blocks of
/// rows and the order of their sums are given by the shape alone: the same bits on any number of
/// threads and processes. Enqueued on exec, does not fence except where the workspace grows. 2 I P
/// Q flops a product; reads Y once. Y and U may be the rows that are here of distributed matrices:
/// then sums are collective, fence exec, and give Z of the whole.
template <NormalStep step, class ExecutionSpace, class Scalar, class MemorySpace, class Vectors>
void normal_product(ExecutionSpace const& exec, Matrix<Scalar, MemorySpace> const& Y,
                    Vectors const& V, Matrix<Scalar, MemorySpace> const& U, Vectors const& Z,
                    Workspace<MemorySpace>& workspace, RowMap const& rows = {}) {
  std::uint64_t const entries = V.extent(0) * V.extent(1);
  auto const multiply = [&](double* partial, RowBlocks const& here) {
    launch_items(exec, "sporades::tucker::normal_product", here.count,
                 NormalBlocks<Scalar, MemorySpace, step>{Y, V, U, partial, here});
  };
  if constexpr (step == NormalStep::left)
    multiply(nullptr, normal_blocks(Y.extent(0), entries));
  else
    sum_row_blocks(exec, rows, normal_blocks(rows.all(Y.extent(0)), entries), entries, 1, workspace,
                   multiply, [&](double* partial, std::uint64_t count) {
                     double const* const total = sum_blocks(exec, partial, count, entries);
                     launch_items(exec, "sporades::tucker::store_product", entries,
                                  StoreGram<Vectors>{total, Z, false});
                   });
}

}  // namespace sporades::detail
