// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/scan.hpp>
#include <sporades/core/detail/sort/words.hpp>
#include <utility>

/// Radix sort for processors with many threads. A team counts the digits of a tile of consecutive
/// words, and later scatters the words of a tile. Each thread of the team takes a run of
/// consecutive words of the tile; a scan of the threads' digit counts over the team tells each
/// thread the places of its words. Four counters share a register. Satish, Harris & Garland,
/// Designing efficient sorting algorithms for manycore GPUs, IPDPS 2009.
namespace sporades::detail {

inline constexpr int tile_digit = 4;         // bits of a pass
inline constexpr int tile_digits = 16;       // 2^tile_digit
inline constexpr Position tile_size = 2048;  // words of a tile; must fit the counters' 16 bits

/// One 16-bit counter for each of the 16 digits.
struct DigitCounts {
  std::uint64_t packed[4] = {0, 0, 0, 0};

  KOKKOS_INLINE_FUNCTION void increment(unsigned digit) {
    for (unsigned k = 0; k < 4; ++k)  // constant indices keep the counters in registers
      packed[k] += std::uint64_t{k == digit / 4} << (16 * (digit % 4));
  }
  KOKKOS_INLINE_FUNCTION Position operator[](unsigned digit) const {
    std::uint64_t word = 0;
    for (unsigned k = 0; k < 4; ++k) word = k == digit / 4 ? packed[k] : word;
    return (word >> (16 * (digit % 4))) & 0xFFFF;
  }
};

/// The words [begin, end) of a tile that one thread of the team takes.
struct TileRun {
  Position begin;
  Position end;

  template <class Member>
  KOKKOS_INLINE_FUNCTION TileRun(Member const& team, Position words) {
    Position const length = (tile_size + team.team_size() - 1) / team.team_size();
    Position const tile_begin = team.league_rank() * tile_size;
    Position const tile_end = tile_begin + tile_size < words ? tile_begin + tile_size : words;
    begin = tile_begin + team.team_rank() * length;
    end = begin + length;
    if (begin > tile_end) begin = tile_end;
    if (end > tile_end) end = tile_end;
  }
};

template <class MemorySpace>
KOKKOS_INLINE_FUNCTION DigitCounts count_run(Words<MemorySpace> const& words, TileRun const& run,
                                             BitRange digit) {
  DigitCounts counts;
  for (auto p = run.begin; p < run.end; ++p)
    counts.increment(static_cast<unsigned>((words(p) >> digit.begin) & low_bits(digit.width())));
  return counts;
}

template <class ExecutionSpace>
struct CountTile {
  using MemorySpace = typename ExecutionSpace::memory_space;

  Words<MemorySpace> words;                     // n
  Kokkos::View<Position*, MemorySpace> counts;  // 16 x tiles, digits slowest
  BitRange digit;                               // at most tile_digit bits

  KOKKOS_FUNCTION void operator()(
      typename Kokkos::TeamPolicy<ExecutionSpace>::member_type const& team) const {
    auto const own = count_run(words, TileRun(team, words.extent(0)), digit);
    DigitCounts total;
    for (int k = 0; k < 4; ++k) total.packed[k] = team.team_scan(own.packed[k]) + own.packed[k];
    if (team.team_rank() == team.team_size() - 1)
      for (unsigned d = 0; d < tile_digits; ++d)
        counts(d * team.league_size() + team.league_rank()) = total[d];
  }
};

template <class ExecutionSpace>
struct ScatterTile {
  using MemorySpace = typename ExecutionSpace::memory_space;

  Words<MemorySpace> from;  // n
  Words<MemorySpace> to;    // n
  Kokkos::View<Position*, MemorySpace>
      places;      // 16 x tiles: of the tile's first word with the digit
  BitRange digit;  // at most tile_digit bits

  KOKKOS_FUNCTION void operator()(
      typename Kokkos::TeamPolicy<ExecutionSpace>::member_type const& team) const {
    TileRun const run(team, from.extent(0));
    auto const own = count_run(from, run, digit);
    DigitCounts before;  // words of the tile with this digit that precede this thread's next one
    for (int k = 0; k < 4; ++k) before.packed[k] = team.team_scan(own.packed[k]);
    for (auto p = run.begin; p < run.end; ++p) {
      std::uint64_t const word = from(p);
      auto const d = static_cast<unsigned>((word >> digit.begin) & low_bits(digit.width()));
      to(places(d * team.league_size() + team.league_rank()) + before[d]) = word;
      before.increment(d);
    }
  }
};

/// See sort_words. Moves 24 n bytes for every 4 bits.
template <class ExecutionSpace, class MemorySpace>
void sort_words_in_tiles(ExecutionSpace const& exec, Words<MemorySpace>& words,
                         Words<MemorySpace>& spare, BitRange bits) {
  Position const tiles = (words.extent(0) + tile_size - 1) / tile_size;
  Kokkos::View<Position*, MemorySpace> const counts(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "sporades::sort::tile_counts"),
      tiles * tile_digits);
  Kokkos::TeamPolicy<ExecutionSpace> const teams(exec, static_cast<int>(tiles), Kokkos::AUTO);
  for_each_digit(bits, tile_digit, [&](BitRange digit) {
    Kokkos::parallel_for("sporades::sort::count_tile", teams,
                         CountTile<ExecutionSpace>{words, counts, digit});
    exclusive_scan(exec, counts);
    Kokkos::parallel_for("sporades::sort::scatter_tile", teams,
                         ScatterTile<ExecutionSpace>{words, spare, counts, digit});
    std::swap(words, spare);
  });
}

}  // namespace sporades::detail
