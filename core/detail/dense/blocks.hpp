// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/detail/tile.hpp>
#include <sporades/core/row_map.hpp>
#include <sporades/core/types.hpp>
#include <type_traits>

namespace sporades::detail {

/// Memory that calls on one instance share one after another; it grows and never shrinks, so that
/// a loop allocates in its first round only. Growing fences.
template <class MemorySpace>
class Workspace {
 public:
  /// count entries of T, contents undefined; valid until the next call of get.
  template <class T, class ExecutionSpace>
  auto get(ExecutionSpace const& exec, std::size_t count) {
    std::size_t const words = (count * sizeof(T) + sizeof(double) - 1) / sizeof(double);
    if (words > memory_.extent(0)) {
      fence(exec, "sporades::dense::grow");
      memory_ = {};
      memory_ = uninitialized<Kokkos::View<double*, MemorySpace>>(
          exec, "sporades::dense::workspace", words);
    }
    return Kokkos::View<T*, MemorySpace, Kokkos::MemoryUnmanaged>(
        reinterpret_cast<T*>(memory_.data()), count);
  }

  std::size_t bytes() const { return memory_.extent(0) * sizeof(double); }

 private:
  Kokkos::View<double*, MemorySpace> memory_;
};

/// Columns of one kernel item: a GPU gives neighbouring threads neighbouring tiles of 4, a CPU
/// takes whole rows.
template <class ExecutionSpace>
KOKKOS_INLINE_FUNCTION constexpr std::uint64_t columns_per_item(std::uint64_t columns) {
  return is_gpu<ExecutionSpace> || columns == 0 ? 4 : columns;
}

/// Calls tile(width constant, first) for widths of 8 (CPUs), 4 and 1 that cover [first, end).
/// Constant widths let the loops over a tile be vectorised and its sums live in registers.
template <class ExecutionSpace, class Tile>
KOKKOS_FORCEINLINE_FUNCTION void for_tiles(std::uint64_t first, std::uint64_t end,
                                           Tile const& tile) {
  if constexpr (!is_gpu<ExecutionSpace>)
    for (; first + 8 <= end; first += 8) tile(std::integral_constant<int, 8>{}, first);
  for (; first + 4 <= end; first += 4) tile(std::integral_constant<int, 4>{}, first);
  for (; first < end; ++first) tile(std::integral_constant<int, 1>{}, first);
}

/// Rows are summed in blocks whose number depends on the shape alone, never on the machine: blocks
/// of 256 rows or a power of two times as many, so few that their partial sums of `entries` doubles
/// stay within 32 MiB.
struct RowBlocks {
  std::uint64_t rows, rows_per_block = 256, count;

  RowBlocks(std::uint64_t all_rows, std::uint64_t entries) : rows(all_rows) {
    lengthen(most_blocks(entries));
  }

  /// The blocks of the rows that are here of a distribution, whose rows begin where blocks do.
  RowBlocks here(RowMap const& distribution) const {
    RowBlocks blocks = *this;
    blocks.rows = distribution.here(rows);
    blocks.count = quotient_up(blocks.rows, rows_per_block);
    return blocks;
  }

  static std::uint64_t most_blocks(std::uint64_t entries) {
    return std::max<std::uint64_t>(1, (std::uint64_t{1} << 22) / entries);
  }

  KOKKOS_INLINE_FUNCTION std::uint64_t begin(std::uint64_t block) const {
    return block * rows_per_block;
  }
  KOKKOS_INLINE_FUNCTION std::uint64_t end(std::uint64_t block) const {
    return begin(block) + rows_per_block < rows ? begin(block) + rows_per_block : rows;
  }

  /// For sums of columns on GPUs: 2^17 to 2^18 threads, of four columns of a block each, which is
  /// about what a large GPU runs at once.
  static RowBlocks of_columns(std::uint64_t rows, std::uint64_t columns) {
    return fine(rows, columns, 16, (std::uint64_t{1} << 18) / ((columns + 3) / 4));
  }

  /// For products of transposed matrices on GPUs, where a block takes a team: a block has at least
  /// twice as many rows as there are blocks. With fewer rows the blocks' sums take longer to add,
  /// and with more a GPU waits longer for the last blocks (H200, 100,000 to 18 million rows).
  static RowBlocks of_products(std::uint64_t rows, std::uint64_t entries) {
    std::uint64_t least = 16;
    while (least < quotient_up(rows, least / 2)) least *= 2;
    return fine(rows, entries, least, most_blocks(entries));
  }

