// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <sporades/core/detail/kokkos.hpp>

/// Launches that often have little work. On OpenMP each launch wakes all threads and waits for the
/// last of them. If other programs keep the processors busy, that can take a whole time slice of
/// the operating system. The calling thread therefore does little work alone, and wakes no other.
/// Items do not depend on one another, so the bits are the same.

namespace sporades::detail {

template <class ExecutionSpace>
using Range = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::uint64_t>>;

/// Work is small up to this number of multiply-adds. One thread does them in about 10 microseconds,
/// which is what it takes to wake a thread of a virtual machine (measured on two cores of a Xeon).
inline constexpr std::uint64_t small_work = std::uint64_t{1} << 15;

/// True if the calling thread does `items` items of about `cost` multiply-adds each alone.
template <class ExecutionSpace>
bool is_small(std::uint64_t items, std::uint64_t cost) {
  return wakes_threads<ExecutionSpace> &&
         (items <= 1 || (cost <= small_work && items <= small_work / cost));
}

/// Calls kernel(i) for 0 <= i < items, in any order: in parallel, or on the calling thread if the
/// work is small. cost: about how many multiply-adds one call takes, at least 1. Enqueued on exec,
/// does not fence. Kokkos Tools see a parallel_for in both cases.
template <class ExecutionSpace, class Kernel>
void launch(ExecutionSpace const& exec, char const* label, std::uint64_t items, std::uint64_t cost,
            Kernel const& kernel) {
  if constexpr (wakes_threads<ExecutionSpace>)
    if (is_small<ExecutionSpace>(items, cost)) {
      std::uint64_t id = 0;
      Kokkos::Tools::beginParallelFor(label, Kokkos::Tools::Experimental::device_id(exec), &id);
      for (std::uint64_t i = 0; i < items; ++i) kernel(i);
      Kokkos::Tools::endParallelFor(id);
      return;
    }
  Kokkos::parallel_for(label, Range<ExecutionSpace>(exec, 0, items), kernel);
}

/// The largest value that the calls kernel(i, value), 0 <= i < items, raise their `value` to; the
/// lowest finite number of the type if none does. Runs them as launch does. Fences exec.
template <class Value, class ExecutionSpace, class Kernel>
Value launch_max(ExecutionSpace const& exec, char const* label, std::uint64_t items,
                 std::uint64_t cost, Kernel const& kernel) {
  Value largest = Kokkos::reduction_identity<Value>::max();
  if constexpr (wakes_threads<ExecutionSpace>)
    if (is_small<ExecutionSpace>(items, cost)) {
      std::uint64_t id = 0;
      Kokkos::Tools::beginParallelReduce(label, Kokkos::Tools::Experimental::device_id(exec), &id);
      for (std::uint64_t i = 0; i < items; ++i) kernel(i, largest);
      Kokkos::Tools::endParallelReduce(id);
      return largest;
    }
  Kokkos::parallel_reduce(label, Range<ExecutionSpace>(exec, 0, items), kernel,
                          Kokkos::Max<Value>(largest));
  return largest;
}

}  // namespace sporades::detail
