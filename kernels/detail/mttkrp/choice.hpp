// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <sporades/core/detail/memory.hpp>
#include <sporades/core/matrix.hpp>
#include <sporades/formats/detail/estimate_tuples.hpp>
#include <sporades/kernels/mttkrp.hpp>

/// What a plan does for each mode, and the rules by which `automatic` chooses it.

namespace sporades::detail {

/// The modes from the shortest to the longest.
inline std::vector<int> modes_by_length(Dims const& dims) {
  std::vector<int> modes(dims.size());
  std::iota(modes.begin(), modes.end(), 0);
  std::stable_sort(modes.begin(), modes.end(), [&](int a, int b) { return dims[a] < dims[b]; });
  return modes;
}

/// The order of modes that lists and trees for MTTKRP on mode n are sorted by: n, then the others
/// from the shortest to the longest, so that fibers are few and long.
inline std::vector<int> mttkrp_mode_order(Dims const& dims, int n) {
  auto modes = modes_by_length(dims);
  modes.erase(std::find(modes.begin(), modes.end(), n));
  modes.insert(modes.begin(), n);
  return modes;
}

/// Counts the nonzeros that begin a run of words which agree in the bits of the mask.
template <class Words>
struct CountRuns {
  using Word = typename Words::non_const_value_type;
  Words words;
  Word mask;
  KOKKOS_FUNCTION void operator()(Position p, Position& runs) const {
    if (p == 0 || (words(p) & row_flag<Word>) || ((words(p) ^ words(p - 1)) & mask)) ++runs;
  }
};

/// The runs of nonzeros of one row that agree in the first `split` modes of X.modes. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Position count_runs(ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& X,
                    int split) {
  Position runs = 0;
  auto const count = [&](auto const& words) {
    using Words = std::decay_t<decltype(words)>;
    using Word = typename Words::non_const_value_type;
    Word const mask = split == 0 ? Word{0} : static_cast<Word>(~Word{0} << X.shifts[split - 1]);
    Kokkos::parallel_reduce(
        "sporades::mttkrp::count_runs",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>(exec, 0, words.extent(0)),
        CountRuns<Words>{words, mask}, runs);
  };
  if (X.wide.extent(0) > 0)
    count(X.wide);
  else
    count(X.narrow);
  return runs;
}

/// Bytes of a second-level cache, and those of factor rows that stay in it.
inline constexpr double cache_bytes = 2 << 20;
inline constexpr double cached_bytes = 3 << 19;

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

/// The largest blocks of 2^k indices in every mode whose factor rows, of all modes together, stay
/// in the cache: k. 0 where all rows do anyway, and on GPUs, whose caches hold more.
template <class ExecutionSpace, class Scalar>
int cache_block_bits(Dims const& dims, int rank) {
  if (is_gpu<ExecutionSpace> || factor_bytes<Scalar>(dims, rank, -1) <= cached_bytes) return 0;
  int bits = 31;
  while (bits > 0 && factor_bytes<Scalar>(dims, rank, -1, bits) > cached_bytes) --bits;
  return bits;
}

/// How many of the other modes are multiplied once a run of nonzeros that agree in them, and what a
/// nonzero costs then, in factor rows out of the second-level cache.
struct RunSplit {
  int modes;
  double rows;
};

