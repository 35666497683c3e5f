// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/formats/sort_coo.hpp>

namespace sporades {

/// Where the bits of each mode's index lie in a linear index of one or two words: from the lowest,
/// bit 0 of every mode, the shortest mode first, then bit 1 of those that have one, and so on. So
/// the highest bits are those of the longest modes, and nonzeros that are near each other in this
/// order are near each other in every mode. Helal et al., ICS 2021, section 3.1.
struct AltoLayout {
  static constexpr int most_bits = 128;

  int bits = 0;                       // of an index
  std::vector<detail::BitMask> low;   // of each mode: its lowest bits' places in the low word
  std::vector<detail::BitMask> high;  // of each mode: the places of the others in the high word
  std::vector<int> low_count;         // of each mode: bits in the low word

  AltoLayout() = default;
  /// Throws Error where the indices take more than 128 bits.
  explicit AltoLayout(Dims const& dims) {
    std::vector<int> modes(dims.size());
    int longest = 0;
    for (std::size_t n = 0; n < dims.size(); ++n) {
      modes[n] = static_cast<int>(n);
      longest = std::max(longest, detail::index_bits(dims[n]));
      bits += detail::index_bits(dims[n]);
    }
    expects(bits <= most_bits, "AltoLayout: the indices of ", to_string(dims), " take ", bits,
            " bits, two words have 128");
    std::stable_sort(modes.begin(), modes.end(), [&](int a, int b) {
      return detail::index_bits(dims[a]) < detail::index_bits(dims[b]);
    });
    std::vector<std::uint64_t> words[2];
    words[0].resize(dims.size());
    words[1].resize(dims.size());
    int place = 0;
    for (int b = 0; b < longest; ++b)
      for (int n : modes)
        if (b < detail::index_bits(dims[n])) {
          words[place / 64][n] |= std::uint64_t{1} << (place % 64);
          ++place;
        }
    for (std::size_t n = 0; n < dims.size(); ++n) {
      low.emplace_back(words[0][n]);
      high.emplace_back(words[1][n]);
      low_count.push_back(low[n].count());
    }
  }

  bool has_two_words() const { return bits > 64; }
};

/// A run of nonzeros in their linear order, and the rows of one mode that they may touch.
struct AltoPart {
  Position begin, end;  // nonzeros
  Position row;         // the first
  Position row_count;
  Position own;  // the first of the part's own rows, which row_count - 1 others follow
};

/// The parts that products on one mode are computed in, and for each row those that may touch it.
template <class MemorySpace>
struct AltoPartition {
  static constexpr Position block_rows = 64;

  Kokkos::View<AltoPart*, MemorySpace> parts;         // equally long; none: reuse is too low
  Position own_rows = 0;                              // of all parts
  Kokkos::View<Position*, MemorySpace> begins;        // blocks of 64 rows + 1
  Kokkos::View<std::uint32_t*, MemorySpace> touched;  // begins(b) .. : the parts that may touch b
};

/// Adaptive linearized tensor order: each nonzero's coordinates interleaved bit by bit in one index
/// of one or two words, and the nonzeros sorted by it. One copy serves all modes. 8 bytes and a
/// value a nonzero, 16 where the indices take more than 64 bits. Helal et al., ICS 2021.
template <class ScalarType, class IndexType = std::uint32_t,
          class MemorySpaceType = Kokkos::HostSpace>
struct AltoTensor {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  Dims dims;
  AltoLayout layout;
  Kokkos::View<std::uint64_t*, MemorySpace> low;       // nnz
  Kokkos::View<std::uint64_t*, MemorySpace> high;      // nnz where there are two words, else none
  Kokkos::View<Scalar*, MemorySpace> values;           // nnz
  std::vector<AltoPartition<MemorySpace>> partitions;  // of each mode

  int order() const { return static_cast<int>(dims.size()); }
  Position nnz() const { return values.extent(0); }

