// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <numeric>
#include <sporades/core/detail/host_caches.hpp>
#include <sporades/core/matrix.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <vector>

/// A model of what MTTKRP costs, by which CP-ALS fuses modes. Its unit is a
/// factor row that comes out of a second-level cache.

namespace sporades::detail {

// The constants of the model, measured on hosts with AVX-512 and 2 MiB of second-level cache a
// core, and on an H200.
inline constexpr double first_level_price = 0.4;  // of a row out of the first level (hosts)
inline constexpr double run_price = 4;            // of a run: a branch mispredicted (hosts)
inline constexpr double looped_run_price = 9;     // of a run where kernels loop over the modes:
                                                  // measured on 20^3 x 500^3 (hosts)
inline constexpr double gpu_run_price = 7;        // of a run: loads that wait (H200)

/// Bytes of factor rows that a second-level cache keeps, next to what else goes through it (hosts).
inline double cached_bytes() {
  return 0.75 * host_caches().second_level;
}

/// Bytes of a factor row of this many columns, padding included.
template <class Scalar>
double row_bytes(int rank) {
  return static_cast<double>(padded_columns(static_cast<std::size_t>(rank)) * sizeof(Scalar));
}

/// Bytes of the factors of all modes but n (-1: of all), of their first 2^bits rows at most.
template <class Scalar>
double factor_bytes(Dims const& dims, int rank, int n, int bits = 63) {
  double rows = 0;
  for (int m = 0; m < static_cast<int>(dims.size()); ++m)
    if (m != n) rows += static_cast<double>(std::min(dims[m], std::uint64_t{1} << bits));
  return rows * row_bytes<Scalar>(rank);
}

template <class Scalar>
bool is_in_first_level(Dims const& dims, int rank, int m) {
  return static_cast<double>(dims[m]) * row_bytes<Scalar>(rank) <= host_caches().first_level;
}

/// How many of the other modes are multiplied once a run of nonzeros that agree in them, and what a
/// nonzero costs then, in factor rows out of the second-level cache.
struct RunSplit {
  int modes;
  double rows;
};

/// The cheapest split. prices[k] is that of a factor row of the k-th other mode, run_lengths[k] the
/// mean length of runs that agree in the first k. A nonzero costs a row for each mode that is left;
/// a run costs a row for each mode that is not, and run_price more.
template <class ExecutionSpace>
RunSplit choose_split(std::vector<double> const& prices, std::vector<double> const& run_lengths,
                      bool unrolled = true) {
  double const turn = is_gpu<ExecutionSpace> ? gpu_run_price
                      : unrolled             ? run_price
                                             : looped_run_price;
  double left = std::accumulate(prices.begin(), prices.end(), 0.0), once = 0;
  RunSplit best{0, left};
  for (std::size_t k = 1; k < run_lengths.size(); ++k) {
    left -= prices[k - 1];
    once += prices[k - 1];
    double const rows = left + (once + turn) / run_lengths[k];
    if (rows < best.rows) best = {static_cast<int>(k), rows};
  }
  return best;
}

}  // namespace sporades::detail
