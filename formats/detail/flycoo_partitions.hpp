// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// First the front door, which includes this file where it belongs: hence a guard.
#include <sporades/formats/flycoo_tensor.hpp>

#ifndef SPORADES_FORMATS_FLYCOO_PARTITIONS
#define SPORADES_FORMATS_FLYCOO_PARTITIONS

#include <algorithm>
#include <queue>
#include <sporades/core/detail/bisect.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/detail/sort.hpp>

/// The partitions of a FlycooTensor's modes: Algorithm 1 of [Wij24]. Rows are taken by falling
/// number of nonzeros, their degree. Rows of one degree may change places, so a whole group of them
/// is given out at once, and each partition gets neighbours.

namespace sporades::detail {

/// Rows first to first + count - 1, in the order of falling degrees, that have one degree.
struct RowGroup {
  Position first, count, degree;
};

/// Rows from `first` on, in that order, up to the next block's, go to a partition.
struct RowBlock {
  Position first;
  std::uint32_t partition;
};

/// Gives the rows of one group out, each to the partition that has fewest nonzeros, the first of
/// those: counts[k] rows to partition k. loads: the nonzeros of each partition, which grow.
inline void give_out(RowGroup const& group, std::vector<Position>& loads,
                     std::vector<Position>& counts) {
  using Load = std::pair<Position, std::size_t>;
  std::fill(counts.begin(), counts.end(), 0);
  Position left = group.count;
  Position const partitions = loads.size();
  if (left > 4 * partitions) {  // all picks of loads below a level at once, as many as there are
    auto const picks = [&](Position load, Position level) {
      return level > load ? (level - load + group.degree - 1) / group.degree : Position{0};
    };
    auto const all_picks = [&](Position level) {
      Position sum = 0;
      for (auto load : loads) sum += std::min(picks(load, level), left + 1);
      return sum;
    };
    Position low = *std::min_element(loads.begin(), loads.end());  // with no more picks than rows
    Position high = low + group.degree * (left + 1);               // with more
    while (high - low > 1) {
      Position const level = low + (high - low) / 2;
      (all_picks(level) <= left ? low : high) = level;
    }
    for (std::size_t k = 0; k < loads.size(); ++k) {
      counts[k] = picks(loads[k], low);
      loads[k] += counts[k] * group.degree;
      left -= counts[k];
    }
  }
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  for (std::size_t k = 0; k < loads.size(); ++k) least.emplace(loads[k], k);
  for (; left > 0; --left) {
    auto const k = least.top().second;
    least.pop();
    loads[k] += group.degree;
    ++counts[k];
    least.emplace(loads[k], k);
  }
}

/// degrees(i) <- the nonzeros whose index is i.
template <class Indices, class Degrees>
struct CountDegrees {
  Indices indices;  // nnz
  Degrees degrees;  // I_n

  KOKKOS_FUNCTION void operator()(Position p) const {
    Kokkos::atomic_add(&degrees(indices(p)), Position{1});
  }
};

/// The greatest degree.
template <class Degrees>
struct GreatestDegree {
  Degrees degrees;
  KOKKOS_FUNCTION void operator()(Position i, Position& greatest) const {
    if (degrees(i) > greatest) greatest = degrees(i);
  }
};

/// keys(i) <- how far the degree is below the greatest one.
template <class Degrees>
struct FallingKeys {
  Degrees degrees, keys;
  Position greatest;
  KOKKOS_FUNCTION void operator()(Position i) const { keys(i) = greatest - degrees(i); }
};

/// The groups of rows in the order of falling degrees, without those of degree 0; `first` alone,
/// and `degree`, are set.
template <class Degrees, class Order, class Groups>
struct FindGroups {
  Degrees degrees;  // I_n
  Order order;      // I_n
  Groups groups;    // none, to count them

  KOKKOS_FUNCTION void operator()(Position t, Position& found, bool is_last) const {
    Position const degree = degrees(order(t));
    if (degree == 0 || (t > 0 && degrees(order(t - 1)) == degree)) return;
    if (is_last && groups.extent(0) > 0) groups(found) = {t, 0, degree};
    ++found;
  }
};

/// Counts the rows that have nonzeros.
template <class Degrees>
struct CountUsedRows {
  Degrees degrees;
  KOKKOS_FUNCTION void operator()(Position i, Position& used) const { used += degrees(i) > 0; }
};

/// keys(i) <- the partition of row i, the number of partitions where it has no nonzeros.
template <class Keys, class Order, class Blocks>
struct FindPartitions {
  Keys keys;      // I_n
  Order order;    // I_n
  Blocks blocks;  // by rising `first`
  Position rows;  // that have nonzeros
  Position partitions;

