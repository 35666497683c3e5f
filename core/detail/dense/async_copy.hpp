// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/tile.hpp>

/// Copies from a GPU's memory to scratch memory that run beside what a thread computes. NVIDIA GPUs
/// of compute capability 8 and later have them; elsewhere they are done at once.

namespace sporades::detail {

/// Starts a copy of the first `bytes` of `size` bytes, 4, 8 or 16, to where `size` divides; the
/// others become 0.
template <int size>
KOKKOS_FORCEINLINE_FUNCTION void start_copy(void* to, void const* from, int bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  auto const address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (size == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from),
                 "r"(bytes)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from),
                 "n"(size), "r"(bytes)
                 : "memory");
#else
  for (int b = 0; b < size; ++b)
    static_cast<char*>(to)[b] = b < bytes ? static_cast<char const*>(from)[b] : 0;
#endif
}

/// The copies that a thread has started since the last call are a batch.
KOKKOS_FORCEINLINE_FUNCTION void end_batch() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits for all batches of the 32 lanes of a warp but each lane's last `under_way`.
template <int under_way>
KOKKOS_FORCEINLINE_FUNCTION void wait_for_batches() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(under_way) : "memory");
  __syncwarp();
#endif
}

/// Waits until all lanes of a warp are done with what they read.
KOKKOS_FORCEINLINE_FUNCTION void wait_for_lanes() {
#if defined(__CUDA_ARCH__)
  __syncwarp();
#endif
}

}  // namespace sporades::detail
