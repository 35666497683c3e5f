// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <sporades/kernels/detail/mttkrp/choice.hpp>
#include <sporades/kernels/mttkrp_all_modes_plan.hpp>

/// The choice of the modes that a dimension tree fuses, by the cost of products with and without it
/// and by its memory.
/// The unit of time is the read of a factor row of 16 doubles from the second-level cache.

namespace sporades::detail {

/// The most that a dimension tree takes, in the bytes of the smallest plan without it, one copy of
/// the nonzeros in a linear order: X' takes no more than X, and the matrices K and T and the grid
/// not more than the rest.
inline constexpr double most_tree_memory = 2;

/// Bytes of a cache, and the price of a row that the caches before it do not hold.
struct CacheLevel {
  double bytes, price;
};

/// Of factor rows, in the second-level cache for which the prices below were measured. With 1 MiB
/// of it on tensors like nips, fusing at R = 16 still pays, which prices for 1 MiB would deny.
inline constexpr double tree_cached_bytes = 3 << 19;

/// The second-level cache, a share of a third-level one, and memory; on GPUs there is no third.
/// Measured on 300 x 300 x 20000, and on 500 x 500 x 300, where a tree with matrices of 38 and
/// 300 MB took 2 and 3 times the time of no tree, which rows at a price of 11 to 12 explain.
template <class ExecutionSpace>
constexpr std::array<CacheLevel, 3> cache_levels() {
  if (is_gpu<ExecutionSpace>) return {{{25e6, 1}, {25e6, 4}, {1e300, 4}}};
  return {{{tree_cached_bytes, 1}, {8 << 20, 4}, {1e300, 12}}};
}

/// The mean price of a row of matrices that take so many bytes and are read in turn.
template <class ExecutionSpace>
double mean_price(double bytes) {
  double sum = 0, before = 0;
  for (auto const& level : cache_levels<ExecutionSpace>()) {
    double const here = std::min(bytes, level.bytes) - before;
    sum += here * level.price;
    before += here;
  }
  return bytes > 0 ? sum / bytes : 1;
}

/// The price of a row that no nearer cache than the one for so many bytes still holds.
template <class ExecutionSpace>
double fetch_price(double bytes) {
  for (auto const& level : cache_levels<ExecutionSpace>())
    if (bytes <= level.bytes) return level.price;
  return 1;
}

/// What a nonzero costs besides its rows.
inline constexpr double nonzero_price = 2;

/// Length of a row in rows of 16 doubles.
template <class Scalar>
double row_length(int rank) {
  return row_bytes<Scalar>(rank) / 128;
}

/// The products on every mode of nonzeros that are spread evenly: with rows in order, or in a
/// linear order where this suits them.
template <class ExecutionSpace, class Scalar>
double products_price(Dims const& dims, Position nnz, int rank) {
  int const N = static_cast<int>(dims.size());
  double const x = static_cast<double>(nnz);
  auto const length_of = [&](std::uint32_t set) {
    double cells = 1;
    for (int m = 0; m < N; ++m)
      if (set >> m & 1) cells *= static_cast<double>(dims[m]);
    return std::max(1.0, x / cells);
  };
  double in_order = 0, linear = 0, all_bits = 0;
  for (int n = 0; n < N; ++n) {
    double const price = mean_price<ExecutionSpace>(factor_bytes<Scalar>(dims, rank, n));
    auto const price_of = [&](int m) {
      return is_in_first_level<Scalar>(dims, rank, m) ? first_level_price : price;
    };
    in_order += rows_in_order<ExecutionSpace>(dims, n, price_of, length_of);
    linear += N * (is_in_first_level<Scalar>(dims, rank, n) ? first_level_price : 1);
    all_bits += index_bits(dims[n]);
  }
  double rows = in_order;
  int const bits = cache_block_bits<ExecutionSpace, Scalar>(dims, rank, tree_cached_bytes);
  if (bits > 0 && all_bits <= AltoLayout::most_bits) {
    double blocks = 1, block_rows = 0;
    for (auto dim : dims) {
      blocks *= std::ceil(static_cast<double>(dim) / std::exp2(bits));
      block_rows += std::min(static_cast<double>(dim), std::exp2(bits));
    }
    double const fetched = fetch_price<ExecutionSpace>(factor_bytes<Scalar>(dims, rank, -1));
    if (blocks * block_rows <= x)
      rows = std::min(rows, linear + N * blocks * block_rows / x * fetched);
  }
  return x * (rows * row_length<Scalar>(rank) + N * nonzero_price);
}

/// What the grid of S modes adds: T is written, read by the products on S modes, and K written by
/// one more.
template <class ExecutionSpace, class Scalar>
double grid_price(double cells, int S, int rank) {
  double const price = mean_price<ExecutionSpace>(2 * cells * row_bytes<Scalar>(rank));
  double const rows = price + S * (S - 1 + price) + S + price;
  return cells * (rows * row_length<Scalar>(rank) + (S + 1) * nonzero_price);
}

/// K, T, as many sums of parts of a linear order, and a copy of the grid's cells for each mode and
/// for the cells.
template <class Scalar>
double grid_bytes(double cells, int S, int rank) {
  return cells * (3 * row_bytes<Scalar>(rank) + (S + 1) * (8.0 + sizeof(Scalar)));
}

/// The modes of a tensor of these dims and nonzeros that are worth fusing, at this rank, or none.
/// Modes of S follow one another in the order of updates. Fusing them must save 15 % of
/// the time, since prices are rough, and take no more than most_tree_memory.
template <class ExecutionSpace, class Scalar>
std::vector<int> choose_fused_modes(Dims const& dims, Position nnz, int rank) {
  int const N = static_cast<int>(dims.size());
  double const copy = static_cast<double>(nnz) * (8 + sizeof(Scalar));
  double least = 0.85 * products_price<ExecutionSpace, Scalar>(dims, nnz, rank);
  std::vector<int> best;
  for (int size = 2; size < N; ++size)
    for (int first = 0; first < N; ++first) {
      std::vector<int> modes;
      double cells = 1;
      for (int k = 0; k < size; ++k) {
        modes.push_back((first + k) % N);
        cells *= static_cast<double>(dims[modes.back()]);
      }
      if (cells >= 4294967296.0 ||
          grid_bytes<Scalar>(cells, size, rank) > (most_tree_memory - 1) * copy)
        continue;
      Dims fused{static_cast<std::uint64_t>(cells)};
      for (int k = size; k < N; ++k) fused.push_back(dims[(first + k) % N]);
      double const price = products_price<ExecutionSpace, Scalar>(fused, nnz, rank) +
                           grid_price<ExecutionSpace, Scalar>(cells, size, rank);
      if (price < least) {
        least = price;
        best = modes;
      }
    }
  return best;
}

}  // namespace sporades::detail
