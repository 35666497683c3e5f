// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/exchange.hpp>
#include <sporades/formats/sort_coo.hpp>

/// Orders of the nonzeros of all processes: a tensor whose nonzeros are distributed is a CooTensor
/// of the whole's dims on each process, and the whole is all of them in the order of ranks. What
/// is exchanged passes through the host's memory.

namespace sporades::detail {

/// Throws Error where X's dims are not those of process 0.
template <class Tensor>
void expect_same_dims(Communicator const& processes, Tensor const& X, char const* where) {
  std::vector<std::size_t> counts;
  auto const all = all_gathered(processes, "dims", X.dims, &counts);
  Dims const first(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(counts[0]));
  expects(X.dims == first, where, ": X is ", to_string(X.dims), " here and ", to_string(first),
          " on process 0");
}

/// Process p gets nonzeros bounds[p] to bounds[p + 1] - 1 of each process, those of the first one
/// first.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> exchange_nonzeros(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> const& X, std::vector<Position> const& bounds) {
  Kokkos::DefaultHostExecutionSpace const host{};
  auto const P = static_cast<std::size_t>(processes.size());
  std::vector<Position> counts(P), first{0};
  for (std::size_t p = 0; p < P; ++p) counts[p] = bounds[p + 1] - bounds[p];
  for (Position count : one_for_each(processes, "counts of nonzeros", counts))
    first.push_back(first.back() + count);
  auto const from = copy_to(host, X);
  auto const to = allocate_coo<Scalar, Index>(host, X.dims, first[P]);
  fence(host, "sporades::coo::exchange_nonzeros");
  for (int n = 0; n < X.order(); ++n)
    exchange_parts<Index>(processes, "nonzeros", from.indices(n), bounds, to.indices(n), first);
  exchange_parts<Scalar>(processes, "nonzeros", from.values.data(), bounds, to.values.data(),
                         first);
  return copy_to(exec, to);
}

/// The indices of a nonzero in some order of modes.
using IndexTuple = std::array<std::uint64_t, max_order>;

template <class Tensor>
IndexTuple index_tuple(Tensor const& X, std::vector<int> const& modes, Position p) {
  IndexTuple tuple{};
  for (std::size_t k = 0; k < modes.size(); ++k) tuple[k] = X.indices(modes[k])[p];
  return tuple;
}

/// Where process p's nonzeros end, for all but the last: tuples below which about cuts[p + 1] of
/// all nonzeros are. X: on the host, sorted by these modes on each process. They are estimated from
/// some nonzeros of each process.
template <class Tensor>
std::vector<IndexTuple> splitters(Communicator const& processes, Tensor const& X,
                                  std::vector<int> const& modes,
                                  std::vector<Position> const& cuts) {
  struct Sample {
    IndexTuple tuple;
    double weight;  // nonzeros that it stands for
  };
  auto const P = static_cast<std::size_t>(processes.size());
  Position const count = std::min<Position>(X.nnz(), 32 + 4 * P);
  std::vector<Sample> mine;
  for (Position k = 0; k < count; ++k)
    mine.push_back({index_tuple(X, modes, (2 * k + 1) * X.nnz() / (2 * count)),
                    static_cast<double>(X.nnz()) / static_cast<double>(count)});
  auto all = all_gathered(processes, "samples of nonzeros", mine);
  std::stable_sort(all.begin(), all.end(),
                   [](Sample const& a, Sample const& b) { return a.tuple < b.tuple; });
  IndexTuple past;
  past.fill(~std::uint64_t{0});
  std::vector<IndexTuple> result(P - 1, past);
  double before = 0;
  std::size_t s = 0;
  for (std::size_t p = 0; p + 1 < P; ++p) {
    for (; s < all.size() && before < static_cast<double>(cuts[p + 1]); ++s)
      before += all[s].weight;
    if (s < all.size()) result[p] = all[s].tuple;
  }
  return result;
}

