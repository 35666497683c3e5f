// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/alto_tensor.hpp>
#include <sporades/kernels/detail/processes/share_rows.hpp>

/// A linear order on several processes: each has whole parts of it, those of every mode's
/// partition, so that sums of parts have the bits of one process. One copy serves all modes, and a
/// process reads and writes few rows of the longest modes, whose bits are the highest ones.

namespace sporades::detail {

/// to(w, p) <- word w, of 32 bits and the highest first, of nonzero p's linear index.
template <class From, class To>
struct LinearWords {
  From from;  // N x nnz
  To to;      // words x nnz
  AltoMasks masks;
  int words;

  KOKKOS_FUNCTION void operator()(Position p) const {
    std::uint64_t low = 0, high = 0;
    for (int n = 0; n < masks.order; ++n) {
      std::uint64_t const index = from(n, p);
      low |= deposit_bits(index, masks.low[n]);
      if (masks.high[n].mask != 0) high |= deposit_bits(index >> masks.low_count[n], masks.high[n]);
    }
    for (int w = words - 1; w >= 0; --w) {
      to(w, p) = static_cast<std::uint32_t>(low);
      low = low >> 32 | high << 32;
      high >>= 32;
    }
  }
};

/// The inverse.
template <class From, class To>
struct IndicesOfWords {
  From from;  // words x nnz
  To to;      // N x nnz
  AltoMasks masks;
  int words;

