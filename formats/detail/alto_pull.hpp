// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/scan.hpp>
#include <sporades/formats/alto_tensor.hpp>
#include <sporades/formats/detail/sort_bytes.hpp>

/// How many threads add up the rows of a linear order without atomics, in the same bits on every
/// run.
///
/// The order is cut into parts, whose nonzeros are close in every mode. The nonzeros of a part are
/// taken in the order of their rows. A thread adds up one piece of them, and has a partial sum for
/// each row of the piece. Then each row adds up its partial sums, in order.

namespace sporades::detail {

/// What products on one mode of a linear order need for that.
template <class Index, class MemorySpace>
struct AltoPull {
  static constexpr Position part_length = Position{1} << 16;  // nonzeros
  static constexpr Position piece_length = 128;               // nonzeros; divides part_length

  Kokkos::View<std::uint16_t*, MemorySpace> places;  // nnz: which of its part comes next
  Kokkos::View<Position*, MemorySpace> first_sums;   // pieces + 1: a piece's first partial sum
  Permutation<MemorySpace> order;                    // the partial sums in the order of their rows
  Kokkos::View<Index*, MemorySpace> rows;            // and the row of each, in that order

  Position sums() const { return rows.extent(0); }
  std::uint64_t bytes() const {
    return 2 * places.extent(0) + 8 * (first_sums.extent(0) + order.extent(0)) +
           sizeof(Index) * rows.extent(0);
  }
};

/// The index of each nonzero of a linear order in mode n.
template <class MemorySpace>
struct AltoIndex {
  Kokkos::View<std::uint64_t const*, MemorySpace> low, high;  // nnz; high may be empty
  AltoMasks masks;
  int n;

  KOKKOS_FUNCTION std::uint64_t operator()(Position p) const {
    return masks.index(n, low(p), high.extent(0) > 0 ? high(p) : 0);
  }
};

/// Of each nonzero, its part above the row_bits bits of its row.
template <class MemorySpace>
struct PartAndRow {
  AltoIndex<MemorySpace> row;
  int row_bits;

  KOKKOS_FUNCTION Key128 operator()(Position p) const {
    std::uint64_t const part = p / AltoPull<std::uint32_t, MemorySpace>::part_length;
    if (row_bits == 0) return {0, part};
    if (row_bits == 64) return {part, row(p)};
    return {part >> (64 - row_bits), part << row_bits | row(p)};
  }
};

/// places, and the number of partial sums of each piece; 0 behind the last one.
template <class Index, class MemorySpace>
struct CountSums {
  using Pull = AltoPull<Index, MemorySpace>;

  AltoIndex<MemorySpace> row;
  Permutation<MemorySpace> order;  // nnz
  Pull pull;

  KOKKOS_FUNCTION void operator()(Position piece) const {
    Position const begin = piece * Pull::piece_length, nnz = order.extent(0);
    Position const end = begin + Pull::piece_length < nnz ? begin + Pull::piece_length : nnz;
    Position sums = 0;
    std::uint64_t last = 0;
    for (Position p = begin; p < end; ++p) {
      std::uint64_t const own = row(order(p));
      if (p == begin || own != last) ++sums;
      last = own;
      pull.places(p) = static_cast<std::uint16_t>(order(p) % Pull::part_length);
    }
    pull.first_sums(piece) = sums;
  }
};

/// rows(s) <- the row of partial sum s.
template <class Index, class MemorySpace>
struct NameSums {
  using Pull = AltoPull<Index, MemorySpace>;

  AltoIndex<MemorySpace> row;
  Permutation<MemorySpace> order;  // nnz
  Pull pull;
  Kokkos::View<Index*, MemorySpace> rows;

  KOKKOS_FUNCTION void operator()(Position piece) const {
    Position s = pull.first_sums(piece);
    Position const end = pull.first_sums(piece + 1);
    for (Position p = piece * Pull::piece_length; s < end; ++p) {
      auto const own = static_cast<Index>(row(order(p)));
      if (s == pull.first_sums(piece) || own != rows(s - 1)) rows(s++) = own;
    }
  }
};

/// How X's rows of mode n are pulled. Takes the time of a sort, and fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
AltoPull<Index, MemorySpace> make_alto_pull(ExecutionSpace const& exec,
                                            AltoTensor<Scalar, Index, MemorySpace> const& X,
                                            int n) {
  using Pull = AltoPull<Index, MemorySpace>;
  using Rows = Kokkos::View<Index*, MemorySpace>;
  Pull pull;
  Position const nnz = X.nnz();
  if (nnz == 0) return pull;
  AltoIndex<MemorySpace> const row{X.low, X.high, AltoMasks(X.layout), n};
  int const row_bits = index_bits(X.dims[static_cast<std::size_t>(n)]);
  Position const parts = (nnz - 1) / Pull::part_length + 1;
  auto order = unpack_items(
      exec, sort_items(exec, nnz, KeySource<PartAndRow<MemorySpace>>{{row, row_bits}},
                       BitRange{0, row_bits + index_bits(parts)}, SortAlgorithm::automatic));
  Position const pieces = (nnz - 1) / Pull::piece_length + 1;
  pull.places = uninitialized<decltype(pull.places)>(exec, "sporades::alto::places", nnz);
  pull.first_sums =
      uninitialized<decltype(pull.first_sums)>(exec, "sporades::alto::first_sums", pieces + 1);
  launch_items(exec, "sporades::alto::count_sums", pieces + 1,
               CountSums<Index, MemorySpace>{row, order, pull});
  Position const sums = exclusive_scan_total(exec, pull.first_sums);
  auto const rows = uninitialized<Rows>(exec, "sporades::alto::sum_rows", sums);
  launch_items(exec, "sporades::alto::name_sums", pieces,
               NameSums<Index, MemorySpace>{row, order, pull, rows});
  order = {};
  pull.order = unpack_items(exec, sort_items(exec, sums, KeySource<Rows>{rows},
                                             BitRange{0, row_bits}, SortAlgorithm::automatic));
  pull.rows = in_order(exec, rows, pull.order);
  fence(exec, "sporades::alto::make_pull");
  return pull;
}

/// The most partial sums that make_alto_pull may find on mode n.
inline double most_sums(CooShape const& X, int n) {
  using Pull = AltoPull<std::uint32_t, Kokkos::HostSpace>;
  double const length = static_cast<double>(Pull::part_length);
  double const dim = static_cast<double>(X.dims[static_cast<std::size_t>(n)]);
  return std::min(X.nnz, (X.nnz / length + 1) * std::min(dim, length) +
                             X.nnz / static_cast<double>(Pull::piece_length) + 1);
}

/// make_alto_pull on mode n.
template <class ExecutionSpace>
MadeBytes alto_pull_bytes(ExecutionSpace const& exec, CooShape const& X, int n) {
  using Pull = AltoPull<std::uint32_t, Kokkos::HostSpace>;
  if (X.nnz == 0) return {};
  double const sums = most_sums(X, n), index = X.index_bytes;
  double const pieces = 2 * X.nnz + 8 * (X.nnz / static_cast<double>(Pull::piece_length) + 2);
  auto const sort = sort_bytes(exec, X.count());
  auto const sort_sums = sort_bytes(exec, static_cast<Position>(sums));
  double const kept = pieces + (8 + index) * sums;
  return {kept, std::max({sort.peak, sort.kept + pieces + index * sums,
                          pieces + index * sums + sort_sums.peak, kept + index * sums})};
}

}  // namespace sporades::detail
