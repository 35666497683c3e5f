// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/bisect.hpp>
#include <sporades/core/detail/memory.hpp>
#include <sporades/core/detail/processes/gpu_exchange.hpp>
#include <sporades/formats/sort_coo.hpp>

/// Orders of the nonzeros of all processes: a tensor whose nonzeros are distributed is a CooTensor
/// of the whole's dims on each process, and the whole is all of them in the order of ranks.

namespace sporades::detail {

/// Throws Error where X's dims are not those of process 0.
template <class Tensor>
void expect_same_dims(Communicator const& processes, Tensor const& X, char const* where) {
  if (processes.size() == 1) return;
  std::vector<std::size_t> counts;
  auto const all = all_gather(processes, "dims", X.dims, &counts);
  Dims const first(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(counts[0]));
  expects(X.dims == first, where, ": X is ", to_string(X.dims), " here and ", to_string(first),
          " on process 0");
}

/// Process p gets nonzeros bounds[p] to bounds[p + 1] - 1 of each process, those of the first one
/// first. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> exchange_nonzeros(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> const& X, std::vector<Position> const& bounds) {
  auto const P = static_cast<std::size_t>(processes.size());
  std::vector<Position> counts(P), first{0};
  for (std::size_t p = 0; p < P; ++p) counts[p] = bounds[p + 1] - bounds[p];
  for (Position count : all_to_all(processes, "counts of nonzeros", counts))
    first.push_back(first.back() + count);
  auto const to = allocate_coo<Scalar, Index>(exec, X.dims, first[P]);
  for (int n = 0; n < X.order(); ++n)
    exchange_parts_on<ExecutionSpace, Index>(exec, processes, "nonzeros", X.indices(n), bounds,
                                             to.indices(n), first, 1);
  exchange_parts_on<ExecutionSpace, Scalar>(exec, processes, "nonzeros", X.values.data(), bounds,
                                            to.values.data(), first, 1);
  return to;
}

/// samples(k) <- one of n items, which items(p) returns.
template <class Items, class Samples>
struct SampleItems {
  Items items;
  Samples samples;
  Position n;

  KOKKOS_FUNCTION void operator()(Position k) const {
    samples(k) = items((2 * k + 1) * n / (2 * samples.extent(0)));
  }
};

/// `count` of n items, which are evenly spread. Fences exec.
template <class ExecutionSpace, class Items>
auto sampled(ExecutionSpace const& exec, Items const& items, Position n, Position count) {
  using Item = std::decay_t<decltype(items(0))>;
  using Samples = Kokkos::View<Item*, typename ExecutionSpace::memory_space>;
  auto const samples = uninitialized<Samples>(exec, "sporades::sort::samples", count);
  launch_items(exec, "sporades::sort::sample", count,
               SampleItems<Items, Samples>{items, samples, n});
  return to_vector(exec, samples);
}

/// counts(k) <- how many of n items, ascending, are less than bounds(k).
template <class Items, class Bounds>
struct CountBelow {
  Items items;
  Bounds bounds;
  Kokkos::View<Position*, typename Bounds::memory_space> counts;
  Position n;

  KOKKOS_FUNCTION void operator()(Position k) const {
    counts(k) =
        bisect<Position>(0, n, [&](Position p) { return Items::less(items(p), bounds(k)); });
  }
};

/// How many of n items, ascending, are less than each of these. Fences exec.
template <class ExecutionSpace, class Items, class Item>
std::vector<Position> count_below(ExecutionSpace const& exec, Items const& items, Position n,
                                  std::vector<Item> const& bounds) {
  auto const all = to_view(exec, "sporades::sort::bounds", bounds);
  auto const counts = uninitialized<Permutation<typename ExecutionSpace::memory_space>>(
      exec, "sporades::sort::counts_below", bounds.size());
  launch_items(exec, "sporades::sort::count_below", bounds.size(),
               CountBelow<Items, std::decay_t<decltype(all)>>{items, all, counts, n});
  return to_vector(exec, counts);
}

/// The indices of a nonzero in some order of modes, and zeros.
struct IndexTuple {
  std::uint64_t indices[max_order];
};

/// The tuples of nonzeros.
template <class Coordinates>
struct IndexTuples {
  CompareNonzeros<Coordinates> order;

  KOKKOS_FUNCTION IndexTuple operator()(Position p) const {
    IndexTuple tuple{};
    for (int k = 0; k < order.modes; ++k) tuple.indices[k] = order.coordinates(order.mode[k], p);
    return tuple;
  }
  KOKKOS_FUNCTION static bool less(IndexTuple const& a, IndexTuple const& b) {
    for (int k = 0; k < max_order; ++k)
      if (a.indices[k] != b.indices[k]) return a.indices[k] < b.indices[k];
    return false;
  }
};

/// Where the nonzeros of each process except the last end: tuples below which about cuts[p + 1] of
/// all nonzeros are, estimated from some nonzeros of each process. tuples: of the `nnz` here,
/// ascending.
template <class ExecutionSpace, class Tuples>
std::vector<IndexTuple> splitters(Communicator const& processes, ExecutionSpace const& exec,
                                  Tuples const& tuples, Position nnz,
                                  std::vector<Position> const& cuts) {
  struct Sample {
    IndexTuple tuple;
    double weight;  // nonzeros that it stands for
  };
  auto const P = static_cast<std::size_t>(processes.size());
  Position const count = std::min<Position>(nnz, 32 + 4 * P);
  std::vector<Sample> mine;
  for (auto const& tuple : sampled(exec, tuples, nnz, count))
    mine.push_back({tuple, static_cast<double>(nnz) / static_cast<double>(count)});
  auto all = all_gather(processes, "samples of nonzeros", mine);
  std::stable_sort(all.begin(), all.end(),
                   [](Sample const& a, Sample const& b) { return Tuples::less(a.tuple, b.tuple); });
  IndexTuple past;
  std::fill_n(past.indices, max_order, ~std::uint64_t{0});
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

/// The nonzeros of all processes, sorted by these modes. Each process has a part that follows that
/// of the process before. Nonzeros that agree in these modes are together, in the order in which
/// they came. Process p has about cuts[p + 1] - cuts[p] nonzeros, unless more of them agree.
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
    using Tuples = IndexTuples<typename CooTensor<Scalar, Index, MemorySpace>::Coordinates>;
    Tuples const tuples{{X.coordinates, modes}};
    auto const ends = splitters(processes, exec, tuples, X.nnz(), cuts);
    for (Position end : count_below(exec, tuples, X.nnz(), ends)) bounds.push_back(end);
  }
  bounds.push_back(X.nnz());
  X = exchange_nonzeros(processes, exec, hand_over(X), bounds);
  X = sorted(exec, hand_over(X), modes);
  fence(exec, "sporades::sort::across");
  return X;
}

/// The first place in the whole of each process's nonzeros, and their number behind it.
inline std::vector<Position> exclusive_scan_of_all(Communicator const& processes, Position nnz) {
  auto const counts = all_gather(processes, "counts of nonzeros", nnz);
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
  auto const first = exclusive_scan_of_all(processes, X.nnz());
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
  auto const nnz = exclusive_scan_of_all(processes, X.nnz()).back();
  auto const cuts = even_cuts(processes.size(), nnz);
  X = roughly_sorted_across(processes, exec, hand_over(X), modes, cuts);
  return sum_duplicates(exec, hand_over(X)).tensor;
}

}  // namespace sporades::detail
