// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/launch.hpp>
#include <sporades/core/random.hpp>
#include <sporades/kernels/detail/loss/cells.hpp>
#include <utility>

/// Rows of a factor at random, in proportion to a column's absolute values.

namespace sporades::detail {

/// A number in [0, 1).
KOKKOS_INLINE_FUNCTION double sample_unit(std::uint64_t key, Position s, std::uint64_t draw) {
  auto const bits = splitmix64(splitmix64(key + s) + draw) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

/// Sums of absolute values of a factor's columns: of groups of 16 rows, of 16 groups, and so on up
/// to one, level after level. A draw takes about 8 log16 I additions; the tree takes a fifteenth of
/// the factor's numbers.
struct SumTree {
  static constexpr std::uint64_t group = 16;
  static constexpr int most_levels = 16;  // of 2^64 rows

  double const* sums;
  std::uint64_t rows;
  std::size_t columns;

  /// Doubles of the tree of so many rows.
  static std::uint64_t size(std::uint64_t rows, std::size_t columns) {
    std::uint64_t groups = quotient_up(rows, group), all = groups;
    for (; groups > 1; all += groups) groups = quotient_up(groups, group);
    return all * columns;
  }

  /// Doubles of the sums of the lowest groups, which keep their signs.
  static std::uint64_t group_sums(std::uint64_t rows, std::size_t columns) {
    return quotient_up(rows, group) * columns;
  }

  /// An index i, in proportion to abs(A(i, r)): from the top a child of the block, each by a draw
  /// of its own, so that chances are exact to the last bits, however small. 0 where column r is 0.
  template <class Scalar>
  KOKKOS_INLINE_FUNCTION std::uint64_t index(SmallFactor<Scalar> const& A, std::size_t r,
                                             std::uint64_t key, Position s,
                                             std::uint64_t draw) const {
    std::uint64_t begins[most_levels] = {}, counts[most_levels] = {};
    int top = 0;
    counts[0] = quotient_up(rows, group);
    for (; counts[top] > 1; ++top) {
      begins[top + 1] = begins[top] + counts[top] * columns;
      counts[top + 1] = quotient_up(counts[top], group);
    }
    std::uint64_t node = 0;
    for (int level = top; level >= 0; --level) {
      double const all = sums[begins[level] + node * columns + r];
      double const* const below = level > 0 ? sums + begins[level - 1] + r : nullptr;
      node =
          child(node, level > 0 ? counts[level - 1] : rows,
                sample_unit(key, s, draw + static_cast<std::uint64_t>(level)) * all,
                [&](std::uint64_t i) { return below ? below[i * columns] : math::abs(A(i, r)); });
    }
    return node;
  }

 private:
  /// The first child whose sum, with those before it, is past the threshold; after rounding, the
  /// last that is not 0.
  template <class Sums>
  KOKKOS_INLINE_FUNCTION static std::uint64_t child(std::uint64_t node, std::uint64_t count,
                                                    double threshold, Sums const& sum) {
    std::uint64_t const begin = node * group;
    std::uint64_t const end = begin + group < count ? begin + group : count;
    std::uint64_t last = begin;
    double before = 0;
    for (std::uint64_t i = begin; i < end; ++i) {
      double const own = sum(i);
      if (!(own > 0)) continue;
      last = i;
      before += own;
      if (before > threshold) break;
    }
    return last;
  }
};

/// A level of a SumTree, of the factor or of the level below, and, where they are wanted, the sums
/// of its groups with their signs. CPU: an item is a group; GPU: a column of one.
template <class ExecutionSpace, class Entry>
struct AbsoluteSums {
  SmallFactor<Entry> A;  // rows x R
  std::uint64_t rows;
  std::size_t columns;
  double *sums, *signed_sums;  // groups x R; null: not wanted

  std::uint64_t items() const {
    return quotient_up(rows, SumTree::group) * (is_gpu<ExecutionSpace> ? columns : 1);
  }

  KOKKOS_FUNCTION void operator()(std::uint64_t item) const {
    if constexpr (is_gpu<ExecutionSpace>)
      with_entry(item, columns, [&](std::uint64_t group, std::size_t r) { sum_column(group, r); });
    else
      sum_columns(item);
  }

 private:
  KOKKOS_INLINE_FUNCTION std::uint64_t end_of(std::uint64_t begin) const {
    return begin + SumTree::group < rows ? begin + SumTree::group : rows;
  }
  KOKKOS_INLINE_FUNCTION void sum_columns(std::uint64_t group) const {
    double* const to = sums + group * columns;
    std::uint64_t const begin = group * SumTree::group, end = end_of(begin);
    add_rows(begin, end, to, [](double entry) { return math::abs(entry); });
    if (signed_sums)
      add_rows(begin, end, signed_sums + group * columns, [](double entry) { return entry; });
  }
  template <class Of>
  KOKKOS_INLINE_FUNCTION void add_rows(std::uint64_t begin, std::uint64_t end, double* to,
                                       Of const& of) const {
    for (std::size_t r = 0; r < columns; ++r) to[r] = 0;
    for (std::uint64_t i = begin; i < end; ++i)
      for (std::size_t r = 0; r < columns; ++r) to[r] += of(A(i, r));
  }
  KOKKOS_INLINE_FUNCTION void sum_column(std::uint64_t group, std::size_t r) const {
    std::uint64_t const begin = group * SumTree::group, end = end_of(begin);
    double entries[SumTree::group];  // all are on their way before the first is added
    for (std::uint64_t k = 0; k < SumTree::group; ++k)
      entries[k] = begin + k < end ? static_cast<double>(A(begin + k, r)) : 0;
    double sum = 0, signed_sum = 0;
    for (double const entry : entries) {
      sum += math::abs(entry);
      signed_sum += entry;
    }
    sums[group * columns + r] = sum;
    if (signed_sums) signed_sums[group * columns + r] = signed_sum;
  }
};

/// Writes the tree of A, of one row at least, to sums, and the sums of groups of A's rows to
/// group_sums. Returns where the sums of the columns' absolute values are. Enqueued on exec.
template <class ExecutionSpace, class MatrixType>
double const* write_sum_tree(ExecutionSpace const& exec, MatrixType const& A, double* sums,
                             double* group_sums) {
  std::size_t const R = A.extent(1);
  auto const write = [&](auto const& from, std::uint64_t rows) {
    using Entry = std::remove_const_t<std::remove_pointer_t<decltype(from.entries)>>;
    AbsoluteSums<ExecutionSpace, Entry> const kernel{from, rows, R, sums,
                                                     std::exchange(group_sums, nullptr)};
    launch(exec, "sporades::loss::absolute_sums", kernel.items(), SumTree::group * R + 1, kernel);
    return quotient_up(rows, SumTree::group);
  };
  std::uint64_t groups = write(small_factor(A), A.extent(0));
  while (groups > 1) {
    SmallFactor<double> const below{sums, R};
    sums += groups * R;
    groups = write(below, groups);
  }
  return sums;
}

}  // namespace sporades::detail