/// The number of X's nonzeros, sorted by these modes, that are below the tuple.
template <class Tensor>
Position count_below(Tensor const& X, std::vector<int> const& modes, IndexTuple const& tuple) {
  Position low = 0, high = X.nnz();
  while (low < high) {
    Position const middle = low + (high - low) / 2;
    if (index_tuple(X, modes, middle) < tuple)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// The nonzeros of all processes, sorted by these modes: each has a part that follows that of the
/// process before, nonzeros that agree in these modes are together, in the order in which they
/// came, and there are about cuts[p + 1] - cuts[p] on process p where no more of them agree.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> roughly_sorted_across(Communicator const& processes,
                                                            ExecutionSpace const& exec,
                                                            CooTensor<Scalar, Index, MemorySpace> X,
                                                            std::vector<int> const& modes,
                                                            std::vector<Position> const& cuts) {
  X = sorted(exec, hand_over(X), modes);
  fence(exec, "sporades::sort::across");
  if (processes.size() == 1) return X;
  std::vector<Position> bounds{0};
  {
    auto const on_host = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
    for (auto const& tuple : splitters(processes, on_host, modes, cuts))
      bounds.push_back(count_below(on_host, modes, tuple));
  }
  bounds.push_back(X.nnz());
  X = exchange_nonzeros(processes, exec, hand_over(X), bounds);
  X = sorted(exec, hand_over(X), modes);
  fence(exec, "sporades::sort::across");
  return X;
}

/// The first place in the whole of each process's nonzeros, and their number behind it.
inline std::vector<Position> first_places(Communicator const& processes, Position nnz) {
  auto const counts = all_gathered(processes, "counts of nonzeros", nnz);
  std::vector<Position> first{0};
  for (Position count : counts) first.push_back(first.back() + count);
  return first;
}

/// Nonzeros of a tensor that processes share: process p has places[p] to places[p + 1] - 1.
struct NonzeroPlaces {
  Communicator processes;
  std::vector<Position> places;

  Position first() const { return places[static_cast<std::size_t>(processes.rank())]; }
  Position all() const { return places.back(); }
};

/// Process p gets nonzeros cuts[p] to cuts[p + 1] - 1 of the whole.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> cut_at(Communicator const& processes,
                                             ExecutionSpace const& exec,
                                             CooTensor<Scalar, Index, MemorySpace> X,
                                             std::vector<Position> const& cuts) {
  auto const first = first_places(processes, X.nnz());
  auto const me = static_cast<std::size_t>(processes.rank());
  expects(cuts.size() == first.size() && cuts.front() == 0 && cuts.back() == first.back(),
          "cut_at: cuts end at ", cuts.back(), ", there are ", first.back(), " nonzeros");
  if (first == cuts) return X;  // the same on all processes
  std::vector<Position> bounds;
  for (Position cut : cuts)
    bounds.push_back(std::min(std::max(cut, first[me]), first[me + 1]) - first[me]);
  auto const modes = X.sorted_modes;
  X = exchange_nonzeros(processes, exec, hand_over(X), bounds);
  X.sorted_modes = modes;
  return X;
}

/// The nonzeros of all processes, sorted stably by these modes: process p gets those from cuts[p]
/// to cuts[p + 1] - 1 of the whole. Nonzeros travel at most twice. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> sorted_across(Communicator const& processes,
                                                    ExecutionSpace const& exec,
                                                    CooTensor<Scalar, Index, MemorySpace> X,
                                                    std::vector<int> const& modes,
                                                    std::vector<Position> const& cuts) {
  X = roughly_sorted_across(processes, exec, hand_over(X), modes, cuts);
  X = cut_at(processes, exec, hand_over(X), cuts);
  X.sorted_modes = modes;
  return X;
}

/// Places that cut so many nonzeros into parts of about the same number, each at a multiple of
/// `unit`.
inline std::vector<Position> even_cuts(int parts, Position nnz, Position unit = 1) {
  Position const units = (nnz + unit - 1) / unit;
  std::vector<Position> cuts;
  for (int p = 0; p <= parts; ++p)
    cuts.push_back(
        std::min(nnz, units * static_cast<Position>(p) / static_cast<Position>(parts) * unit));
  return cuts;
}

/// sum_duplicates of the whole: the same nonzeros and values as in one process. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> summed_across(Communicator const& processes,
                                                    ExecutionSpace const& exec,
                                                    CooTensor<Scalar, Index, MemorySpace> X) {
  std::vector<int> modes;
  for (int n = 0; n < X.order(); ++n) modes.push_back(n);
  auto const nnz = first_places(processes, X.nnz()).back();
  auto const cuts = even_cuts(processes.size(), nnz);
  X = roughly_sorted_across(processes, exec, hand_over(X), modes, cuts);
  return sum_duplicates(exec, hand_over(X)).tensor;
}

}  // namespace sporades::detail
