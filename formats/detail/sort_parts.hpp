// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/random.hpp>
#include <sporades/formats/detail/out_of_core_coo.hpp>
#include <sporades/formats/sort_coo.hpp>

/// Sorts on hosts that hold a part of the nonzeros in memory at a time: an external sample sort.
/// Windows of X are sorted one after another and written to a scratch file as runs. Then, for each
/// two neighbours among splitters of a random sample, the nonzeros between them are gathered from
/// all runs, and sorted. Every nonzero is read twice and written twice, the result included. Both
/// sorts are stable, and runs are gathered in their order, so that the result is that of sorted().

namespace sporades::detail {

/// Bytes of memory for each nonzero of a part while it is sorted: itself and the words of the sort,
/// and then what is longer, spare words or the sorted part.
template <class Tensor>
std::uint64_t part_sort_bytes(int order) {
  std::uint64_t const nonzero =
      order * sizeof(typename Tensor::Index) + sizeof(typename Tensor::Scalar);
  return nonzero + 8 + std::max<std::uint64_t>(8, nonzero);
}

/// The most nonzeros of a part that is sorted in so many bytes; a part is at least a thousandth of
/// all.
template <class Tensor>
Position part_length(Tensor const& X, std::uint64_t memory) {
  return std::max<Position>(
      {memory / part_sort_bytes<Tensor>(X.order()), X.nnz() / 1000 + 1, Position{64}});
}

/// A sample of X's nonzeros at random places, which are the same in every run, sorted by these
/// modes. The values are zeros.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> sorted_sample(ExecutionSpace const& exec,
                                                    CooTensor<Scalar, Index, MemorySpace> const& X,
                                                    std::vector<int> const& modes, Position count) {
  auto const sample = allocate_coo<Scalar, Index>(exec, X.dims, count);
  fence(exec, "sporades::sort_parts::sample");
  for (Position s = 0; s < count; ++s) {
    Position const p = splitmix64(s) % X.nnz();
    for (int n = 0; n < X.order(); ++n) sample.indices(n)[s] = X.indices(n)[p];
    sample.values(s) = 0;
  }
  auto const ordered = sorted(exec, sample, modes);
  fence(exec, "sporades::sort_parts::sorted_sample");
  return ordered;
}