  KOKKOS_FUNCTION void operator()(Position t) const {
    if (t >= rows) {
      keys(order(t)) = partitions;
      return;
    }
    Position const next =
        bisect<Position>(1, blocks.extent(0), [&](Position b) { return blocks(b).first <= t; });
    keys(order(t)) = blocks(next - 1).partition;
  }
};

/// ranks(order(t)) <- t.
template <class Order, class Ranks>
struct InvertOrder {
  Order order;
  Ranks ranks;
  KOKKOS_FUNCTION void operator()(Position t) const {
    ranks(order(t)) = static_cast<typename Ranks::non_const_value_type>(t);
  }
};

/// The rows of one mode by partition, and by index in a partition.
template <class Index, class MemorySpace>
struct RankedRows {
  Kokkos::View<Index*, MemorySpace> ranks;  // I_n: the place of each row; rows with nonzeros first
  Position rows;                            // that have nonzeros
  std::vector<Position> partitions;         // κ + 1: first nonzeros, and the end
};

/// Divides the rows of one mode with these indices of nonzeros. Fences exec.
template <class Index, class ExecutionSpace, class Indices>
RankedRows<Index, typename ExecutionSpace::memory_space> rank_rows(ExecutionSpace const& exec,
                                                                   Indices const& indices,
                                                                   std::uint64_t dim,
                                                                   Position partitions) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  using Degrees = Kokkos::View<Position*, MemorySpace>;
  using Groups = Kokkos::View<RowGroup*, MemorySpace>;
  auto const degrees = zeroed<Degrees>(exec, "sporades::flycoo::degrees", dim);
  Range<ExecutionSpace> const all_rows(exec, 0, dim);  // of lengths past memory it has no end
  launch_items(exec, "sporades::flycoo::count_degrees", indices.extent(0),
               CountDegrees<Indices, Degrees>{indices, degrees});
  Position greatest = 0;
  Kokkos::parallel_reduce("sporades::flycoo::greatest_degree", all_rows,
                          GreatestDegree<Degrees>{degrees}, Kokkos::Max<Position>(greatest));
  RankedRows<Index, MemorySpace> result;
  Kokkos::parallel_reduce("sporades::flycoo::count_used_rows", all_rows,
                          CountUsedRows<Degrees>{degrees}, result.rows);
  fence(exec, "sporades::flycoo::degrees");
  auto const keys = uninitialized<Degrees>(exec, "sporades::flycoo::row_keys", dim);
  launch_items(exec, "sporades::flycoo::falling_keys", dim,
               FallingKeys<Degrees>{degrees, keys, greatest});
  auto order = sort_permutation(exec, keys, index_bits(greatest + 1));
  using Order = decltype(order);

  Position count = 0;
  Kokkos::parallel_scan("sporades::flycoo::count_groups", all_rows,
                        FindGroups<Degrees, Order, Groups>{degrees, order, {}}, count);
  fence(exec, "sporades::flycoo::count_groups");
  Groups const groups = uninitialized<Groups>(exec, "sporades::flycoo::groups", count);
  if (count > 0)
    Kokkos::parallel_scan("sporades::flycoo::find_groups", all_rows,
                          FindGroups<Degrees, Order, Groups>{degrees, order, groups});
  auto const on_host = Kokkos::create_mirror_view(groups);
  copy_view(exec, on_host, groups);
  fence(exec, "sporades::flycoo::find_groups");

  std::vector<Position> loads(partitions, 0), counts(partitions);
  std::vector<RowBlock> blocks;
  for (Position g = 0; g < count; ++g) {
    RowGroup group = on_host(g);
    group.count = (g + 1 < count ? on_host(g + 1).first : result.rows) - group.first;
    give_out(group, loads, counts);
    Position first = group.first;
    for (std::size_t k = 0; k < loads.size(); ++k) {
      if (counts[k] == 0) continue;
      blocks.push_back({first, static_cast<std::uint32_t>(k)});
      first += counts[k];
    }
  }
  result.partitions.assign(1, 0);
  for (auto load : loads) result.partitions.push_back(result.partitions.back() + load);

  auto const block_view = to_view(exec, "sporades::flycoo::blocks", blocks);
  launch_items(exec, "sporades::flycoo::find_partitions", dim,
               FindPartitions<Degrees, Order, std::decay_t<decltype(block_view)>>{
                   keys, order, block_view, result.rows, partitions});
  order = sort_permutation(exec, keys, index_bits(partitions + 1));
  result.ranks = uninitialized<decltype(result.ranks)>(exec, "sporades::flycoo::ranks", dim);
  launch_items(exec, "sporades::flycoo::invert_order", dim,
               InvertOrder<Order, decltype(result.ranks)>{order, result.ranks});
  fence(exec, "sporades::flycoo::rank_rows");
  return result;
}

/// No more pieces than this; see piece_begins.
inline Position most_pieces(Position nnz, Position partitions, Position most) {
  Position const mean = std::min((nnz + partitions - 1) / partitions, most);
  return partitions + (mean > 0 ? nnz / mean : 0);
}

/// The beginnings of a mode's pieces, and the end: every partition that has nonzeros, those longer
/// than 4/3 of `most`, or of the mean of all where that is less, in equal parts of about as many.
/// All beginnings are multiples of `multiple`, for which a piece may take a few nonzeros of the
/// partition before.
inline std::vector<Position> piece_begins(std::vector<Position> const& partitions, Position most,
                                          Position multiple) {
  Position const nnz = partitions.back(), count = partitions.size() - 1;
  Position const mean = std::min((nnz + count - 1) / count, most);
  std::vector<Position> begins;
  for (std::size_t k = 0; k < count; ++k) {
    Position const begin = partitions[k], length = partitions[k + 1] - begin;
    if (length == 0) continue;
    Position const parts = 3 * length > 4 * mean ? (length + mean - 1) / mean : 1;
    for (Position part = 0; part < parts; ++part) {
      Position const at = (begin + length * part / parts) / multiple * multiple;
      if (begins.empty() || at > begins.back()) begins.push_back(at);
    }
  }
  begins.push_back(nnz);
  return begins;
}

}  // namespace sporades::detail

#endif
