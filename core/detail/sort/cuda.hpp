// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <sporades/core/detail/sort/words.hpp>
#include <type_traits>
#include <utility>

/// CUB's radix sort, from the CUDA toolkit. Without CUDA's compiler, has_cub is false.

namespace sporades::detail {

/// True if the type of the number of items is a template parameter of Sort::SortKeys, so that it
/// may have 64 bits. Old versions of CUB take an int, and longer numbers convert to it in silence.
template <class Sort, class Buffers, class = void>
inline constexpr bool takes_long_counts = false;
template <class Sort, class Buffers>
inline constexpr bool
    takes_long_counts<Sort, Buffers,
                      std::void_t<decltype(Sort::template SortKeys<std::uint64_t, std::uint64_t>(
                          nullptr, std::declval<std::size_t&>(), std::declval<Buffers&>(),
                          std::uint64_t{}, 0, 64))>> = true;

/// The most items that this version of CUB sorts.
template <class Sort, class Buffers>
inline constexpr Position most_sorted_items = takes_long_counts<Sort, Buffers>
                                                  ? std::numeric_limits<Position>::max()
                                                  : Position{std::numeric_limits<int>::max()};

}  // namespace sporades::detail

#ifdef __CUDACC__

#include <cub/device/device_radix_sort.cuh>

namespace sporades::detail {

template <class ExecutionSpace>
inline constexpr bool has_cub = std::is_same_v<ExecutionSpace, Kokkos::Cuda>;

inline constexpr Position most_cub_items =
    most_sorted_items<cub::DeviceRadixSort, cub::DoubleBuffer<std::uint64_t>>;

/// Bytes that sort_words_with_cub allocates for n words.
template <class MemorySpace>
std::size_t cub_storage_bytes(Kokkos::Cuda const& exec, Position n) {
  if (n > most_cub_items) return 0;
  cub::DoubleBuffer<std::uint64_t> buffers(nullptr, nullptr);
  std::size_t bytes = 0;
  cub::DeviceRadixSort::SortKeys(nullptr, bytes, buffers, n, 0, 64, exec.cuda_stream());
  return bytes;
}

/// See sort_words.
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

inline constexpr Position most_cub_items = 0;

template <class MemorySpace, class ExecutionSpace>
std::size_t cub_storage_bytes(ExecutionSpace const&, Position) = delete;

template <class ExecutionSpace, class MemorySpace>
void sort_words_with_cub(ExecutionSpace const&, Words<MemorySpace>&, Words<MemorySpace>&,
                         BitRange) = delete;

}  // namespace sporades::detail

#endif
