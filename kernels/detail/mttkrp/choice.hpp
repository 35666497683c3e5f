// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <sporades/core/detail/memory.hpp>
#include <sporades/core/matrix.hpp>
#include <sporades/kernels/detail/mttkrp/cost_model.hpp>
#include <sporades/kernels/detail/nonzeros/flycoo.hpp>
#include <sporades/kernels/detail/selector/trees.hpp>
#include <sporades/kernels/mttkrp_plan.hpp>

/// What a plan does for each mode, and the rules by which `automatic` chooses it.

namespace sporades::detail {

/// The modes from the shortest to the longest.
inline std::vector<int> modes_by_length(Dims const& dims) {
  std::vector<int> modes(dims.size());
  std::iota(modes.begin(), modes.end(), 0);
  std::stable_sort(modes.begin(), modes.end(), [&](int a, int b) { return dims[a] < dims[b]; });
  return modes;
}

/// The order in which sorted copies, one a mode, are made of nonzeros sorted by modes_by_length:
/// the copy for its first mode, which is these nonzeros themselves, comes last.
inline std::vector<int> order_of_lists(Dims const& dims) {
  auto modes = modes_by_length(dims);
  std::rotate(modes.begin(), modes.begin() + 1, modes.end());
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

inline int longest_mode(Dims const& dims) {
  return static_cast<int>(std::max_element(dims.begin(), dims.end()) - dims.begin());
}

/// Some of the pairs of nonzeros that follow one another: how many there are, and how many of them
/// are of two runs.
struct RunSample {
  Position pairs = 0, breaks = 0;

  /// The mean length of a run.
  double length() const { return static_cast<double>(pairs + 1) / static_cast<double>(breaks + 1); }
};

/// The windows of nonzeros whose pairs are sampled: every step-th. No pair is of two windows, so
/// that processes, which have whole windows, sample the same pairs as one does.
struct RunWindows {
  static constexpr Position window = 128;
  Position step, first, counted;  // the nonzero where the first window begins

  /// Of `count` nonzeros, from number `begin` on, a multiple of a window, of `all` that there are;
  /// in all about 65,536.
  RunWindows(Position begin, Position count, Position all)
      : step(std::max<Position>(1, all / 65536)) {
    Position const distance = step * window;
    Position const from = (begin + distance - 1) / distance;
    Position const to = std::min((begin + count + distance - 1) / distance, all / distance);
    first = from * distance - begin;
    counted = step == 1 ? count : to > from ? (to - from) * window : 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION Position nonzero(Position item) const {
    return first + item / window * step * window + item % window;
  }
  Position pairs() const { return counted - (counted + window - 1) / window; }
};

/// Counts the nonzeros that begin a run of words which agree in the bits of the mask.
template <class Words>
struct CountBreaks {
  using Word = typename Words::non_const_value_type;
  Words words;
  Word mask;
  RunWindows windows;
  KOKKOS_FUNCTION void operator()(Position item, Position& breaks) const {
    if (item % RunWindows::window == 0) return;
    Position const p = windows.nonzero(item);
    if ((words(p) & row_flag<Word>) || ((words(p) ^ words(p - 1)) & mask)) ++breaks;
  }
};

/// The runs of nonzeros of one row that agree in the first `split` modes of X.modes. X: all
/// nonzeros, or those from number `begin` on of `all`. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
RunSample sample_runs(ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& X,
                      int split, Position nnz, Position begin, Position all) {
  RunWindows const windows(begin, nnz, all);
  RunSample sample{windows.pairs(), 0};
  auto const count = [&](auto const& words) {
    using Words = std::decay_t<decltype(words)>;
    using Word = typename Words::non_const_value_type;
    Word const mask = split == 0 ? Word{0} : static_cast<Word>(~Word{0} << X.shifts[split - 1]);
    Kokkos::parallel_reduce("sporades::mttkrp::count_breaks",
                            Range<ExecutionSpace>(exec, 0, windows.counted),
                            CountBreaks<Words>{words, mask, windows}, sample.breaks);
  };
  if (X.wide.extent(0) > 0)
    count(X.wide);
  else if (X.narrow.extent(0) > 0)
    count(X.narrow);
  return sample;
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
double run_length(ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& X,
                  int split) {
  return sample_runs(exec, X, split, X.nnz(), 0, X.nnz()).length();
}

/// Counts the nonzeros of a FlycooTensor that begin a run: words of a run agree in the bits of
/// nonzeros.path.
template <class Nonzeros>
struct CountRecordBreaks {
  Nonzeros nonzeros;
  RunWindows windows;
  KOKKOS_FUNCTION void operator()(Position item, Position& breaks) const {
    if (item % RunWindows::window == 0) return;
    Position const p = windows.nonzero(item);
    auto const& path = nonzeros.path;
    if ((nonzeros.word(p) & path) != (nonzeros.word(p - 1) & path)) ++breaks;
  }
};

/// The mean length of the runs of nonzeros in the order of X.mode that agree in the `split` modes
/// before it. X's indices fit words.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
double run_length(ExecutionSpace const& exec, FlycooTensor<Scalar, Index, MemorySpace> const& X,
                  int split) {
  FlycooNonzeros<Scalar, Index, MemorySpace, DoubleWord, any_number> const nonzeros(X, split);
  RunWindows const windows(0, X.nnz(), X.nnz());
  RunSample sample{windows.pairs(), 0};
  Kokkos::parallel_reduce(
      "sporades::mttkrp::count_breaks", Range<ExecutionSpace>(exec, 0, windows.counted),
      CountRecordBreaks<std::decay_t<decltype(nonzeros)>>{nonzeros, windows}, sample.breaks);
  return sample.length();
}

/// The cost of a nonzero where the rows of mode n are in order, in factor rows out of the
/// second-level cache. price_of(m): the cost of a row of mode m. length_of(set): the mean length of
/// runs that agree in the modes whose bits are set.
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

/// The largest blocks of 2^k indices in every mode whose factor rows, of all modes together, stay
/// in the cache: k. 0 where all rows do anyway, and on GPUs, whose caches hold more.
template <class ExecutionSpace, class Scalar>
int cache_block_bits(Dims const& dims, int rank, double cached = cached_bytes()) {
  if (is_gpu<ExecutionSpace> || factor_bytes<Scalar>(dims, rank, -1) <= cached) return 0;
  int bits = 31;
  while (bits > 0 && factor_bytes<Scalar>(dims, rank, -1, bits) > cached) --bits;
  return bits;
}

/// The split for products on ExecutionSpace of a tensor of this order: a tree says from mode to
/// mode whether it pays to multiply one more once a run. length_of(k): the mean length of runs that
/// agree in k modes. The run length that it leads to goes into the reason.
template <class ExecutionSpace, class Scalar, class LengthOf>
int measured_split(int order, int rank, std::string& reason, LengthOf const& length_of) {
  auto const* const tree =
      is_gpu<ExecutionSpace> ? trees::mttkrp_split_on_gpus : trees::mttkrp_split_on_hosts;
  int const others = order - 1;
  Features features;
  features[Feature::order] = order;
  features[Feature::row_bytes] = row_bytes<Scalar>(rank);
  double length = 1, next = 1;
  int split = 0;
  for (int k = 1; k < others; ++k) {
    next = length_of(k);
    features[Feature::run_length] = next;
    features[Feature::longer_run_length] = length;
    features[Feature::modes_saved] = k - split;
    features[Feature::modes_left] = others - k;
    if (decide(tree, features).choice != "deeper") continue;
    split = k;
    length = next;
  }
  if (others < 2) return 0;  // there is nothing to multiply once a run
  char text[120];
  if (split > 0)
    std::snprintf(text, sizeof text, "runs that agree in %d of %d modes hold %.3g nonzeros", split,
                  others, length);
  else
    std::snprintf(text, sizeof text, "fibers hold %.3g nonzeros", next);
  reason += (reason.empty() ? "" : "; ") + std::string(text);
  return split;
}

/// The split for products on ExecutionSpace of X, which exec can access. The lengths of X's runs
/// are measured. Fences exec.
template <class ExecutionSpace, class Builder, class Tensor>
int measured_split(Builder const& exec, Tensor const& X, int rank, std::string& reason) {
  return measured_split<ExecutionSpace, typename Tensor::Scalar>(
      X.order(), rank, reason, [&](int k) { return run_length(exec, X, k); });
}

}  // namespace sporades::detail
