// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mutex>
#include <sporades/core/detail/kokkos.hpp>

/// What goes around calls of Kokkos Kernels.

namespace sporades::detail {

/// Held during a call on a GPU: Kokkos Kernels has one handle of the vendor's library for all
/// threads of the host, and sets its stream in each call.
template <class ExecutionSpace>
std::unique_lock<std::mutex> vendor_handle() {
  static std::mutex handle;
  if constexpr (is_gpu<ExecutionSpace>) return std::unique_lock<std::mutex>(handle);
  return {};
}

/// Calls what runs in the default instance of the space, after all that was enqueued on exec and
/// before all that will be.
template <class ExecutionSpace, class Call>
void in_default_instance(ExecutionSpace const& exec, Call const& call) {
  fence(exec, "sporades::dense::before_kokkos_kernels");
  call();
  fence(ExecutionSpace(), "sporades::dense::after_kokkos_kernels");
}

}  // namespace sporades::detail
