// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/detail/sort/words.hpp>
#include <utility>

/// Radix sort for processors with few fast threads. A thread counts the digits of a long chunk of
/// consecutive words, and later scatters the words of a chunk. The number of chunks follows the
/// number of threads; the result does not depend on it, since the result of a stable sort is
/// unique.
namespace sporades::detail {

/// Bits of a pass. It writes to 2^11 places at once; their cache lines fit the second-level cache.
inline constexpr int widest_chunk_digit = 11;

/// counts(c, d): how many words of chunk c have digit d.
template <class MemorySpace>
using ChunkCounts = Kokkos::View<Position**, Kokkos::LayoutRight, MemorySpace>;

KOKKOS_INLINE_FUNCTION Position chunk_begin(Position words, Position chunks, Position c) {
  return words / chunks * c + (c < words % chunks ? c : words % chunks);
}

template <class MemorySpace>
struct CountChunk {
  Words<MemorySpace> words;         // n
  ChunkCounts<MemorySpace> counts;  // chunks x 2^digit, zero before
  BitRange digit;

  KOKKOS_FUNCTION void operator()(Position c) const {
    Position* const count = &counts(c, 0);
    auto const mask = low_bits(digit.width());
    auto const end = chunk_begin(words.extent(0), counts.extent(0), c + 1);
    for (auto p = chunk_begin(words.extent(0), counts.extent(0), c); p < end; ++p)
      ++count[(words(p) >> digit.begin) & mask];
  }
};

/// Turns the counts into the places of the first word of each chunk with each digit, by an
/// exclusive scan over all pairs (digit, chunk), chunks fastest.
template <class MemorySpace>
struct ScanChunks {
  using value_type = Position;

  ChunkCounts<MemorySpace> counts;  // chunks x 2^digit

  KOKKOS_FUNCTION void operator()(Position i, Position& sum, bool final) const {
    Position& entry = counts(i % counts.extent(0), i / counts.extent(0));
    Position const own = entry;
    if (final) entry = sum;
    sum += own;
  }
};

template <class MemorySpace>
struct ScatterChunk {
  Words<MemorySpace> from;          // n
  Words<MemorySpace> to;            // n
  ChunkCounts<MemorySpace> places;  // chunks x 2^digit, consumed
  BitRange digit;

  KOKKOS_FUNCTION void operator()(Position c) const {
    Position* const place = &places(c, 0);
    std::uint64_t* const target = to.data();
    auto const mask = low_bits(digit.width());
    auto const end = chunk_begin(from.extent(0), places.extent(0), c + 1);
    for (auto p = chunk_begin(from.extent(0), places.extent(0), c); p < end; ++p) {
      std::uint64_t const word = from(p);
      target[place[(word >> digit.begin) & mask]++] = word;
    }
  }
};

/// See sort_words. Moves 24 n bytes for every 11 bits.
template <class ExecutionSpace, class MemorySpace>
void sort_words_in_chunks(ExecutionSpace const& exec, Words<MemorySpace>& words,
                          Words<MemorySpace>& spare, BitRange bits) {
  using Range = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>>;
  Position const n = words.extent(0);
  Position const threads = exec.concurrency();
  int const widest = n < (Position{1} << 16) ? 8 : widest_chunk_digit;
  for_each_digit(bits, widest, [&](BitRange digit) {
    Position const digits = Position{1} << digit.width();
    Position const chunks =
        threads == 1 ? 1 : std::min<Position>(4 * threads, n / (8 * digits) + 1);
    ChunkCounts<MemorySpace> const counts(Kokkos::view_alloc(exec, "sporades::sort::chunk_counts"),
                                          chunks, digits);
    launch_unequal_items(exec, "sporades::sort::count_chunk", chunks,
                         CountChunk<MemorySpace>{words, counts, digit});
    Kokkos::parallel_scan("sporades::sort::scan_chunks", Range(exec, 0, chunks * digits),
                          ScanChunks<MemorySpace>{counts});
    launch_unequal_items(exec, "sporades::sort::scatter_chunk", chunks,
                         ScatterChunk<MemorySpace>{words, spare, counts, digit});
    std::swap(words, spare);
  });
}

}  // namespace sporades::detail