/// The cheapest split. prices[k] is that of a factor row of the k-th other mode, run_lengths[k] the
/// mean of runs that agree in the first k. A nonzero costs a row for each mode that is left, a run
/// one for each that is not, and about four more for a branch mispredicted (CPUs; nine where
/// kernels do not unroll over the modes, measured on 20^3 x 500^3), or seven for loads that wait
/// (GPUs).
template <class ExecutionSpace>
RunSplit choose_split(std::vector<double> const& prices, std::vector<double> const& run_lengths,
                      bool unrolled = true) {
  double const turn = is_gpu<ExecutionSpace> ? 7 : unrolled ? 4 : 9;
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

/// `alto` where factor rows exceed the cache, and those that a block of the cache's size touches
/// are fewer than its nonzeros, so that each is used again while it is there; else rows in order.
inline MttkrpChoice choose_layout(Dims const& dims, Position nnz, int block_bits, double blocks) {
  MttkrpChoice choice;
  choice.strategy = MttkrpStrategy::sorted;
  int bits = 0;
  for (auto dim : dims) bits += detail::index_bits(dim);
  if (block_bits == 0 || bits > AltoLayout::most_bits) return choice;
  double rows = 0;
  for (auto dim : dims) rows += static_cast<double>(std::min(dim, std::uint64_t{1} << block_bits));
  if (static_cast<double>(nnz) < blocks * rows) {
    choice.reason = "in blocks of the cache's size a linear order reads more rows than nonzeros; ";
    return choice;
  }
  choice.strategy = MttkrpStrategy::alto;
  choice.reason = "a linear order reads its rows again while they are cached";
  return choice;
}

/// What a factor row out of the first-level cache costs, out of the second-level one 1.
inline constexpr double first_level_price = 0.4;

template <class Scalar>
bool is_in_first_level(Dims const& dims, int rank, int m) {
  constexpr double first_level = 32 << 10;
  return static_cast<double>(dims[m]) * detail::row_bytes<Scalar>(rank) <= first_level;
}

/// The price of a factor row of mode m, out of the second-level cache 1: two fifths where the first
/// level holds the factor, and four times as much for the part past the second, where the factors
/// of all modes but n, `bytes` long, exceed it.
template <class Scalar>
double row_price(Dims const& dims, int rank, int m, double bytes) {
  if (is_in_first_level<Scalar>(dims, rank, m)) return first_level_price;
  return bytes > cached_bytes ? 4 - 3 * cached_bytes / bytes : 1;
}

/// What rows of mode n in order cost a nonzero, in factor rows out of the second-level cache.
/// price_of(m): that of a row of mode m; length_of(set): the mean of runs that agree in the modes
/// whose bits are set.
template <class ExecutionSpace, class PriceOf, class LengthOf>
double rows_in_order(Dims const& dims, int n, PriceOf const& price_of, LengthOf const& length_of) {
  auto const modes = detail::mttkrp_mode_order(dims, n);
  std::vector<double> prices, lengths{1};
  std::uint32_t set = std::uint32_t{1} << n;
  for (std::size_t k = 1; k < modes.size(); ++k) {
    prices.push_back(price_of(modes[k]));
    if (k + 1 == modes.size()) break;
    set |= std::uint32_t{1} << modes[k];
    lengths.push_back(length_of(set));
  }
  return detail::choose_split<ExecutionSpace>(prices, lengths).rows;
}

/// Reverts from `alto` to `sorted` where that costs clearly less over all modes. `alto` costs a row
/// of every mode out of a cache, many out of the first level; and its one copy may stay in the last
/// level from mode to mode, where N copies do not: measured, rows in order lost a tenth at 0.60 of
/// its price, and took two thirds of its time at 0.53. Lengths of runs are estimated, unless not
/// even endless ones would do. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void reconsider_rows(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                     int rank, MttkrpChoice& choice) {
  double linear = 0;
  for (int n = 0; n < X.order(); ++n) {
    if (!detail::fits_packed(X.dims, n)) return;
    linear += X.order() * row_price<Scalar>(X.dims, rank, n, 0);
  }
  auto const rows = [&](auto const& length_of) {
    double sum = 0;
    for (int n = 0; n < X.order(); ++n) {
      double const bytes = detail::factor_bytes<Scalar>(X.dims, rank, n);
      auto const price_of = [&](int m) { return row_price<Scalar>(X.dims, rank, m, bytes); };
      sum += rows_in_order<ExecutionSpace>(X.dims, n, price_of, length_of);
    }
    return sum / linear;
  };
  constexpr double enough = 0.55;
  if (rows([](std::uint32_t) { return 1e30; }) > enough) return;
  std::map<std::uint32_t, double> lengths;
  double const share = rows([&](std::uint32_t set) {
    auto& length = lengths[set];
    if (length == 0)
      length = static_cast<double>(X.nnz()) / std::max(detail::estimate_tuples(exec, X, set), 1.0);
    return length;
  });
  char text[120];
  std::snprintf(text, sizeof text,
                "nonzeros in order of rows cost %.2g of what a linear order costs; ", share);
  if (share < enough) choice = {MttkrpStrategy::sorted, RowOrder::lexicographic, 0, text};
}

/// How `automatic` lays X out for all modes: by choose_layout and reconsider_rows. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
MttkrpChoice automatic_layout(ExecutionSpace const& exec,
                              CooTensor<Scalar, Index, MemorySpace> const& X, int rank) {
  int const block_bits = detail::cache_block_bits<ExecutionSpace, Scalar>(X.dims, rank);
  auto choice =
      choose_layout(X.dims, X.nnz(), block_bits,
                    block_bits > 0 ? detail::estimate_tuples(exec, X, ~0u, block_bits) : 0);
  if (choice.strategy == MttkrpStrategy::alto) reconsider_rows(exec, X, rank, choice);
  if (!detail::is_gpu<ExecutionSpace>)
    choice.reason =
        concatenate("factor rows of all modes: ",
                    detail::bytes_text(detail::factor_bytes<Scalar>(X.dims, rank, -1)),
                    ", room for them in a second-level cache: ", detail::bytes_text(cached_bytes),
                    "; ") +
        choice.reason;
  return choice;
}

/// The split for X by choose_split; the run length that it leads to goes into the reason.
template <class ExecutionSpace, class Packed>
int measured_split(ExecutionSpace const& exec, Packed const& X, std::string& reason) {
  std::vector<double> lengths{1};
  for (int k = 1; k <= X.order() - 2; ++k)
    lengths.push_back(static_cast<double>(X.nnz()) /
                      static_cast<double>(std::max<Position>(detail::count_runs(exec, X, k), 1)));
  bool const unrolled = is_unrolled<typename Packed::Index>(X.order() - 1);
  int const split =
      detail::choose_split<ExecutionSpace>(std::vector<double>(X.order() - 1, 1), lengths, unrolled)
          .modes;
  char text[120];
  if (split > 0)
    std::snprintf(text, sizeof text, "runs that agree in %d of %d modes hold %.3g nonzeros", split,
                  X.order() - 1, lengths[split]);
  else
    std::snprintf(text, sizeof text, "fibers hold %.3g nonzeros", lengths.back());
  reason += text;
  return split;
}

}  // namespace sporades::detail
