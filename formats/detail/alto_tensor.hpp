// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/detail/sort.hpp>
#include <sporades/formats/alto_tensor.hpp>
#include <sporades/formats/detail/sort_bytes.hpp>

namespace sporades {
namespace detail {

/// A layout's masks in arrays, for kernels.
struct AltoMasks {
  Kokkos::Array<BitMask, max_order> low, high;
  Kokkos::Array<int, max_order> low_count;
  int order;

  explicit AltoMasks(AltoLayout const& layout) : order(static_cast<int>(layout.low.size())) {
    for (int n = 0; n < order; ++n) {
      low[n] = layout.low[n];
      high[n] = layout.high[n];
      low_count[n] = layout.low_count[n];
    }
  }

  KOKKOS_INLINE_FUNCTION std::uint64_t index(int n, std::uint64_t low_word,
                                             std::uint64_t high_word) const {
    std::uint64_t index = extract_bits(low_word, low[n]);
    if (high[n].mask != 0) index |= extract_bits(high_word, high[n]) << low_count[n];
    return index;
  }
};

KOKKOS_INLINE_FUNCTION void set_key(std::uint64_t& key, std::uint64_t, std::uint64_t low) {
  key = low;
}
KOKKOS_INLINE_FUNCTION void set_key(Key128& key, std::uint64_t high, std::uint64_t low) {
  key = {high, low};
}

/// keys(p) <- the linear index of nonzero p.
template <class Coordinates, class Keys>
struct Linearize {
  Coordinates coordinates;  // N x nnz
  Keys keys;                // nnz
  AltoMasks masks;

  KOKKOS_FUNCTION void operator()(Position p) const {
    std::uint64_t low = 0, high = 0;
    for (int n = 0; n < masks.order; ++n) {
      std::uint64_t const index = coordinates(n, p);
      low |= deposit_bits(index, masks.low[n]);
      if (masks.high[n].mask != 0) high |= deposit_bits(index >> masks.low_count[n], masks.high[n]);
    }
    set_key(keys(p), high, low);
  }
};

/// low(p), high(p) <- the words of key order(p).
template <class MemorySpace>
struct SplitKeys {
  Kokkos::View<Key128 const*, MemorySpace> keys;  // nnz
  Permutation<MemorySpace> order;                 // nnz
  Kokkos::View<std::uint64_t*, MemorySpace> low, high;

  KOKKOS_FUNCTION void operator()(Position p) const {
    Key128 const& key = keys(order(p));
    low(p) = key.low;
    high(p) = key.high;
  }
};

/// coordinates(:, p) <- the coordinates of linear index p.
template <class Tensor, class Coordinates>
struct Delinearize {
  using Memory = typename Coordinates::memory_space;

  Kokkos::View<std::uint64_t*, Memory> low, high;  // nnz; high may be empty
  Coordinates coordinates;                         // N x nnz
  AltoMasks masks;

  KOKKOS_FUNCTION void operator()(Position p) const {
    std::uint64_t const high_word = high.extent(0) > 0 ? high(p) : 0;
    for (int n = 0; n < masks.order; ++n)
      coordinates(n, p) = static_cast<typename Tensor::Index>(masks.index(n, low(p), high_word));
  }
};

/// intervals(part * N + n, :) <- the first and last index in mode n of the nonzeros of a part. All
/// parts are equally long.
template <class MemorySpace>
struct FindIntervals {
  Kokkos::View<std::uint64_t*, MemorySpace> low, high;      // nnz; high may be empty
  Kokkos::View<std::uint64_t* [2], MemorySpace> intervals;  // parts N
  AltoMasks masks;
  Position parts;

