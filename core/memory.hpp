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

/// Bytes that Views in the memory space of exec may have, all together.
template <class ExecutionSpace>
double memory_bytes(ExecutionSpace const&) {
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
  if constexpr (is_gpu<ExecutionSpace>) {
    std::size_t free = 0, total = 0;
    if (cudaMemGetInfo(&free, &total) == cudaSuccess) return static_cast<double>(total);
  }
#endif
  return host_memory_bytes();
}

}  // namespace sporades
