// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/memory.hpp>

namespace sporades::detail {

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

}  // namespace sporades::detail
