// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <map>
#include <sporades/core/detail/memory_count.hpp>
#include <sporades/formats/alto_tensor.hpp>
#include <sporades/formats/csf_tensor.hpp>
#include <sporades/formats/detail/estimate_fiber_counts.hpp>
#include <sporades/formats/flycoo_tensor.hpp>
#include <sporades/formats/packed_tensor.hpp>
#include <sporades/formats/sort_coo.hpp>

/// What sorting nonzeros and making the formats of them holds. The functions follow, allocation by
/// allocation, those whose names they bear.

namespace sporades::detail {

/// What there is to know of a COO tensor's memory.
struct CooShape {
  Dims dims;
  double nnz = 0;
  std::vector<int> sorted_modes;
  double scalar_bytes = 0, index_bytes = 0;

  int order() const { return static_cast<int>(dims.size()); }
  Position count() const { return static_cast<Position>(nnz); }
  double coordinate_bytes() const { return nnz * index_bytes * static_cast<double>(dims.size()); }
  double value_bytes() const { return nnz * scalar_bytes; }
  double bytes() const { return coordinate_bytes() + value_bytes(); }
};

template <class Scalar, class Index, class MemorySpace>
CooShape shape_of(CooTensor<Scalar, Index, MemorySpace> const& X) {
  return {X.dims, static_cast<double>(X.nnz()), X.sorted_modes, double{sizeof(Scalar)},
          double{sizeof(Index)}};
}

/// Never fewer than the different tuples that X's nonzeros have of their indices in some modes, and
/// a few per cent more at most, unless they are few beside the nonzeros: see estimate_fiber_counts.
template <class ExecutionSpace, class Tensor>
class FiberCountEstimate {
 public:
  FiberCountEstimate(ExecutionSpace const& exec, Tensor const& X) : exec_(exec), X_(X) {}

  /// At least the number of different tuples of indices in the modes whose bits are set. Fences
  /// exec.
  double operator()(std::uint32_t set) {
    double const nnz = static_cast<double>(X_.nnz());
    double cells = 1;
    for (int n = 0; n < X_.order(); ++n)
      if (set >> n & 1) cells *= static_cast<double>(X_.dims[n]);
    double const most = std::min(nnz, cells);
    bool const is_all = set + 1 == std::uint32_t{1} << X_.order();
    if (is_all || most < 4096 || most < nnz / 128) return most;
    auto& known = known_[set];
    if (known == 0) known = std::min(most, 1.04 * estimate_fiber_counts(exec_, X_, set));
    return known;
  }
  /// The non-empty slices of one mode.
  double rows(int n) { return (*this)(std::uint32_t{1} << n); }
  /// At least the number of different tuples of indices in the first `count` of these modes. Fences
  /// exec.
  double of(std::vector<int> const& modes, std::size_t count) {
    std::uint32_t set = 0;
    for (std::size_t k = 0; k < count; ++k) set |= std::uint32_t{1} << modes[k];
    return (*this)(set);
  }