/// The first nonzero of X, sorted by these modes, that is not before nonzero q of Y.
template <class Tensor>
Position first_not_before(Tensor const& X, Tensor const& Y, Position q,
                          std::vector<int> const& modes) {
  auto const is_before = [&](Position p) {
    for (int n : modes) {
      auto const a = X.indices(n)[p], b = Y.indices(n)[q];
      if (a != b) return a < b;
    }
    return false;
  };
  Position low = 0, high = X.nnz();
  while (low < high) {
    Position const middle = low + (high - low) / 2;
    if (is_before(middle))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// Piece k, nonzeros begins(k) to ends(k) - 1 of one tensor, to places(k) of another.
template <class Tensor>
struct GatherPieces {
  using Positions =
      Kokkos::View<Position const*, typename Tensor::MemorySpace, Kokkos::MemoryUnmanaged>;

  typename Tensor::Coordinates from, to;           // N x nnz
  typename Tensor::Values values_from, values_to;  // nnz
  Positions begins, ends, places;                  // pieces

  KOKKOS_FUNCTION void operator()(Position k) const {
    Position const count = ends(k) - begins(k);
    for (std::size_t n = 0; n < from.extent(0); ++n)
      for (Position p = 0; p < count; ++p) to(n, places(k) + p) = from(n, begins(k) + p);
    for (Position p = 0; p < count; ++p) values_to(places(k) + p) = values_from(begins(k) + p);
  }
};

/// Calls work(part) for parts of X, sorted by these modes as sorted() does; they are in resident
/// memory and follow one another. Nonzeros of the same coordinates are in one part. A part and its
/// sort take at most about `memory` bytes, unless over a thousand parts would be needed, or a part
/// has nonzeros of the same coordinates only. exec: of a host. Fences exec. Throws as
/// allocate_out_of_core.
template <class ExecutionSpace, class Tensor, class Work>
void for_sorted_parts(ExecutionSpace const& exec, Tensor const& X, std::vector<int> const& modes,
                      std::uint64_t memory, Work const& work) {
  Position const nnz = X.nnz(), length = part_length(X, memory);
  if (nnz <= length) return work(sorted(exec, X, modes));
  Position const runs = (nnz + length - 1) / length;
  Position const parts = runs + runs / 2 + 1;  // smaller than runs, as their lengths vary
  constexpr Position sampled = 64;             // nonzeros a part: lengths vary by an eighth
  auto const sample = sorted_sample(exec, X, modes, sampled * parts);
  auto const out_of_core = allocate_out_of_core_coo<Tensor>(exec, X.dims, nnz);
  std::vector<Position> begins((parts + 1) * runs);  // of parts in the runs
  for (Position w = 0; w < runs; ++w) {
    Position const first = w * length, end = std::min(nnz, first + length);
    auto const run = sorted(exec, part_of(X, first, end), modes);
    copy_nonzeros(exec, run, out_of_core.tensor, first);
    fence(exec, "sporades::sort_parts::run");
    begins[w] = first;
    for (Position b = 1; b < parts; ++b)
      begins[b * runs + w] = first + first_not_before(run, sample, b * sampled, modes);
    begins[parts * runs + w] = end;
  }
  std::vector<Position> places(runs);
  for (Position b = 0; b < parts; ++b) {
    Position const *const first = begins.data() + b * runs, *const end = first + runs;
    Position count = 0;
    for (Position w = 0; w < runs; ++w) {
      places[w] = count;
      count += end[w] - first[w];
    }
    auto part = allocate_coo<typename Tensor::Scalar, typename Tensor::Index>(exec, X.dims, count);
    using Gather = GatherPieces<Tensor>;
    using Positions = typename Gather::Positions;
    launch_items(exec, "sporades::sort_parts::gather", runs,
                 Gather{out_of_core.tensor.coordinates, part.coordinates, out_of_core.tensor.values,
                        part.values, Positions(first, runs), Positions(end, runs),
                        Positions(places.data(), runs)});
    // Nonzeros that agree in the modes which the sort compares are in X's order.
    part.sorted_modes = X.sorted_modes;
    auto const ordered = sorted(exec, part, modes);
    fence(exec, "sporades::sort_parts::part");
    part = {};
    work(ordered);
  }
}

/// sorted(exec, X, modes) by parts, in out-of-core memory of exec; X itself where it has the order.
/// exec: of a host. Fences exec. Throws as allocate_out_of_core.
template <class ExecutionSpace, class Tensor>
OutOfCoreTensor<Tensor> sorted_out_of_core(ExecutionSpace const& exec, Tensor const& X,
                                           std::vector<int> const& modes, std::uint64_t memory) {
  auto const reordering = plan_reordering(X.sorted_modes, modes);
  if (reordering.compared == 0) return {X, {}};
  auto const out_of_core =
      allocate_out_of_core_coo<Tensor>(exec, X.dims, X.nnz(), reordering.modes);
  Position done = 0;
  for_sorted_parts(exec, X, modes, memory, [&](Tensor const& part) {
    copy_nonzeros(exec, part, out_of_core.tensor, done);
    done += part.nnz();
  });
  fence(exec, "sporades::sort_parts::sorted_out_of_core");
  return out_of_core;
}

/// sum_duplicates(exec, X) by parts, in out-of-core memory of exec; X itself where nothing changes.
/// exec: of a host. Fences exec. Throws as allocate_out_of_core.
template <class ExecutionSpace, class Tensor>
OutOfCoreTensor<Tensor> summed_out_of_core(ExecutionSpace const& exec, Tensor const& X,
                                           std::uint64_t memory) {
  std::vector<int> modes;
  for (int n = 0; n < X.order(); ++n) modes.push_back(n);
  CompareNonzeros<typename Tensor::Coordinates> const compare(X.coordinates, modes);
  if (plan_reordering(X.sorted_modes, modes).compared == 0 &&
      count_runs(exec, "sporades::sort_parts::count_runs", compare, X.nnz()) == X.nnz())
    return {X, {}};
  auto out_of_core = allocate_out_of_core_coo<Tensor>(exec, X.dims, X.nnz(), modes);
  Position done = 0;
  for_sorted_parts(exec, X, modes, memory, [&](Tensor const& part) {
    auto const summed = sum_duplicates(exec, part).tensor;
    copy_nonzeros(exec, summed, out_of_core.tensor, done);
    done += summed.nnz();
  });
  fence(exec, "sporades::sort_parts::summed_out_of_core");
  out_of_core.tensor = part_of(out_of_core.tensor, 0, done);
  return out_of_core;
}

/// sorted(exec, X, modes), or sorted_out_of_core where a host has so many bytes to sort parts in.
template <class ExecutionSpace, class Tensor>
OutOfCoreTensor<Tensor> sorted_by_parts(ExecutionSpace const& exec, Tensor const& X,
                                        std::vector<int> const& modes, std::uint64_t part_bytes) {
  if constexpr (!is_gpu<ExecutionSpace>)
    if (part_bytes > 0) return sorted_out_of_core(exec, X, modes, part_bytes);
  return {sorted(exec, X, modes), {}};
}

/// sum_duplicates(exec, X), or summed_out_of_core where a host has so many bytes to sort parts in.
/// Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
OutOfCoreTensor<CooTensor<Scalar, Index, MemorySpace>> summed_by_parts(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> X, std::uint64_t part_bytes) {
  if constexpr (!is_gpu<ExecutionSpace>)
    if (part_bytes > 0) return summed_out_of_core(exec, X, part_bytes);
  return {sum_duplicates(exec, hand_over(X)).tensor, {}};
}

}  // namespace sporades::detail

#include <sporades/eti/sort_parts.hpp>
