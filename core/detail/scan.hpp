// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/types.hpp>

namespace sporades::detail {

template <class Values>
struct ExclusiveScan {
  using value_type = typename Values::non_const_value_type;

  Values values;  // n

  KOKKOS_FUNCTION void operator()(Position i, value_type& sum, bool final) const {
    value_type const own = values(i);
    if (final) values(i) = sum;
    sum += own;
  }
};

/// values(i) <- values(0) + ... + values(i-1), in place, for integers of any width. To turn counts
/// into offsets, append a 0: it becomes the total. Enqueued on exec, does not fence.
template <class ExecutionSpace, class Values>
void exclusive_scan(ExecutionSpace const& exec, Values const& values) {
  if (values.extent(0) == 0) return;
  Kokkos::parallel_scan(
      "sporades::scan::exclusive",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>(exec, 0, values.extent(0)),
      ExclusiveScan<Values>{values});
}

/// exclusive_scan that also returns the sum of all values. Fences exec.
template <class ExecutionSpace, class Values>
typename Values::non_const_value_type exclusive_scan_total(ExecutionSpace const& exec,
                                                           Values const& values) {
  typename Values::non_const_value_type total = 0;
  if (values.extent(0) == 0) return total;
  Kokkos::parallel_scan(
      "sporades::scan::exclusive_total",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>(exec, 0, values.extent(0)),
      ExclusiveScan<Values>{values}, total);
  fence(exec, "sporades::scan::exclusive_total");
  return total;
}

}  // namespace sporades::detail
