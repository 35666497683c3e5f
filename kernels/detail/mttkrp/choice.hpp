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
#include <sporades/kernels/detail/mttkrp/cost_model.hpp>
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

/// The largest blocks of 2^k indices in every mode whose factor rows, of all modes together, stay
/// in the cache: k. 0 where all rows do anyway, and on GPUs, whose caches hold more.
template <class ExecutionSpace, class Scalar>
int cache_block_bits(Dims const& dims, int rank, double cached = cached_bytes()) {
  if (is_gpu<ExecutionSpace> || factor_bytes<Scalar>(dims, rank, -1) <= cached) return 0;
  int bits = 31;
  while (bits > 0 && factor_bytes<Scalar>(dims, rank, -1, bits) > cached) --bits;
  return bits;
}

/// `alto` where factor rows exceed the cache, and those that a block of the cache's size touches
/// are fewer than its nonzeros, so that each is used again while it is there; else rows in order.
inline MttkrpChoice choose_layout(Dims const& dims, Position nnz, int block_bits, double blocks) {
  MttkrpChoice choice;
  choice.strategy = MttkrpStrategy::sorted;
  int bits = 0;
  for (auto dim : dims) bits += index_bits(dim);
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

/// What rows of mode n in order cost a nonzero, in factor rows out of the second-level cache.
/// price_of(m): that of a row of mode m; length_of(set): the mean of runs that agree in the modes
/// whose bits are set.
template <class ExecutionSpace, class PriceOf, class LengthOf>
double rows_in_order(Dims const& dims, int n, PriceOf const& price_of, LengthOf const& length_of) {
  auto const modes = mttkrp_mode_order(dims, n);
  std::vector<double> prices, lengths{1};
  std::uint32_t set = std::uint32_t{1} << n;
  for (std::size_t k = 1; k < modes.size(); ++k) {
    prices.push_back(price_of(modes[k]));
    if (k + 1 == modes.size()) break;
    set |= std::uint32_t{1} << modes[k];
    lengths.push_back(length_of(set));
  }
  return choose_split<ExecutionSpace>(prices, lengths).rows;
}

/// Reverts from `alto` to `sorted` where its modelled cost over all modes is below sorted_share of
/// alto's: a row of every mode out of a cache. The share is below 1 since the one copy of `alto`
/// may stay in the last level from mode to mode, where N copies do not. Lengths of runs are
/// estimated, unless not even endless ones would do. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void reconsider_rows(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                     int rank, MttkrpChoice& choice) {
  double linear = 0;
  for (int n = 0; n < X.order(); ++n) {
    if (!fits_packed(X.dims, n)) return;
    linear += X.order() * row_price<Scalar>(X.dims, rank, n, 0);
  }
  auto const rows = [&](auto const& length_of) {
    double sum = 0;
    for (int n = 0; n < X.order(); ++n) {
      double const bytes = factor_bytes<Scalar>(X.dims, rank, n);
      auto const price_of = [&](int m) { return row_price<Scalar>(X.dims, rank, m, bytes); };
      sum += rows_in_order<ExecutionSpace>(X.dims, n, price_of, length_of);
    }
    return sum / linear;
  };
  if (rows([](std::uint32_t) { return 1e30; }) > sorted_share) return;
  std::map<std::uint32_t, double> lengths;
  double const share = rows([&](std::uint32_t set) {
    auto& length = lengths[set];
    if (length == 0)
      length = static_cast<double>(X.nnz()) / std::max(estimate_tuples(exec, X, set), 1.0);
    return length;
  });
  char text[120];
  std::snprintf(text, sizeof text,
                "nonzeros in order of rows cost %.2g of what a linear order costs; ", share);
  if (share < sorted_share) choice = {MttkrpStrategy::sorted, RowOrder::lexicographic, 0, text};
}

/// How `automatic` lays X out for all modes, for products on ExecutionSpace: by choose_layout and
/// reconsider_rows. exec can access X. Fences exec.
template <class ExecutionSpace, class Builder, class Scalar, class Index, class MemorySpace>
MttkrpChoice automatic_layout([[maybe_unused]] Builder const& exec,
                              CooTensor<Scalar, Index, MemorySpace> const& X, int rank) {
  if constexpr (is_gpu<ExecutionSpace>) {
    return choose_layout(X.dims, X.nnz(), 0, 0);
  } else {
    int const block_bits = cache_block_bits<ExecutionSpace, Scalar>(X.dims, rank);
    auto choice = choose_layout(X.dims, X.nnz(), block_bits,
                                block_bits > 0 ? estimate_tuples(exec, X, ~0u, block_bits) : 0);
    if (choice.strategy == MttkrpStrategy::alto) reconsider_rows(exec, X, rank, choice);
    choice.reason =
        concatenate(
            "factor rows of all modes: ", bytes_text(factor_bytes<Scalar>(X.dims, rank, -1)),
            ", room for them in a second-level cache: ", bytes_text(cached_bytes()), "; ") +
        choice.reason;
    return choice;
  }
}

/// The split for products of X on ExecutionSpace by choose_split; the run length that it leads to
/// goes into the reason. exec can access X. Fences exec.
template <class ExecutionSpace, class Builder, class Packed>
int measured_split(Builder const& exec, Packed const& X, std::string& reason) {
  std::vector<double> lengths{1};
  for (int k = 1; k <= X.order() - 2; ++k)
    lengths.push_back(static_cast<double>(X.nnz()) /
                      static_cast<double>(std::max<Position>(count_runs(exec, X, k), 1)));
  bool const unrolled = is_unrolled<typename Packed::Index>(X.order() - 1);
  int const split =
      choose_split<ExecutionSpace>(std::vector<double>(X.order() - 1, 1), lengths, unrolled).modes;
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
