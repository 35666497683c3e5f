// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <sporades/formats/detail/format_memory.hpp>
#include <sporades/kernels/detail/processes/slices.hpp>

/// What sorted copies of the nonzeros, one a mode, hold: as formats/detail/format_memory.hpp.

namespace sporades::detail {

/// Non-empty slices of mode n, or more.
using RowsOf = std::function<double(int)>;

/// The lists of make_mttkrp_plan for modes in the order of rows, those for which serves[n] is set:
/// packed, out of core if that is so, or as they are. is_last: nobody else holds X.
template <class ExecutionSpace>
void count_sorted_lists(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                        bool is_last, bool along_curve, bool is_out_of_core,
                        std::vector<bool> const& serves, RowsOf const& rows_of) {
  bool is_new = true;
  CooShape base = X;
  if (along_curve) {
    double const before = count.held() - (is_last ? X.bytes() : 0);
    count_alto(exec, count, X, is_last, 0);
    count.hold(X.bytes());
    count.hold_in_all(before + X.bytes());
    base.sorted_modes = {};
  } else {
    base = count_sorted(exec, count, X, modes_by_length(X.dims), is_new);
    if (is_new && is_last) count.release(X.bytes());
  }
  bool keeps_values = false, keeps_coordinates = false;  // of the base
  for (int n : order_of_lists(X.dims)) {
    if (!serves[static_cast<std::size_t>(n)]) continue;
    bool is_list_new = false;
    bool const fits = fits_packed(X.dims, n);
    if (fits) {
      count_sorted_packed(exec, count, base, {n}, rows_of(n), is_list_new);
      if (is_out_of_core)
        count.release(packed_word_bytes(X, n) + (is_list_new ? X.value_bytes() : 0));
    } else {
      count_sorted(exec, count, base, {n}, is_list_new);
    }
    keeps_values = keeps_values || (!is_list_new && !is_out_of_core);
    keeps_coordinates = keeps_coordinates || (!is_list_new && !fits);
  }
  if (!is_new && !is_last) return;
  if (!keeps_values) count.release(base.value_bytes());
  if (!keeps_coordinates) count.release(base.coordinate_bytes());
}

/// The lists of make_mttkrp_plan with slices of the mode `sliced`: see build_sliced.
template <class ExecutionSpace>
void count_sliced_lists(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                        bool is_last, int slices, int sliced, RowsOf const& rows_of) {
  bool is_new = true, is_list_new = false;
  auto const base = count_sorted(exec, count, X, mttkrp_mode_order(X.dims, sliced), is_new);
  if (is_new && is_last) count.release(X.bytes());
  count_sorted_packed(exec, count, base, {sliced}, rows_of(sliced), is_list_new);
  CooShape named = base;  // shares the values
  named.dims.push_back(static_cast<std::uint64_t>(slices));
  named.sorted_modes = {};
  count.hold(named.coordinate_bytes());
  if (is_new || is_last) count.release(base.coordinate_bytes());
  for (int n = 0; n < X.order(); ++n) {
    if (n == sliced) continue;
    double const parts = std::min(X.nnz, slices * rows_of(n));
    double const lists =
        9 * parts + 8 * static_cast<double>(X.dims[static_cast<std::size_t>(n)]) + 8;
    MemoryCount building = count;
    bool is_sorted_new = true;
    auto const list = count_sorted(exec, building, named, sliced_order(X.dims, n), is_sorted_new);
    building.hold(8 * X.nnz + X.coordinate_bytes() + 12 * parts + lists);
    count_sort_items(exec, building, static_cast<Position>(parts),
                     BitRange{0, index_bits(X.dims[static_cast<std::size_t>(n)])});
    building.release(8 * X.nnz + 12 * parts);
    if (!fits_packed(X.dims, n)) {
      count.pass(building.peak() - count.held());
      count.hold(X.bytes() + lists);
      continue;
    }
    bool is_packed_new = false;
    CooShape in_parts = list;
    in_parts.dims.pop_back();
    in_parts.dims[static_cast<std::size_t>(n)] = static_cast<std::uint64_t>(parts);
    in_parts.sorted_modes = mttkrp_mode_order(X.dims, n);
    count_sorted_packed(exec, building, in_parts, {n}, parts, is_packed_new);
    count.pass(building.peak() - count.held());
    count.hold(packed_word_bytes(X, n) + X.value_bytes() + packed_row_bytes(X, parts) + lists);
  }
  count.release(named.coordinate_bytes());
}

}  // namespace sporades::detail