 private:
  /// Blocks of `least` rows or a power of two times as many, at most `most` of them.
  static RowBlocks fine(std::uint64_t rows, std::uint64_t entries, std::uint64_t least,
                        std::uint64_t most) {
    RowBlocks blocks(rows, entries);
    blocks.rows_per_block = least;
    blocks.lengthen(std::max<std::uint64_t>(1, std::min(most, most_blocks(entries))));
    return blocks;
  }

  /// Doubles rows_per_block until there are at most `most` blocks, and counts them. Any number of
  /// rows will do: products of rows and blocks may be past 2^64, and are not formed.
  void lengthen(std::uint64_t most) {
    constexpr std::uint64_t longest = std::uint64_t{1} << 63;
    while (rows_per_block < quotient_up(rows, most) && rows_per_block < longest)
      rows_per_block *= 2;
    count = quotient_up(rows, rows_per_block);
  }
};

/// Blocks that are added as one.
inline constexpr std::uint64_t blocks_of_group = 64;

/// out[g][e] = sum over b of in[b][e], b in the g-th group of 64 blocks, in order.
template <class ExecutionSpace>
struct SumGroups {
  static constexpr std::uint64_t group = blocks_of_group;
  // A CPU sums a cache line of neighbouring entries at once, or the lines would be read 8 times.
  static constexpr int run = is_gpu<ExecutionSpace> ? 1 : 8;

  double const* in;
  double* out;
  std::uint64_t blocks, entries;

  std::uint64_t runs() const { return (entries + run - 1) / run; }
  std::uint64_t groups() const { return (blocks + group - 1) / group; }

  KOKKOS_FUNCTION void operator()(std::uint64_t item) const {
    std::uint64_t const runs_per_block = (entries + run - 1) / run;
    std::uint64_t const g = item / runs_per_block, first = item % runs_per_block * run;
    std::uint64_t const begin = g * group;
    std::uint64_t const end = begin + group < blocks ? begin + group : blocks;
    if (first + run <= entries)
      sum(g, first, begin, end, run);
    else
      sum(g, first, begin, end, static_cast<int>(entries - first));
  }

  KOKKOS_INLINE_FUNCTION void sum(std::uint64_t g, std::uint64_t first, std::uint64_t begin,
                                  std::uint64_t end, int width) const {
    double total[run] = {};
    for (std::uint64_t b = begin; b < end; ++b)
      for (int e = 0; e < width; ++e) total[e] += in[b * entries + first + e];
    for (int e = 0; e < width; ++e) out[g * entries + first + e] = total[e];
  }
};

/// Doubles that sum_blocks needs after the blocks * entries partial sums.
inline std::uint64_t scratch_of_sum_blocks(std::uint64_t blocks, std::uint64_t entries) {
  std::uint64_t scratch = 0;
  while (blocks > 1) {
    blocks = (blocks + 63) / 64;
    scratch += blocks * entries;
  }
  return scratch;
}

/// Sums partial[b][e] over b, level by level in groups of 64 and in order, until at most `most`
/// blocks are left, whose number `blocks` becomes; returns where they are. partial is followed by
/// scratch_of_sum_blocks doubles. Enqueued on exec.
template <class ExecutionSpace>
double* sum_blocks_to(ExecutionSpace const& exec, double* partial, std::uint64_t& blocks,
                      std::uint64_t entries, std::uint64_t most) {
  while (blocks > most) {
    SumGroups<ExecutionSpace> const level{partial, partial + blocks * entries, blocks, entries};
    launch(exec, "sporades::dense::sum_blocks", level.groups() * level.runs(),
           level.run * std::min(blocks, level.group), level);
    partial += blocks * entries;
    blocks = level.groups();
  }
  return partial;
}

/// Sums partial[b][e] over all b, level by level in groups of 64 and in order; returns where the
/// sums of the entries are. partial is followed by scratch_of_sum_blocks doubles. Enqueued on exec.
template <class ExecutionSpace>
double* sum_blocks(ExecutionSpace const& exec, double* partial, std::uint64_t blocks,
                   std::uint64_t entries) {
  return sum_blocks_to(exec, partial, blocks, entries, 1);
}

/// store(e, sum over b of partial[b][e]) for every entry e that it needs. A team takes 32
/// neighbouring entries: lane l of 16 adds the blocks l, l + 16, ... in order, of which it loads
/// some before it adds the first; then the lanes are added in order, however many threads the team
/// has.
template <class ExecutionSpace, class Store>
struct SumAndStore {
  static constexpr int width = 32, lanes = 16, at_once = 8;
  static constexpr std::size_t scratch_bytes = width * lanes * sizeof(double);
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;