  /// 2 nnz, or 3 nnz where there are two words
  std::uint64_t storage_words() const { return nnz() + low.extent(0) + high.extent(0); }
  std::uint64_t storage_bytes() const {
    std::uint64_t bytes = nnz() * sizeof(Scalar) + 8 * (low.extent(0) + high.extent(0));
    for (auto const& mode : partitions)
      bytes += mode.parts.extent(0) * sizeof(AltoPart) + 8 * mode.begins.extent(0) +
               4 * mode.touched.extent(0);
    return bytes;
  }
};

namespace detail {

/// A layout's masks for functors.
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

/// The words of keys in an order.
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

/// coordinates(:, p) <- those of linear index p.
template <class Tensor, class Coordinates>
struct Delinearize {
  using Memory = typename Coordinates::memory_space;

  Kokkos::View<std::uint64_t*, Memory> low, high;  // nnz, or high none
  Coordinates coordinates;                         // N x nnz
  AltoMasks masks;

  KOKKOS_FUNCTION void operator()(Position p) const {
    std::uint64_t const high_word = high.extent(0) > 0 ? high(p) : 0;
    for (int n = 0; n < masks.order; ++n)
      coordinates(n, p) = static_cast<typename Tensor::Index>(masks.index(n, low(p), high_word));
  }
};

/// The first and last index of each mode in `parts` equally long parts.
template <class MemorySpace>
struct FindIntervals {
  Kokkos::View<std::uint64_t*, MemorySpace> low, high;      // nnz, or high none
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

/// The partition of mode n in 2^k parts. A part's own rows are cleared, written and read again. So,
/// of those where there are at most one for 64 nonzeros, the partition with most parts; or, if this
/// has fewer than eight, of those up to eight with at most one row for 8 nonzeros. No parts where
/// two have more, or the mode has far more rows than there are nonzeros; one where the nonzeros are
/// not worth dividing.
template <class ExecutionSpace, class HostIntervals>
AltoPartition<typename ExecutionSpace::memory_space> choose_partition(ExecutionSpace const& exec,
                                                                      Position nnz,
                                                                      std::uint64_t dim, int n,
                                                                      int order,
                                                                      HostIntervals const& finest) {
  std::vector<std::pair<Position, Position>> intervals;  // first and last row of each part
  for (std::size_t k = n; k < finest.extent(0); k += order)
    intervals.emplace_back(finest(k, 0), finest(k, 1));
  auto const own_rows = [&] {
    Position rows = 0;
    for (auto const& [first, last] : intervals) rows += last - first + 1;
    return rows;
  };
  AltoPartition<typename ExecutionSpace::memory_space> partition;
  if (dim > (1 << 16) && dim / 64 > nnz) return partition;
  while (intervals.size() > 1 && own_rows() > nnz / (intervals.size() > 8 ? 64 : 8)) {
    if (intervals.size() == 2) return partition;
    for (std::size_t k = 0; k < intervals.size() / 2; ++k)
      intervals[k] = {std::min(intervals[2 * k].first, intervals[2 * k + 1].first),
                      std::max(intervals[2 * k].second, intervals[2 * k + 1].second)};
    intervals.resize(intervals.size() / 2);
  }
  constexpr Position length = AltoPartition<Kokkos::HostSpace>::block_rows;
  std::vector<AltoPart> parts;
  std::vector<std::vector<std::uint32_t>> of_block((dim + length - 1) / length);
  Position const count = intervals.size();
  for (Position k = 0; k < count; ++k) {
    auto const [first, last] = intervals[k];
    parts.push_back(
        {nnz * k / count, nnz * (k + 1) / count, first, last - first + 1, partition.own_rows});
    partition.own_rows += last - first + 1;
    for (Position b = first / length; b <= last / length; ++b)
      of_block[b].push_back(static_cast<std::uint32_t>(k));
  }
  std::vector<Position> begins{0};
  std::vector<std::uint32_t> touched;
  for (auto const& block : of_block) {
    touched.insert(touched.end(), block.begin(), block.end());
    begins.push_back(touched.size());
  }
  partition.parts = to_view(exec, "sporades::alto_tensor::parts", parts);
  partition.begins = to_view(exec, "sporades::alto_tensor::begins", begins);
  partition.touched = to_view(exec, "sporades::alto_tensor::touched", touched);
  return partition;
}

}  // namespace detail

/// X in any order; duplicates stay. Fences exec. About the time of one sort. X's indices are
/// trusted: check_coordinates checks them. Throws Error where they take more than 128 bits.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
AltoTensor<Scalar, Index, MemorySpace> make_alto(ExecutionSpace const& exec,
                                                 CooTensor<Scalar, Index, MemorySpace> const& X) {
  using Tensor = AltoTensor<Scalar, Index, MemorySpace>;
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>;
  using Coordinates = typename CooTensor<Scalar, Index, MemorySpace>::Coordinates;
  using WordsView = Kokkos::View<std::uint64_t*, MemorySpace>;
  Tensor result;
  result.dims = X.dims;
  result.layout = AltoLayout(X.dims);
  detail::AltoMasks const masks(result.layout);
  auto const sorted_keys = [&](auto keys) {
    using Keys = decltype(keys);
    keys = detail::uninitialized<Keys>(exec, "sporades::alto_tensor::keys", X.nnz());
    Kokkos::parallel_for("sporades::alto_tensor::linearize", Policy(exec, 0, X.nnz()),
                         detail::Linearize<Coordinates, Keys>{X.coordinates, keys, masks});
    return std::make_pair(keys, detail::sort_permutation(exec, keys, result.layout.bits));
  };
  if (result.layout.has_two_words()) {
    auto const [keys, order] = sorted_keys(Kokkos::View<detail::Key128*, MemorySpace>());
    result.low = detail::uninitialized<WordsView>(exec, "sporades::alto_tensor::low", X.nnz());
    result.high = detail::uninitialized<WordsView>(exec, "sporades::alto_tensor::high", X.nnz());
    Kokkos::parallel_for("sporades::alto_tensor::split_keys", Policy(exec, 0, X.nnz()),
                         detail::SplitKeys<MemorySpace>{keys, order, result.low, result.high});
    result.values = detail::in_order(exec, X.values, order);
  } else {
    auto const [keys, order] = sorted_keys(WordsView());
    result.low = detail::in_order(exec, keys, order);
    result.values = detail::in_order(exec, X.values, order);
  }

  Position parts = 1;
  while (parts < 1024 && X.nnz() / (2 * parts) >= 2048) parts *= 2;
  Kokkos::View<std::uint64_t* [2], MemorySpace> const intervals(
      Kokkos::view_alloc(exec, "sporades::alto_tensor::intervals"),
      X.nnz() ? parts * X.order() : 0);
  Kokkos::parallel_for(
      "sporades::alto_tensor::find_intervals", Policy(exec, 0, intervals.extent(0)),
      detail::FindIntervals<MemorySpace>{result.low, result.high, intervals, masks, parts});
  auto const host = Kokkos::create_mirror_view(intervals);
  Kokkos::deep_copy(exec, host, intervals);
  detail::fence(exec, "sporades::alto_tensor::find_intervals");
  for (int n = 0; n < X.order(); ++n)
    result.partitions.push_back(
        detail::choose_partition(exec, X.nnz(), X.dims[n], n, X.order(), host));
  return result;
}

/// The nonzeros in the order in which they lie. Exact. Enqueued on exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             AltoTensor<Scalar, Index, MemorySpace> const& X) {
  using Coo = CooTensor<Scalar, Index, MemorySpace>;
  auto result = detail::allocate_coo<Scalar, Index>(exec, X.dims, X.nnz());
  Kokkos::deep_copy(exec, result.values, X.values);
  Kokkos::parallel_for(
      "sporades::alto_tensor::delinearize",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>(exec, 0, X.nnz()),
      detail::Delinearize<AltoTensor<Scalar, Index, MemorySpace>, typename Coo::Coordinates>{
          X.low, X.high, result.coordinates, detail::AltoMasks(X.layout)});
  return result;
}

}  // namespace sporades