  KOKKOS_FUNCTION void operator()(Position item) const {
    int const n = static_cast<int>(item % masks.order);
    Position const part = item / masks.order, nnz = low.extent(0);
    std::uint64_t first = ~std::uint64_t{0}, last = 0;
    for (Position p = nnz * part / parts; p < nnz * (part + 1) / parts; ++p) {
      auto const index = masks.index(n, low(p), high.extent(0) > 0 ? high(p) : 0);
      if (index < first) first = index;
      if (index > last) last = index;
    }
    intervals(item, 0) = first;
    intervals(item, 1) = last;
  }
};

/// Parts of the finest partition: a power of two, at most 1024, with at least 2048 nonzeros a part
/// if there is more than one.
inline Position most_parts(Position nnz) {
  Position parts = 1;
  while (parts < 1024 && nnz / (2 * parts) >= 2048) parts *= 2;
  return parts;
}

/// The rows of a mode that the nonzeros of a part span.
struct RowInterval {
  Position first, last;
};
/// The rows that each of some equally long parts spans.
using PartIntervals = std::vector<RowInterval>;

/// Joins parts of the finest partition two by two until what is left, 2^k equally long parts, is
/// the partition for products on a mode of so many rows. Each buffer row costs time: it is cleared,
/// written and read again. The partition chosen is the finest of those that have
/// - at most one buffer row for 64 nonzeros, or
/// - at most eight parts, and at most one buffer row for 8 nonzeros.
/// It has one part if the nonzeros are too few to be divided, and no parts if
/// - two parts have more than one buffer row for 8 nonzeros, or
/// - the mode has more than 2^16 rows and more than 64 for a nonzero.
inline PartIntervals join_parts(PartIntervals intervals, Position nnz, std::uint64_t dim) {
  auto const buffer_rows = [&] {
    Position rows = 0;
    for (auto const& [first, last] : intervals) rows += last - first + 1;
    return rows;
  };
  if (dim > (1 << 16) && dim / 64 > nnz) return {};
  while (intervals.size() > 1 && buffer_rows() > nnz / (intervals.size() > 8 ? 64 : 8)) {
    if (intervals.size() == 2) return {};
    for (std::size_t k = 0; k < intervals.size() / 2; ++k)
      intervals[k] = {std::min(intervals[2 * k].first, intervals[2 * k + 1].first),
                      std::max(intervals[2 * k].last, intervals[2 * k + 1].last)};
    intervals.resize(intervals.size() / 2);
  }
  return intervals;
}

/// The partition of a mode of length dim into parts that span these intervals and whose first
/// nonzeros are begins[k].
template <class ExecutionSpace>
AltoPartition<typename ExecutionSpace::memory_space> make_partition(
    ExecutionSpace const& exec, std::vector<Position> const& begins, PartIntervals const& intervals,
    std::uint64_t dim) {
  AltoPartition<typename ExecutionSpace::memory_space> partition;
  constexpr Position length = AltoPartition<Kokkos::HostSpace>::block_rows;
  std::vector<AltoPart> parts;
  std::vector<std::vector<std::uint32_t>> of_block((dim + length - 1) / length);
  for (std::size_t k = 0; k < intervals.size(); ++k) {
    auto const [first, last] = intervals[k];
    parts.push_back({begins[k], begins[k + 1], first, last - first + 1, partition.buffer_rows});
    partition.buffer_rows += last - first + 1;
    for (Position b = first / length; b <= last / length; ++b)
      of_block[b].push_back(static_cast<std::uint32_t>(k));
  }
  std::vector<Position> block_begins{0};
  std::vector<std::uint32_t> touched;
  for (auto const& block : of_block) {
    touched.insert(touched.end(), block.begin(), block.end());
    block_begins.push_back(touched.size());
  }
  partition.parts = to_view(exec, "sporades::alto::parts", parts);
  partition.begins = to_view(exec, "sporades::alto::begins", block_begins);
  partition.touched = to_view(exec, "sporades::alto::touched", touched);
  return partition;
}

/// Where `parts` equally long parts of nnz nonzeros begin, and nnz.
inline std::vector<Position> part_begins(Position nnz, Position parts) {
  std::vector<Position> begins;
  for (Position k = 0; k <= parts; ++k) begins.push_back(nnz * k / parts);
  return begins;
}

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
AltoTensor<Scalar, Index, MemorySpace> make_alto(ExecutionSpace const& exec,
                                                 CooTensor<Scalar, Index, MemorySpace> X) {
  using Tensor = AltoTensor<Scalar, Index, MemorySpace>;
  using Coordinates = typename CooTensor<Scalar, Index, MemorySpace>::Coordinates;
  using WordsView = Kokkos::View<std::uint64_t*, MemorySpace>;
  Tensor result;
  Position const nnz = X.nnz();
  result.dims = X.dims;
  result.layout = AltoLayout(X.dims);
  detail::AltoMasks const masks(result.layout);
  // What is no longer needed is given back before more is taken.
  auto const linearize = [&](auto keys) {
    using Keys = decltype(keys);
    keys = detail::uninitialized<Keys>(exec, "sporades::alto::keys", nnz);
    detail::launch_items(exec, "sporades::alto::linearize", nnz,
                         detail::Linearize<Coordinates, Keys>{X.coordinates, keys, masks});
    X.coordinates = {};
    return keys;
  };
  detail::Permutation<MemorySpace> order;
  if (result.layout.has_two_words()) {
    auto const keys = linearize(Kokkos::View<detail::Key128*, MemorySpace>());
    order = detail::sort_permutation(exec, keys, result.layout.bits);
    result.low = detail::uninitialized<WordsView>(exec, "sporades::alto::low", nnz);
    result.high = detail::uninitialized<WordsView>(exec, "sporades::alto::high", nnz);
    detail::launch_items(exec, "sporades::alto::split_keys", nnz,
                         detail::SplitKeys<MemorySpace>{keys, order, result.low, result.high});
  } else {
    auto const keys = linearize(WordsView());
    order = detail::sort_permutation(exec, keys, result.layout.bits);
    result.low = detail::in_order(exec, keys, order);
  }
  result.values = detail::in_order(exec, X.values, order);
  X = {};
  order = {};

  Position const parts = detail::most_parts(nnz);
  Kokkos::View<std::uint64_t* [2], MemorySpace> const intervals(
      Kokkos::view_alloc(exec, "sporades::alto::intervals"), nnz ? parts * result.order() : 0);
  detail::launch_items(
      exec, "sporades::alto::find_intervals", intervals.extent(0),
      detail::FindIntervals<MemorySpace>{result.low, result.high, intervals, masks, parts});
  auto const host = Kokkos::create_mirror_view(intervals);
  detail::copy_view(exec, host, intervals);
  detail::fence(exec, "sporades::alto::find_intervals");
  for (int n = 0; n < result.order(); ++n) {
    detail::PartIntervals finest;
    for (std::size_t k = n; k < host.extent(0); k += result.order())
      finest.push_back({host(k, 0), host(k, 1)});
    auto const joined = detail::join_parts(finest, nnz, result.dims[n]);
    result.partitions.push_back(
        joined.empty() ? detail::AltoPartition<MemorySpace>()
                       : detail::make_partition(exec, detail::part_begins(nnz, joined.size()),
                                                joined, result.dims[n]));
  }
  return result;
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             AltoTensor<Scalar, Index, MemorySpace> const& X) {
  using Coo = CooTensor<Scalar, Index, MemorySpace>;
  auto result = detail::allocate_coo<Scalar, Index>(exec, X.dims, X.nnz());
  detail::copy_view(exec, result.values, X.values);
  detail::launch_items(
      exec, "sporades::alto::delinearize", X.nnz(),
      detail::Delinearize<AltoTensor<Scalar, Index, MemorySpace>, typename Coo::Coordinates>{
          X.low, X.high, result.coordinates, detail::AltoMasks(X.layout)});
  return result;
}

namespace detail {

/// Whether a mode has too many rows for any parts: see join_parts.
inline bool has_far_more_rows(CooShape const& X, std::uint64_t dim) {
  return dim > 65536 && static_cast<double>(dim / 64) > X.nnz;
}

/// The most buffer rows that the parts of mode n may have: see join_parts.
inline double most_buffer_rows(CooShape const& X, int n) {
  double const dim = static_cast<double>(X.dims[n]);
  auto const parts = static_cast<double>(most_parts(X.count()));
  if (parts == 1) return dim;
  return std::max(std::min(X.nnz / 64, parts * dim), std::min(X.nnz / 8, 8 * dim));
}

/// Whether mode n may have no parts, because they would have too many buffer rows.
inline bool may_have_no_parts(CooShape const& X, int n) {
  return has_far_more_rows(X, X.dims[n]) ||
         (X.nnz >= 4096 && 2 * static_cast<double>(X.dims[n]) > X.nnz / 8);
}

/// Whether some mode may.
inline bool may_have_no_parts(CooShape const& X) {
  for (int n = 0; n < X.order(); ++n)
    if (may_have_no_parts(X, n)) return true;
  return false;
}

/// The words of make_alto.
inline double alto_word_bytes(CooShape const& X) {
  return (AltoLayout(X.dims).has_two_words() ? 16 : 8) * X.nnz;
}

/// The lists of parts of make_alto, with room for as many rows in all parts.
inline double alto_part_bytes(CooShape const& X, double buffer_rows) {
  double const N = X.order(), parts = static_cast<double>(most_parts(X.count()));
  double rows = 0;
  for (auto dim : X.dims)
    if (!has_far_more_rows(X, dim)) rows += static_cast<double>(dim);
  constexpr double block = AltoPartition<Kokkos::HostSpace>::block_rows;
  return N * parts * (sizeof(AltoPart) + 8 + 16) + 8 * (rows / block + 2 * N) +
         4 * N * buffer_rows / block;
}

/// make_alto; the coordinates of an X that is not kept are freed before the sort.
template <class ExecutionSpace>
MadeBytes alto_bytes(ExecutionSpace const& exec, CooShape const& X, double buffer_rows) {
  double const keys = alto_word_bytes(X), values = X.value_bytes();
  double const kept = keys + values + alto_part_bytes(X, buffer_rows);
  auto const in_order = in_sorted_order(sort_bytes(exec, X.count()), std::max(keys, values));
  return {kept, std::max({keys, keys + in_order.peak - (X.is_kept ? 0 : X.coordinate_bytes()),
                          kept - X.freed()})};
}

}  // namespace detail

// What is no CooTensor is refused.
template <class ExecutionSpace>
AltoTensor<double, std::uint32_t, typename ExecutionSpace::memory_space> make_alto(
    ExecutionSpace const&, detail::NotCoo) {
  return {};
}

}  // namespace sporades

#include <sporades/eti/alto_tensor.hpp>
