// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/dense/blocks.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/formats/coo_tensor.hpp>

namespace sporades::detail {

/// The nonzeros of one mode by rows, and how the rows are divided into work: see
/// make_row_subproblems. A row is long where it holds more than segment_length nonzeros; the long
/// ones are cut into segments of that length (their last ones are shorter).
template <class ScalarType, class IndexType, class MemorySpaceType>
struct RowSubproblems {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  CooTensor<Scalar, Index, MemorySpace> X;  // sorted by the mode first
  int mode = 0, rank = 0;
  Position segment_length = 0;
  Kokkos::View<Position*, MemorySpace> begins;          // I_n + 1: first nonzero of each row
  Kokkos::View<Position*, MemorySpace> long_rows;       // L, ascending
  Kokkos::View<Position*, MemorySpace> first_segments;  // L + 1: first segment of each long row
  Kokkos::View<Position*, MemorySpace> segment_rows;    // place in long_rows of each segment

  std::uint64_t rows() const { return X.dims[mode]; }
  std::uint64_t storage_bytes() const {  ///< beyond X
    return (begins.extent(0) + long_rows.extent(0) + first_segments.extent(0) +
            segment_rows.extent(0)) *
           sizeof(Position);
  }
};

/// begins(i) <- number of nonzeros of rows below i, by bisection of their row indices.
template <class RowOf, class Begins>
struct FindRowBegins {
  RowOf row_of;   // nnz, ascending
  Begins begins;  // I_n + 1

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    Position low = 0, high = row_of.extent(0);
    while (low < high) {
      Position const middle = low + (high - low) / 2;
      if (row_of(middle) < i)
        low = middle + 1;
      else
        high = middle;
    }
    begins(i) = low;
  }
};

/// Nonzeros of a segment: thousands of segments at most, and so few that a matrix of R x R doubles
/// for each stays within 64 MiB. A function of the sizes alone: segments decide the order of sums.
template <class ExecutionSpace>
Position default_segment_length(Position nnz, int rank) {
  auto const entries = static_cast<Position>(rank) * static_cast<Position>(rank);
  Position const most =
      std::max<Position>(8, std::min<Position>(2048, (Position{1} << 23) / entries));
  Position const least = is_gpu<ExecutionSpace> ? 1024 : 4096;
  return std::max(least, (nnz + most - 1) / most);
}

/// Makes X ready for solve_rows on a mode with R columns: made once, used in every iteration.
/// X: sorted with the mode first; its Views are shared. 8 (I_n + 1) bytes and little more. Fences
/// exec. segment_length: 0, or what tests ask for. Throws Error if X is not in the mode's order, or
/// for a rank below 1.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
RowSubproblems<Scalar, Index, MemorySpace> make_row_subproblems(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X, int mode, int rank,
    Position segment_length = 0) {
  expects(!X.sorted_modes.empty() && X.sorted_modes[0] == mode,
          "make_row_subproblems: the tensor is not sorted by mode ", mode, " first");
  expects(rank >= 1, "make_row_subproblems: rank ", rank, " is below 1");
  RowSubproblems<Scalar, Index, MemorySpace> problem;
  problem.X = X;
  problem.mode = mode;
  problem.rank = rank;
  problem.segment_length =
      segment_length > 0 ? segment_length : default_segment_length<ExecutionSpace>(X.nnz(), rank);
  problem.begins = uninitialized<decltype(problem.begins)>(exec, "sporades::cp_apr::row_begins",
                                                           X.dims[mode] + 1);
  auto const row_of = Kokkos::subview(X.coordinates, mode, Kokkos::ALL);
  launch_items(exec, "sporades::cp_apr::row_begins", problem.begins.extent(0),
               FindRowBegins<std::decay_t<decltype(row_of)>, decltype(problem.begins)>{
                   row_of, problem.begins});
  auto const begins = Kokkos::create_mirror_view(problem.begins);
  Kokkos::deep_copy(exec, begins, problem.begins);
  fence(exec, "sporades::cp_apr::make_row_subproblems");
  std::vector<Position> long_rows, first_segments{0}, segment_rows;
  for (std::uint64_t i = 0; i < problem.rows(); ++i) {
    Position const length = begins(i + 1) - begins(i);
    if (length <= problem.segment_length) continue;
    Position const segments = (length + problem.segment_length - 1) / problem.segment_length;
    segment_rows.insert(segment_rows.end(), segments, long_rows.size());
    long_rows.push_back(i);
    first_segments.push_back(segment_rows.size());
  }
  problem.long_rows = to_view(exec, "sporades::cp_apr::long_rows", long_rows);
  problem.first_segments = to_view(exec, "sporades::cp_apr::first_segments", first_segments);
  problem.segment_rows = to_view(exec, "sporades::cp_apr::segment_rows", segment_rows);
  fence(exec, "sporades::cp_apr::make_row_subproblems");
  return problem;
}

}  // namespace sporades::detail