  KOKKOS_FUNCTION void operator()(Position p) const {
    std::uint64_t low = 0, high = 0;
    for (int w = 0; w < words; ++w) {
      high = high << 32 | low >> 32;
      low = low << 32 | from(w, p);
    }
    for (int n = 0; n < masks.order; ++n)
      to(n, p) = static_cast<typename To::non_const_value_type>(masks.index(n, low, high));
  }
};

template <class Index>
RowInterval rows_between(Index const* begin, Index const* end) {
  if (begin == end) return {0, 0};
  auto const [least, most] = std::minmax_element(begin, end);
  return {*least, *most};
}

/// A process's part of a linear order.
template <class Scalar, class Index>
struct LinearShare {
  CooTensor<Scalar, Index, Kokkos::HostSpace> nonzeros;  // in the order
  std::vector<Position> cuts;   // process p has nonzeros cuts[p] to cuts[p + 1] - 1 of all
  std::vector<Position> parts;  // of every mode's partition, of all processes; 0: none
  Position first = 0, end = 0;  // of the `units` equal pieces that processes have, those here
  Position units = 1;           // the parts of the coarsest partition
};

/// Puts the nonzeros that processes bring in linear order, and cuts them where the parts of every
/// mode's partition end. Where these are fewer than processes, some get no nonzeros. Collective.
/// Fences exec. Throws Error if the indices take more than 128 bits.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
LinearShare<Scalar, Index> share_linear_order(Communicator const& processes,
                                              ExecutionSpace const& exec,
                                              CooTensor<Scalar, Index, MemorySpace> X) {
  using Words = CooTensor<Scalar, std::uint32_t, MemorySpace>;
  using Coordinates = typename CooTensor<Scalar, Index, MemorySpace>::Coordinates;
  auto const P = static_cast<Position>(processes.size());
  auto const me = static_cast<Position>(processes.rank());
  Dims const dims = X.dims;
  AltoLayout const layout(dims);
  AltoMasks const masks(layout);
  Position const nnz = exclusive_scan_of_all(processes, X.nnz()).back(), finest = most_parts(nnz);
  auto const finest_cuts = linear_cuts(nnz, finest, P);

  int const words = std::max(1, (layout.bits + 31) / 32);
  std::vector<int> all_words;
  for (int w = 0; w < words; ++w) all_words.push_back(w);
  auto keys = allocate_coo<Scalar, std::uint32_t>(
      exec, Dims(static_cast<std::size_t>(words), std::uint64_t{1} << 32), X.nnz());
  launch_items(exec, "sporades::alto::linear_words", X.nnz(),
               LinearWords<Coordinates, typename Words::Coordinates>{
                   X.coordinates, keys.coordinates, masks, words});
  keys.values = X.values;
  X = {};
  keys = sorted_across(processes, exec, hand_over(keys), all_words, finest_cuts);
  X = allocate_coo<Scalar, Index>(exec, dims, keys.nnz());
  launch_items(exec, "sporades::alto::indices_of_words", X.nnz(),
               IndicesOfWords<typename Words::Coordinates, Coordinates>{
                   keys.coordinates, X.coordinates, masks, words});
  X.values = keys.values;
  keys = {};
  fence(exec, "sporades::alto::share_linear_order");

  LinearShare<Scalar, Index> share;
  share.nonzeros = copy_to(Kokkos::DefaultHostExecutionSpace{}, X);
  PartIntervals mine;  // a part after another, of all modes each
  for (Position k = finest * me / P; k < finest * (me + 1) / P; ++k)
    for (int n = 0; n < X.order(); ++n) {
      Index const* const rows = share.nonzeros.indices(n);
      Position const begin = nnz * k / finest - finest_cuts[me];
      Position const end = nnz * (k + 1) / finest - finest_cuts[me];
      mine.push_back(rows_between(rows + begin, rows + end));
    }
  auto const all = all_gather(processes, "rows of parts", mine);
  for (std::size_t n = 0; n < dims.size(); ++n) {
    PartIntervals intervals;
    for (std::size_t k = n; k < all.size(); k += dims.size()) intervals.push_back(all[k]);
    share.parts.push_back(nnz > 0 ? join_parts(intervals, nnz, dims[n]).size() : 0);
  }
  share.units = linear_units(share.parts, finest);
  share.cuts = linear_cuts(nnz, share.units, P);
  share.first = share.units * me / P;
  share.end = share.units * (me + 1) / P;
  share.nonzeros = copy_to(Kokkos::DefaultHostExecutionSpace{},
                           cut_at(processes, exec, hand_over(X), share.cuts));
  return share;
}

/// The share's nonzeros with the numbers of the rows that are read, and their parts. Fences exec.
template <class ExecutionSpace, class Scalar, class Index>
AltoTensor<Scalar, Index, typename ExecutionSpace::memory_space> make_linear_share(
    ExecutionSpace const& exec, LinearShare<Scalar, Index> const& share,
    ReadRows<Kokkos::HostSpace> const& read, Position nnz) {
  using Tensor = AltoTensor<Scalar, Index, typename ExecutionSpace::memory_space>;
  Tensor result;
  auto const X = read.renumbered(exec, share.nonzeros);
  fence(exec, "sporades::alto::renumber");
  for (auto dim : X.dims) result.dims.push_back(std::max<std::uint64_t>(1, dim));
  result.layout = AltoLayout(result.dims);
  AltoMasks const masks(result.layout);
  std::vector<std::uint64_t> low(X.nnz()), high(result.layout.has_two_words() ? X.nnz() : 0);
  for (Position p = 0; p < X.nnz(); ++p)
    for (int n = 0; n < X.order(); ++n) {
      std::uint64_t const index = X.indices(n)[p];
      low[p] |= deposit_bits(index, masks.low[n]);
      if (masks.high[n].mask != 0)
        high[p] |= deposit_bits(index >> masks.low_count[n], masks.high[n]);
    }
  result.low = to_view(exec, "sporades::alto::low", low);
  result.high = to_view(exec, "sporades::alto::high", high);
  result.values = copy_to(exec, X).values;
  Position const before = nnz * share.first / share.units;
  for (int n = 0; n < X.order(); ++n) {
    Position const parts = share.parts[static_cast<std::size_t>(n)];
    Position const first = parts / share.units * share.first;
    Position const end = parts / share.units * share.end;
    std::vector<Position> begins;
    PartIntervals intervals;
    for (Position k = first; k <= end && parts > 0; ++k) begins.push_back(nnz * k / parts - before);
    for (std::size_t k = 0; k + 1 < begins.size(); ++k) {
      Index const* const rows = X.indices(n);
      intervals.push_back(rows_between(rows + begins[k], rows + begins[k + 1]));
    }
    result.partitions.push_back(
        make_partition(exec, begins, intervals, result.dims[static_cast<std::size_t>(n)]));
  }
  return result;
}

/// begins_of_added_rows of `rows`, those that this process adds to, ascending. Collective.
inline std::vector<std::uint64_t> begins_of_added_rows(Communicator const& processes,
                                                       std::uint64_t dim,
                                                       std::vector<std::uint64_t> const& rows) {
  return begins_of_added_rows(
      dim, all_gather(processes, "rows of parts",
                      rows.empty() ? RowEnds{} : RowEnds{rows.front(), rows.back(), true}));
}

}  // namespace sporades::detail
