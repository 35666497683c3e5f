// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/sort/words.hpp>

/// CUB's radix sort, from the CUDA toolkit; without CUDA's compiler this header only says so.
#ifdef __CUDACC__

#include <cub/device/device_radix_sort.cuh>
#include <utility>

namespace sporades::detail {

template <class ExecutionSpace>
inline constexpr bool has_cub = std::is_same_v<ExecutionSpace, Kokkos::Cuda>;

/// Sorts words by the given bits, stable. spare: as long, contents lost; the two may be swapped.
/// Enqueued on exec, does not fence.
template <class MemorySpace>
void sort_words_with_cub(Kokkos::Cuda const& exec, Words<MemorySpace>& words,
                         Words<MemorySpace>& spare, BitRange bits) {
  if (bits.width() <= 0) return;  // CUB would take an empty range for all bits
  cub::DoubleBuffer<std::uint64_t> buffers(words.data(), spare.data());
  auto const sort = [&](void* storage, std::size_t& bytes) {
    auto const status = cub::DeviceRadixSort::SortKeys(storage, bytes, buffers, words.extent(0),
                                                       bits.begin, bits.end, exec.cuda_stream());
    expects(status == cudaSuccess, "sort: CUB failed: ", cudaGetErrorString(status));
  };
  std::size_t bytes = 0;
  sort(nullptr, bytes);
  Kokkos::View<char*, MemorySpace> const storage(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "sporades::sort::cub_storage"), bytes);
  sort(storage.data(), bytes);
  if (buffers.Current() != words.data()) std::swap(words, spare);
}

}  // namespace sporades::detail

#else

namespace sporades::detail {

template <class ExecutionSpace>
inline constexpr bool has_cub = false;

template <class ExecutionSpace, class MemorySpace>
void sort_words_with_cub(ExecutionSpace const&, Words<MemorySpace>&, Words<MemorySpace>&,
                         BitRange) = delete;

}  // namespace sporades::detail

#endif
