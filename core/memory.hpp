// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/kokkos.hpp>
#include <string>

namespace sporades {

/// Bytes that this process may have: the machine's memory, or the process' own limit if it is less.
double host_memory_bytes();

/// "12.3 GB"
std::string bytes_text(double bytes);

namespace detail {

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

}  // namespace detail

/// Bytes that Views in the memory space of exec may have, all together: of its device, or of the
/// host.
template <class ExecutionSpace>
double memory_bytes(ExecutionSpace const& exec) {
  return detail::space_bytes(exec, 0);
}

}  // namespace sporades
