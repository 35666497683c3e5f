// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <sporades/core/detail/kokkos.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace sporades::detail {

/// Bytes that this process may have: the machine's memory, or less where the process' limit on its
/// address space or a limit of its cgroups says so.
double host_memory_bytes();

/// What of host_memory_bytes nobody uses yet, this process or another of the machine or its
/// cgroups; at least 0. What the system keeps of files and could give back counts as unused.
double host_memory_left();

/// Of a cgroup or a machine.
struct MemoryLimit {
  double bytes, left;
};

/// The least memory limit of the cgroups, of version 1 or 2, that the file `self` lists, and of
/// those above them in the tree mounted at `root`, and the least that is left of one; infinity
/// where there is none.
MemoryLimit cgroup_memory(std::string const& root = "/sys/fs/cgroup",
                          std::string const& self = "/proc/self/cgroup");

/// Asks the system to back memory that nothing has been written to by pages of 2 MiB, where it lies
/// over whole ones: rows gathered at random then miss the tables of pages less often, and first
/// writes fault a five-hundredth as often. Does nothing on systems that cannot.
void advise_huge_pages(void* data, std::size_t bytes);

/// "12.3 GB"
std::string bytes_text(double bytes);

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

/// Bytes that Views in the memory space of exec may have, all together: of its device, or of the
/// host.
template <class ExecutionSpace>
double memory_bytes(ExecutionSpace const& exec) {
  return space_bytes(exec, 0);
}

/// What of memory_bytes is free, of the device or the host.
template <class ExecutionSpace>
double memory_left(ExecutionSpace const&) {
  if constexpr (is_gpu<ExecutionSpace>)
    return free_device_bytes();
  else
    return host_memory_left();
}

/// A View whose entries are not initialised, allocated on exec.
template <class ViewType, class ExecutionSpace, class... Extents>
ViewType uninitialized(ExecutionSpace const& exec, std::string const& label, Extents... extents) {
  ViewType const view(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), extents...);
  if constexpr (std::is_same_v<typename ViewType::memory_space, Kokkos::HostSpace>)
    advise_huge_pages(view.data(), view.span() * sizeof(typename ViewType::value_type));
  return view;
}

/// A View of zeros, allocated on exec and filled there.
template <class ViewType, class ExecutionSpace, class... Extents>
ViewType zeroed(ExecutionSpace const& exec, std::string const& label, Extents... extents) {
  auto const view = uninitialized<ViewType>(exec, label, extents...);
  Kokkos::deep_copy(exec, view, 0);
  return view;
}

/// A View with the entries of a vector, in the memory space of exec. Fences exec.
template <class Entry, class ExecutionSpace>
Kokkos::View<Entry*, typename ExecutionSpace::memory_space> to_view(
    ExecutionSpace const& exec, std::string const& label, std::vector<Entry> const& entries) {
  using Result = Kokkos::View<Entry*, typename ExecutionSpace::memory_space>;
  auto const view = uninitialized<Result>(exec, label, entries.size());
  Kokkos::View<Entry const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const host(entries.data(),
                                                                                    entries.size());
  Kokkos::deep_copy(exec, view, host);
  fence(exec, label);
  return view;
}

}  // namespace sporades::detail
