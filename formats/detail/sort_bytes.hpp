// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/memory_count.hpp>
#include <sporades/formats/detail/coo_shape.hpp>
#include <sporades/formats/sort_coo.hpp>

/// What sorting takes.

namespace sporades::detail {

/// sort_items of n items, whose words are kept: these, as many to move them to, and counts of
/// digits, which hosts have for chunks of eight times as many items.
template <class ExecutionSpace>
MadeBytes sort_bytes(ExecutionSpace const& exec, Position n) {
  double const words = 8 * static_cast<double>(n);
  if (n < 2 || index_bits(n) > 62) return {words, words};  // the latter fit into no memory
  double counts = words / 8 + static_cast<double>(std::size_t{8} << widest_chunk_digit);
  if constexpr (has_cub<ExecutionSpace>)
    counts = static_cast<double>(cub_storage_bytes<typename ExecutionSpace::memory_space>(exec, n));
  else if constexpr (is_gpu<ExecutionSpace>)
    counts = static_cast<double>((n + tile_size - 1) / tile_size * tile_digits * sizeof(Position));
  return {words, 2 * words + counts};
}

/// What is made in an order in which so many items were sorted, while their words are there.
inline MadeBytes in_sorted_order(MadeBytes const& sort, double made) {
  return {made, std::max(sort.peak, sort.kept + made)};
}

/// Whether sorted(X, modes) is X itself.
inline bool is_sorted_by(CooShape const& X, std::vector<int> const& modes) {
  return plan_reordering(X.sorted_modes, modes).compared == 0;
}

/// sorted(X, modes); nothing where that is X itself.
template <class ExecutionSpace>
MadeBytes sorted_bytes(ExecutionSpace const& exec, CooShape const& X,
                       std::vector<int> const& modes) {
  return is_sorted_by(X, modes) ? MadeBytes{}
                                : in_sorted_order(sort_bytes(exec, X.count()), X.bytes());
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

/// sum_duplicates of an X that is handed over, in whose place the sum is counted. Where coordinates
/// repeat, all may be there twice for a moment.
template <class ExecutionSpace>
void count_sum_duplicates(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                          bool repeats) {
  std::vector<int> modes;
  for (int n = 0; n < X.order(); ++n) modes.push_back(n);
  count.pass(sorted_bytes(exec, X, modes).peak);
  count.pass(8 * X.nnz + (repeats ? X.bytes() : 0));
}

}  // namespace sporades::detail