  double const* partial;
  std::uint64_t blocks, entries;
  Store store;

  KOKKOS_FUNCTION void operator()(Member const& team) const {
    auto* const sums =
        static_cast<double*>(team.team_scratch(0).get_shmem(std::size_t{scratch_bytes}));
    std::uint64_t const first = static_cast<std::uint64_t>(team.league_rank()) * width;
    int const count = static_cast<int>(first + width < entries ? width : entries - first);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, lanes), [&](int lane) {
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, count), [&](int c) {
        double total = 0;
        if (store.needs(first + c))
          for (std::uint64_t b = lane; b < blocks; b += at_once * lanes) {
            double part[at_once];
            unrolled<at_once>([&](int k) {
              std::uint64_t const block = b + k * lanes;
              part[k] = block < blocks ? partial[block * entries + first + c] : 0;
            });
            unrolled<at_once>([&](int k) { total += part[k]; });
          }
        sums[lane * width + c] = total;
      });
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 1), [&](int) {
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, count), [&](int c) {
        double total = 0;
        for (int lane = 0; lane < lanes; ++lane) total += sums[lane * width + c];
        if (store.needs(first + c)) store(first + c, total);
      });
    });
  }
};

/// The policy with so many bytes of scratch memory a team.
template <class Policy>
Policy with_scratch(Policy policy, std::size_t bytes) {
  // Level 1 is not used: where it is 0, Kokkos 4.6 on CUDA allocates it anew in every launch.
  return policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(bytes)))
      .set_scratch_size(1, Kokkos::PerTeam(8));
}

/// A team of at most `threads` threads of `width` vector lanes (1 on CPUs) that fits the kernel,
/// called with a Tag or none, with so many bytes of scratch memory.
template <class Tag = void, class ExecutionSpace, class Kernel>
auto team_policy(ExecutionSpace const& exec, Kernel const& kernel, int league, int threads,
                 std::size_t scratch, int width = is_gpu<ExecutionSpace> ? 32 : 1) {
  using Policy = std::conditional_t<std::is_void_v<Tag>, Kokkos::TeamPolicy<ExecutionSpace>,
                                    Kokkos::TeamPolicy<ExecutionSpace, Tag>>;
  auto const policy = with_scratch(Policy(exec, league, Kokkos::AUTO, width), scratch);
  int const most = policy.team_size_max(kernel, Kokkos::ParallelForTag{});
  return with_scratch(Policy(exec, league, std::min(threads, most), width), scratch);
}

/// Blocks that sum_and_store sums in one launch. With 1465 of them, A^T A of 3 million rows of 16
/// columns takes longer than with 2930, which are summed in two launches (H200).
inline constexpr std::uint64_t most_stored_blocks = 1024;

/// sum_blocks for GPUs, and storing: one launch where there are at most most_stored_blocks, else a
/// level or two of sum_blocks before it. Enqueued on exec.
template <class ExecutionSpace, class Store>
void sum_and_store(ExecutionSpace const& exec, double* partial, std::uint64_t blocks,
                   std::uint64_t entries, Store const& store) {
  double const* const sums = sum_blocks_to(exec, partial, blocks, entries, most_stored_blocks);
  using Kernel = SumAndStore<ExecutionSpace, Store>;
  Kernel const kernel{sums, blocks, entries, store};
  auto const league = static_cast<int>((entries + Kernel::width - 1) / Kernel::width);
  Kokkos::parallel_for("sporades::dense::sum_and_store",
                       team_policy(exec, kernel, league, Kernel::lanes, Kernel::scratch_bytes),
                       kernel);
}

}  // namespace sporades::detail