 private:
  ExecutionSpace exec_;
  Tensor const& X_;
  std::map<std::uint32_t, double> known_;
};

/// What estimate_fiber_counts takes.
inline double fiber_count_bytes(Position nnz) {
  return static_cast<double>(4 * tuple_map_words(nnz));
}

/// What sort_words takes beside the words and the spare ones.
template <class ExecutionSpace>
double sort_scratch_bytes(ExecutionSpace const& exec, Position n, BitRange bits) {
  static_cast<void>(bits);
  if constexpr (has_cub<ExecutionSpace>) {
    return static_cast<double>(cub_storage_bytes<typename ExecutionSpace::memory_space>(exec, n));
  } else if constexpr (is_gpu<ExecutionSpace>) {
    return static_cast<double>((n + tile_size - 1) / tile_size * tile_digits * sizeof(Position));
  } else {
    double most = 0;
    Position const threads = exec.concurrency();
    for_each_digit(bits, n < (Position{1} << 16) ? 8 : widest_chunk_digit, [&](BitRange digit) {
      Position const digits = Position{1} << digit.width();
      Position const chunks =
          threads == 1 ? 1 : std::min<Position>(4 * threads, n / (8 * digits) + 1);
      most = std::max(most, static_cast<double>(chunks * digits * sizeof(Position)));
    });
    return most;
  }
}

/// sort_items: its words stay held.
template <class ExecutionSpace>
void count_sort_items(ExecutionSpace const& exec, MemoryCount& count, Position n, BitRange bits) {
  double const words = 8 * static_cast<double>(n);
  int const capacity = 64 - index_bits(n);
  int const last_begin = std::max(0, bits.end - capacity);
  count.hold(words);
  // Items whose ranks leave no bits to sort by fit into no memory: their words say so.
  if (bits.width() <= 0 || n < 2 || capacity < 2) return;
  double scratch = 0;
  auto const round = [&](int begin, int end) {
    scratch = std::max(scratch, sort_scratch_bytes(exec, n, BitRange{begin, end}));
  };
  for (int begin = bits.begin; begin < last_begin; begin += capacity)
    round(begin, std::min(begin + capacity, last_begin));
  round(std::max(bits.begin, last_begin), bits.end);
  count.pass(words + scratch);
}

/// The bits that are sorted of keys of these modes, of which the first `compared` are in no order.
inline BitRange sorted_bits(Dims const& dims, std::vector<int> const& modes, int compared) {
  BitRange range{0, 0};
  for (int k = static_cast<int>(modes.size()) - 1; k >= 0; --k) {
    if (k == compared - 1) range.begin = range.end;
    range.end += index_bits(dims[modes[k]]);
  }
  return range;
}

/// sort_nonzeros: its words stay held.
template <class ExecutionSpace>
void count_sort_nonzeros(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                         Reordering const& reordering) {
  count_sort_items(
      exec, count, X.count(),
      sorted_bits(X.dims, with_other_modes(reordering.modes, X.order()), reordering.compared));
}

/// sorted: the tensor stays held. Returns its shape; is_new is false where it is X itself.
template <class ExecutionSpace>
CooShape count_sorted(ExecutionSpace const& exec, MemoryCount& count, CooShape X,
                      std::vector<int> const& modes, bool& is_new) {
  auto const reordering = plan_reordering(X.sorted_modes, modes);
  is_new = reordering.compared > 0;
  if (!is_new) return X;
  double const before = count.held();
  count_sort_nonzeros(exec, count, X, reordering);
  count.hold(X.bytes());
  count.hold_in_all(before + X.bytes());
  X.sorted_modes = reordering.modes;
  return X;
}

/// Counts the nonzeros that are where the one in front of them is.
template <class Coordinates>
struct CountRepeats {
  CompareNonzeros<Coordinates> compare;
  KOKKOS_FUNCTION void operator()(Position p, Position& repeats) const {
    if (compare(p - 1, p) == 0) ++repeats;
  }
};

/// False where no two nonzeros have the same coordinates; true where they have, or are in no order
/// that would show it. Fences exec.
template <class ExecutionSpace, class Tensor>
bool may_repeat(ExecutionSpace const& exec, Tensor const& X) {
  using Coordinates = typename Tensor::Coordinates;
  if (X.nnz() < 2) return false;
  if (static_cast<int>(X.sorted_modes.size()) < X.order()) return true;
  Position repeats = 0;
  Kokkos::parallel_reduce(
      "sporades::memory::count_repeats",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>(exec, 1, X.nnz()),
      CountRepeats<Coordinates>{{X.coordinates, X.sorted_modes}}, repeats);
  fence(exec, "sporades::memory::may_repeat");
  return repeats > 0;
}

/// sum_duplicates of an X that is handed over: what is sorted stays held in its place. Where
/// coordinates repeat, all may be there twice for a moment.
template <class ExecutionSpace>
CooShape count_sum_duplicates(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                              bool repeats) {
  std::vector<int> modes;
  for (int n = 0; n < X.order(); ++n) modes.push_back(n);
  bool is_new = false;
  auto const Y = count_sorted(exec, count, X, modes, is_new);
  if (is_new) count.release(X.bytes());
  count.pass(8 * X.nnz + (repeats ? X.bytes() : 0));
  return Y;
}

/// The words of a packed tensor of row mode n.
inline double packed_word_bytes(CooShape const& X, int n) {
  return X.nnz * (packed_bits(X.dims, n) <= 32 ? 4 : 8);
}

/// The rows and marks of a packed tensor.
inline double packed_row_bytes(CooShape const& X, double rows) {
  return rows * X.index_bytes + 8 * std::ceil(X.nnz / double{PackedTensor<double>::mark_distance});
}

/// sorted_packed: the tensor stays held. is_new is false where it shares X's values.
template <class ExecutionSpace>
void count_sorted_packed(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                         std::vector<int> const& modes, double rows, bool& is_new) {
  auto const reordering = plan_reordering(X.sorted_modes, modes);
  is_new = reordering.compared > 0;
  double const tensor =
      packed_word_bytes(X, modes[0]) + packed_row_bytes(X, rows) + (is_new ? X.value_bytes() : 0);
  double const before = count.held();
  if (is_new) count_sort_nonzeros(exec, count, X, reordering);
  count.hold(tensor);
  count.hold_in_all(before + tensor);
}

/// make_fibers of items with this many coordinates in so many fibers.
inline double fibers_bytes(double items, double fibers, double modes, double index_bytes) {
  double const marks = std::ceil(items / 32);
  return (modes - 1) * fibers * index_bytes + 8 * (fibers + 1) + 8 * marks + items * index_bytes +
         4 * (marks + 1);
}

/// make_csf: the tree stays held.
template <class ExecutionSpace, class Tuples>
void count_csf(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
               std::vector<int> const& modes, Tuples& tuples) {
  bool is_new = false;
  count_sorted(exec, count, X, modes, is_new);
  double const marks = 8 * std::ceil(X.nnz / double{CsfTensor<double>::mark_distance});
  count.hold(X.nnz * X.index_bytes + 8 * X.nnz);  // the leaves' indices, and the nodes at work
  for (std::size_t l = 0; l + 1 < modes.size(); ++l)
    count.hold(tuples.of(modes, l + 1) * (X.index_bytes + 8) + 8 + marks);
  count.release(8 * X.nnz + (is_new ? X.coordinate_bytes() : 0));
}

/// Whether a mode has too many rows for any parts: see join_parts.
inline bool has_far_more_rows(CooShape const& X, std::uint64_t dim) {
  return dim > 65536 && static_cast<double>(dim / 64) > X.nnz;
}

/// make_alto with room for as many rows in all parts: the tensor stays held. X does not if is_last,
/// which says that X alone holds its nonzeros.
template <class ExecutionSpace>
void count_alto(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X, bool is_last,
                double buffer_rows) {
  AltoLayout const layout(X.dims);
  double const keys = (layout.has_two_words() ? 16 : 8) * X.nnz;
  double const before = count.held() - (is_last ? X.bytes() : 0);
  count.hold(keys);
  if (is_last) count.release(X.coordinate_bytes());
  count_sort_items(exec, count, X.count(), BitRange{0, layout.bits});
  count.pass(keys);
  count.release(keys);
  count.hold(keys + X.value_bytes());  // the tensor
  count.hold_in_all(before + keys + X.value_bytes());
  double const N = X.order(), all_parts = static_cast<double>(most_parts(X.count()));
  count.pass(16 * all_parts * N);
  double rows = 0;
  for (auto dim : X.dims)
    if (!has_far_more_rows(X, dim)) rows += static_cast<double>(dim);
  constexpr double block = AltoPartition<Kokkos::HostSpace>::block_rows;
  count.hold(N * all_parts * (sizeof(AltoPart) + 8) + 8 * (rows / block + 2 * N) +
             4 * N * buffer_rows / block);
}

/// make_flycoo: the tensor stays held. X does not if is_last, which says that X alone holds its
/// nonzeros.
template <class ExecutionSpace>
void count_flycoo(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X, bool is_last,
                  Position partitions) {
  double const before = count.held() - (is_last ? X.bytes() : 0);
  double const nonzeros = 8 * X.nnz;
  auto const pieces = static_cast<double>(
      most_pieces(X.count(), partitions, piece_length<ExecutionSpace>(X.count())) + 1);
  count.hold(8 * pieces * X.order());
  double ranks = 0;
  int rank_bits = 0;
  for (auto dim : X.dims) {
    double const rows = 8 * static_cast<double>(dim), held = count.held();
    double const groups = std::min(static_cast<double>(dim), std::sqrt(2 * X.nnz) + 1);
    count.hold(2 * rows);  // degrees and keys
    count_sort_items(exec, count, dim, BitRange{0, index_bits(X.count() + 1)});
    count.hold(groups *
               (sizeof(RowGroup) + sizeof(RowBlock) * std::min(static_cast<double>(dim) / groups,
                                                               static_cast<double>(partitions))));
    count_sort_items(exec, count, dim, BitRange{0, index_bits(partitions + 1)});
    ranks += static_cast<double>(dim) * X.index_bytes;
    count.hold_in_all(held + static_cast<double>(dim) * X.index_bytes);
    rank_bits += index_bits(dim);
  }
  using Unit = FlycooUnit<typename ExecutionSpace::memory_space>;
  FlycooLayout const layout(X.dims, static_cast<int>(8 * X.scalar_bytes), unit_bits<Unit>);
  double const records = sizeof(Unit) * (X.nnz * layout.units + double{spare_units});
  double const ids = 4 * static_cast<double>(packed_number_words(X.count(), index_bits(X.count())));
  count_sort_items(exec, count, X.count(), BitRange{0, rank_bits});
  count.hold(records);
  double tensor = records + 8 * pieces * X.order();
  count.hold_in_all(before + ranks + tensor);
  for (int n = 0; n < X.order() && X.order() > 1; ++n) {
    count_sort_items(exec, count, X.count(), BitRange{0, index_bits(X.dims[(n + 1) % X.order()])});
    count.hold(nonzeros + ids);
    tensor += ids;
    count.hold_in_all(before + ranks + tensor);
    count.pass(records);
  }
  if (X.order() > 1) count.hold(records);
  count.release(ranks);
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

/// Whether some mode may have no parts, because they would have too many buffer rows.
inline bool may_have_no_parts(CooShape const& X) {
  for (int n = 0; n < X.order(); ++n)
    if (may_have_no_parts(X, n)) return true;
  return false;
}

}  // namespace sporades::detail
