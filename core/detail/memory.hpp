// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <sporades/core/detail/kokkos.hpp>
#include <sporades/core/detail/shortage.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sporades::detail {

/// Bytes that this process may have: the smallest of the machine's memory, the process's limit on
/// its address space, and the limits of its cgroups.
double host_memory_bytes();

/// Bytes of host_memory_bytes that are unused: neither this process nor another of the machine or
/// of its cgroups has them. At least 0. Memory in which the system caches files counts as unused.
double host_memory_left();

/// Gives memory that was freed, and is kept for reuse, back to the system, where the C library can.
void return_freed_memory();

struct MemoryLimit {
  double bytes;  // the limit
  double left;   // what is unused of it
};

/// The smallest memory limit of this process's cgroups, and the smallest unused rest of one;
/// infinity if there is none. The file `self` lists the cgroups, of version 1 or 2; those above
/// them in the tree mounted at `root` count, too.
MemoryLimit cgroup_memory(std::string const& root = "/sys/fs/cgroup",
                          std::string const& self = "/proc/self/cgroup");

/// Asks the system to back new memory by pages of 2 MiB, as far as it covers whole ones. Gathers of
/// rows from large matrices then miss the table of pages less often, and the first writes cause a
/// five-hundredth of the page faults. Does nothing on systems that have no such pages.
void advise_huge_pages(void* data, std::size_t bytes);

/// A number of bytes as text, such as "12.3 GB".
std::string bytes_text(double bytes);

/// A number of bytes as text, rounded up in its last digit, so that so much memory is enough.
std::string enough_text(double bytes);

template <class Space>
auto space_bytes(Space const& exec, int)
    -> decltype(static_cast<double>(exec.cuda_device_prop().totalGlobalMem)) {
  return static_cast<double>(exec.cuda_device_prop().totalGlobalMem);
}
template <class Space>
auto space_bytes(Space const& exec, int)
    -> decltype(static_cast<double>(exec.hip_device_prop().totalGlobalMem)) {
  return static_cast<double>(exec.hip_device_prop().totalGlobalMem);
}
template <class Space>
double space_bytes(Space const&, long) {
  return host_memory_bytes();
}

/// Bytes of the memory that Views in the memory space of exec share: the GPU's, or
/// host_memory_bytes().
template <class ExecutionSpace>
double memory_bytes(ExecutionSpace const& exec) {
  return space_bytes(exec, 0);
}

/// Bytes of that memory that are unused.
template <class ExecutionSpace>
double memory_left(ExecutionSpace const&) {
  if constexpr (is_gpu<ExecutionSpace>)
    return free_device_bytes();
  else
    return host_memory_left();
}

/// Bytes of that memory that may be taken: what is unused, less a margin for what others take.
template <class ExecutionSpace>
double memory_to_take(ExecutionSpace const& exec) {
  double const margin = std::min(0.02 * memory_bytes(exec), 512e6);
  return std::max(0.0, memory_left(exec) - margin);
}

/// A View whose entries are not initialised, allocated on exec. Throws RunError where it is large
/// and exceeds the memory that is left: its bytes may be past 2^64, which Kokkos does not check.
/// The library has it for the types of Views that are used most.
template <class ViewType, class ExecutionSpace, class... Extents>
ViewType allocate_view(ExecutionSpace const& exec, std::string_view label, Extents... extents) {
  double const bytes =
      (static_cast<double>(extents) * ... * double{sizeof(typename ViewType::value_type)});
  if (bytes > 4e9) expect_room(label, bytes, memory_left(exec));
  ViewType const view(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, std::string(label)),
                      extents...);
  if constexpr (std::is_same_v<typename ViewType::memory_space, Kokkos::HostSpace>)
    advise_huge_pages(view.data(), view.span() * sizeof(typename ViewType::value_type));
  return view;
}

/// allocate_view for extents of any integer types: a View whose entries are not initialised.
template <class ViewType, class ExecutionSpace, class... Extents>
ViewType uninitialized(ExecutionSpace const& exec, std::string_view label, Extents... extents) {
  return allocate_view<ViewType>(exec, label, static_cast<std::size_t>(extents)...);
}

/// The types in which copy_view and fill_view take Views of rank 1 and rank 2.
template <class Data, class MemorySpace>
using PlainView = Kokkos::View<Data, Kokkos::LayoutRight, MemorySpace>;

