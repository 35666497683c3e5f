// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <sporades/core/detail/kokkos.hpp>
#include <sporades/core/error.hpp>

/// Launches of kernels over a range of items. Items do not depend on one another, so that the bits
/// do not depend on which thread does which of them.

namespace sporades::detail {

template <class ExecutionSpace>
using Range = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::uint64_t>>;

/// A kernel for hosts whose type is forgotten. A kernel's loop over items is compiled once, for all
/// execution spaces of the host and all ways to launch it: they have the same bits, and compilers
/// have less work.
class HostKernel {
 public:
  template <class Kernel>
  explicit HostKernel(Kernel const& kernel) : kernel_(&kernel), run_(run_items<Kernel>) {}

  /// Items begin to end - 1.
  void operator()(std::uint64_t begin, std::uint64_t end) const { run_(kernel_, begin, end); }

 private:
  template <class Kernel>
  static void run_items(void const* kernel, std::uint64_t begin, std::uint64_t end) {
    auto const& typed = *static_cast<Kernel const*>(kernel);
    for (std::uint64_t i = begin; i < end; ++i) typed(i);
  }

  void const* kernel_;
  void (*run_)(void const*, std::uint64_t, std::uint64_t);
};

/// Items 0 to items - 1 in `parts` parts of neighbours, as equal as can be.
struct HostParts {
  HostKernel kernel;
  std::uint64_t items, parts;

  void operator()(std::uint64_t part) const {
    std::uint64_t const length = items / parts, longer = items % parts;
    std::uint64_t const begin = part * length + (part < longer ? part : longer);
    kernel(begin, begin + length + (part < longer ? 1 : 0));
  }
};

/// Runs the parts in parallel; nothing on GPUs. They point to the kernel: where a launch returns
/// early, waits for it. Where the items of a part are `unequal` in time, a thread that is done with
/// a part takes the next one. The library has it for all execution spaces.
template <class ExecutionSpace>
void launch_parts(ExecutionSpace const& exec, char const* label, HostParts const& parts,
                  bool unequal) {
  if constexpr (!is_gpu<ExecutionSpace>) {
    using Dynamic = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::uint64_t>,
                                        Kokkos::Schedule<Kokkos::Dynamic>>;
    if (unequal)
      Kokkos::parallel_for(label, Dynamic(exec, 0, parts.parts).set_chunk_size(1), parts);
    else
      Kokkos::parallel_for(label, Range<ExecutionSpace>(exec, 0, parts.parts), parts);
    if (returns_early<ExecutionSpace>()) fence(exec, label);
  }
}

/// Calls kernel(i) for 0 <= i < items in parallel, in any order. Enqueued on exec; waits on
/// HPX, elsewhere does not fence. Bounds: of the registers that a GPU's thread takes.
template <class Bounds = Kokkos::LaunchBounds<>, class ExecutionSpace, class Kernel>
void launch_items(ExecutionSpace const& exec, char const* label, std::uint64_t items,
                  Kernel const& kernel) {
  if constexpr (is_gpu<ExecutionSpace>) {
    using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::uint64_t>, Bounds>;
    Kokkos::parallel_for(label, Policy(exec, 0, items), kernel);
  } else {
    std::uint64_t const threads = exec.concurrency();
    launch_parts(exec, label, {HostKernel(kernel), items, items < threads ? items : threads},
                 false);
  }
}

/// Calls kernel(i) for 0 <= i < items, which take unequal times, in parallel and in any order.
/// Enqueued on exec; waits on HPX, elsewhere does not fence.
template <class ExecutionSpace, class Kernel>
void launch_unequal_items(ExecutionSpace const& exec, char const* label, std::uint64_t items,
                          Kernel const& kernel) {
  if constexpr (is_gpu<ExecutionSpace>)
    launch_items(exec, label, items, kernel);
  else
    launch_parts(exec, label, {HostKernel(kernel), items, items}, true);
}

/// A policy of teams of so many threads. Throws Error where there are too many teams. The pool of
/// scratch memory is not used: where it is 0, Kokkos 4.6 on CUDA allocates it anew in every launch.
template <class Policy, class ExecutionSpace>
Policy team_policy(ExecutionSpace const& exec, std::uint64_t teams, int threads) {
  expects(teams <= 0x7fffffffu, "a kernel takes at most 2^31 - 1 teams, not ", teams);
  Policy policy(exec, static_cast<int>(teams), threads, 1);
  policy.set_scratch_size(1, Kokkos::PerTeam(8));
  return policy;
}

/// Work is small up to this number of multiply-adds. One thread does them in about 10 microseconds,
/// which is what it takes to wake a thread of a virtual machine (measured on two cores of a Xeon).
inline constexpr std::uint64_t small_work = std::uint64_t{1} << 15;

/// True if the calling thread does `items` items of about `cost` multiply-adds each alone.
template <class ExecutionSpace>
bool is_small(std::uint64_t items, std::uint64_t cost) {
  return wakes_threads<ExecutionSpace> &&
         (items <= 1 || (cost <= small_work && items <= small_work / cost));
}

/// Launches items that often are little work. On OpenMP each launch wakes all threads and waits for
/// the last of them. If other programs keep the processors busy, that can take a whole time slice
/// of the operating system. The calling thread therefore does little work alone, and wakes no
/// other. cost: about how many multiply-adds one item takes, at least 1. Fences as
/// launch_items does. Kokkos Tools see a parallel_for in both cases.
template <class ExecutionSpace, class Kernel>
void launch(ExecutionSpace const& exec, char const* label, std::uint64_t items, std::uint64_t cost,
            Kernel const& kernel) {
  if constexpr (wakes_threads<ExecutionSpace>)
    if (is_small<ExecutionSpace>(items, cost)) {
      std::uint64_t id = 0;
      Kokkos::Tools::beginParallelFor(label, Kokkos::Tools::Experimental::device_id(exec), &id);
      HostKernel const on_this_thread(kernel);
      on_this_thread(0, items);
      Kokkos::Tools::endParallelFor(id);
      return;
    }
  launch_items(exec, label, items, kernel);
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

#include <sporades/eti/launch.hpp>
