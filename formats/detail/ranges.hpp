// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/bisect.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/types.hpp>

/// Ranges of neighbouring items, as the nonzeros of fibers. One range may hold most items, so that
/// loops over them are divided by items.

namespace sporades::detail {

/// The range of item p: the last one that begins at p or before. begin: ranges + 1.
template <class Begins>
KOKKOS_INLINE_FUNCTION Position range_of(Begins const& begin, Position p) {
  return bisect<Position>(1, begin.extent(0) - 1, [&](Position r) { return begin(r) <= p; }) - 1;
}

/// One work item: `length` neighbouring items.
template <class Begins, class Function>
struct ForItems {
  Begins begin;  // ranges + 1
  Function function;
  Position items, length;

  KOKKOS_FUNCTION void operator()(Position chunk) const {
    Position p = chunk * length;
    Position const last = p + length < items ? p + length : items;
    for (Position r = range_of(begin, p); p < last; ++r) {
      Position const end = begin(r + 1) < last ? begin(r + 1) : last;
      for (; p < end; ++p) function(r, p);
    }
  }
};

/// Calls function(r, p) for each of the `items` items p of all ranges r, in parallel. begin:
/// ranges + 1; a range may be empty. Enqueued on exec, does not fence.
template <class ExecutionSpace, class Begins, class Function>
void for_items(ExecutionSpace const& exec, char const* label, Begins const& begin, Position items,
               Function const& function) {
  Position const length = is_gpu<ExecutionSpace> ? 1 : 4096;
  launch_items(exec, label, (items + length - 1) / length,
               ForItems<Begins, Function>{begin, function, items, length});
}

}  // namespace sporades::detail