/// True if a View can be a PlainView.
template <class ViewType>
inline constexpr bool is_plain =
    int(ViewType::rank) == 1
        ? !std::is_same_v<typename ViewType::array_layout, Kokkos::LayoutStride>
        : int(ViewType::rank) == 2 &&
              std::is_same_v<typename ViewType::array_layout, Kokkos::LayoutRight>;

template <class ViewType, class Entry>
using PlainViewOf = PlainView<std::conditional_t<int(ViewType::rank) == 1, Entry*, Entry**>,
                              typename ViewType::memory_space>;

/// Kokkos::deep_copy. The library has it for indices, positions and scalars.
template <class ExecutionSpace, class To, class From>
void copy_plain_view(ExecutionSpace const& exec, To const& to, From const& from) {
  Kokkos::deep_copy(exec, to, from);
}
template <class ExecutionSpace, class To>
void fill_plain_view(ExecutionSpace const& exec, To const& to,
                     typename To::value_type const& value) {
  Kokkos::deep_copy(exec, to, value);
}

/// Kokkos::deep_copy(exec, to, from), which compilers take long for: Views of whatever traits share
/// the code of their PlainViews. To the host this waits, as fence() does.
template <class ExecutionSpace, class To, class From>
void copy_view(ExecutionSpace const& exec, To const& to, From const& from) {
  using Entry = typename To::value_type;
  if constexpr (is_gpu<ExecutionSpace> && !is_gpu<typename To::execution_space>)
    wait_for_exchanges(native_stream(exec, 0));
  if constexpr (is_plain<To> && is_plain<From> && int(To::rank) == int(From::rank) &&
                std::is_same_v<Entry, typename From::non_const_value_type>)
    copy_plain_view<ExecutionSpace, PlainViewOf<To, Entry>, PlainViewOf<From, Entry const>>(
        exec, to, from);
  else
    Kokkos::deep_copy(exec, to, from);
}

/// Kokkos::deep_copy(exec, to, value), in the same way.
template <class ExecutionSpace, class To>
void fill_view(ExecutionSpace const& exec, To const& to, typename To::value_type const& value) {
  if constexpr (is_plain<To>)
    fill_plain_view<ExecutionSpace, PlainViewOf<To, typename To::value_type>>(exec, to, value);
  else
    Kokkos::deep_copy(exec, to, value);
}

/// A View of zeros, allocated on exec and filled there.
template <class ViewType, class ExecutionSpace, class... Extents>
ViewType zeroed(ExecutionSpace const& exec, std::string_view label, Extents... extents) {
  auto const view = uninitialized<ViewType>(exec, label, extents...);
  fill_view(exec, view, 0);
  return view;
}

/// Entry p of a View of rank 1 that exec can read. Fences exec.
template <class ExecutionSpace, class ViewType>
auto entry_at(ExecutionSpace const& exec, ViewType const& x, std::size_t p) {
  typename ViewType::non_const_value_type entry{};
  Kokkos::View<decltype(entry)*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const host(&entry, 1);
  copy_view(exec, host, Kokkos::subview(x, std::make_pair(p, p + 1)));
  fence(exec, "sporades::view::entry_at");
  return entry;
}

/// The entries of a View of rank 1 that exec can read, on the host. Fences exec.
template <class ExecutionSpace, class ViewType>
auto to_vector(ExecutionSpace const& exec, ViewType const& entries) {
  using Entry = typename ViewType::non_const_value_type;
  std::vector<Entry> result(entries.extent(0));
  Kokkos::View<Entry*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const host(result.data(),
                                                                              result.size());
  copy_view(exec, host, entries);
  fence(exec, "sporades::view::to_vector");
  return result;
}

/// A View with the entries of a vector, in the memory space of exec. Fences exec.
template <class Entry, class ExecutionSpace>
Kokkos::View<Entry*, typename ExecutionSpace::memory_space> to_view(
    ExecutionSpace const& exec, std::string_view label, std::vector<Entry> const& entries) {
  using Result = Kokkos::View<Entry*, typename ExecutionSpace::memory_space>;
  auto const view = uninitialized<Result>(exec, label, entries.size());
  Kokkos::View<Entry const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const host(entries.data(),
                                                                                    entries.size());
  copy_view(exec, view, host);
  fence(exec, label);
  return view;
}

}  // namespace sporades::detail

#include <sporades/eti/memory.hpp>
