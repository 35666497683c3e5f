// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/bisect.hpp>
#include <sporades/core/detail/dense/blocks.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/matrix.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <sporades/kernels/detail/coo_windows.hpp>

namespace sporades::detail {

/// Nonzeros begin to end - 1, which a pass over out-of-core nonzeros copies to resident memory at
/// once: those of the rows, or of the segments of long rows, first to last - 1.
struct RowWindow {
  Position begin, end;
  Position first, last;
  Position first_long = 0, last_long = 0;  // of segments: places in long_rows of their rows
};

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
  OutOfCoreMemory out_of_core;           // where X is in out-of-core memory: holds it; else empty
  std::vector<RowWindow> short_windows;  // of an X out of core: rows that are not long
  std::vector<RowWindow> long_windows;   // of an X out of core: segments

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
    begins(i) = bisect<Position>(0, row_of.extent(0), [&](Position p) { return row_of(p) < i; });
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

/// Windows of so many nonzeros, or of one row or segment. Rows that are not long lie in windows of
/// their own; segments of several rows lie in one with the nonzeros between them.
template <class Problem, class Begins>
void cut_windows(Problem& problem, Begins const& begins, std::vector<Position> const& long_rows,
                 std::vector<Position> const& first_segments, Position window) {
  Position const rows = problem.rows();
  auto& shorts = problem.short_windows;
  auto& longs = problem.long_windows;
  auto const cut_short = [&](Position first, Position last) {
    for (Position i = first; i < last; ++i) {
      bool const opens = i == first || begins(i + 1) - shorts.back().begin > window;
      if (opens) shorts.push_back({begins(i), 0, i, 0});
      shorts.back().end = begins(i + 1);
      shorts.back().last = i + 1;
    }
  };
  Position next = 0;
  for (Position l = 0; l < long_rows.size(); ++l) {
    Position const row = long_rows[l];
    cut_short(next, row);
    next = row + 1;
    for (Position t = first_segments[l]; t < first_segments[l + 1]; ++t) {
      Position const begin = begins(row) + (t - first_segments[l]) * problem.segment_length;
      Position const end = std::min(begin + problem.segment_length, begins(row + 1));
      if (longs.empty() || end - longs.back().begin > window)
        longs.push_back({begin, 0, t, 0, l, 0});
      longs.back().end = end;
      longs.back().last = t + 1;
      longs.back().last_long = l + 1;
    }
  }
  cut_short(next, rows);
}

/// Makes X ready for solve_rows on a mode with R columns: made once, used in every iteration.
/// X: sorted with the mode first. Its Views are shared unless `window` is given, the nonzeros of a
/// window: X is copied to out-of-core memory then, and may be on a host that exec cannot access.
/// out_of_core: where X is in out-of-core memory of exec already, its owner; nothing is copied
/// then. Takes 8 (I_n + 1) bytes and little more. Fences exec. segment_length: 0, or what tests ask
/// for. Throws Error if X is not in the mode's order, or for a rank below 1.
template <class ExecutionSpace, class Scalar, class Index, class GivenSpace>
RowSubproblems<Scalar, Index, WorkSpace<ExecutionSpace, GivenSpace>> make_row_subproblems(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, GivenSpace> const& X, int mode, int rank,
    Position segment_length = 0, Position window = 0, OutOfCoreMemory const& out_of_core = {}) {
  using MemorySpace = WorkSpace<ExecutionSpace, GivenSpace>;
  auto const builder = builder_of<GivenSpace>(exec);
  expects(!X.sorted_modes.empty() && X.sorted_modes[0] == mode,
          "make_row_subproblems: the tensor is not sorted by mode ", mode, " first");
  expects(rank >= 1, "make_row_subproblems: rank ", rank, " is below 1");
  RowSubproblems<Scalar, Index, MemorySpace> problem;
  if constexpr (std::is_same_v<GivenSpace, MemorySpace>) problem.X = X;
  problem.out_of_core = out_of_core;
  if (window > 0 && !out_of_core) {
    auto const copy = to_out_of_core(exec, X);
    problem.X = copy.tensor;
    problem.out_of_core = copy.memory;
  }
  problem.mode = mode;
  problem.rank = rank;
  problem.segment_length =
      segment_length > 0 ? segment_length : default_segment_length<ExecutionSpace>(X.nnz(), rank);
  using GivenBegins = Kokkos::View<Position*, GivenSpace>;
  expects(X.dims[mode] + 1 > 0, "cp_apr: mode ", mode, " is too long: ", X.dims[mode], " rows");
  auto const found =
      uninitialized<GivenBegins>(builder, "sporades::cp_apr::row_begins", X.dims[mode] + 1);
  auto const row_of = Kokkos::subview(X.coordinates, mode, Kokkos::ALL);
  launch_items(builder, "sporades::cp_apr::row_begins", found.extent(0),
               FindRowBegins<std::decay_t<decltype(row_of)>, GivenBegins>{row_of, found});
  auto const begins = Kokkos::create_mirror_view(found);
  copy_view(builder, begins, found);
  fence(builder, "sporades::cp_apr::make_row_subproblems");
  if constexpr (std::is_same_v<GivenSpace, MemorySpace>)
    problem.begins = found;
  else
    problem.begins = copy_vector(exec, "sporades::cp_apr::row_begins", found);
  std::vector<Position> long_rows, first_segments{0}, segment_rows;
  for (std::uint64_t i = 0; i < problem.rows(); ++i) {
    Position const length = begins(i + 1) - begins(i);
    if (length <= problem.segment_length) continue;
    Position const segments = (length + problem.segment_length - 1) / problem.segment_length;
    segment_rows.insert(segment_rows.end(), segments, long_rows.size());
    long_rows.push_back(i);
    first_segments.push_back(segment_rows.size());
  }
  if (window > 0) cut_windows(problem, begins, long_rows, first_segments, window);
  problem.long_rows = to_view(exec, "sporades::cp_apr::long_rows", long_rows);
  problem.first_segments = to_view(exec, "sporades::cp_apr::first_segments", first_segments);
  problem.segment_rows = to_view(exec, "sporades::cp_apr::segment_rows", segment_rows);
  fence(exec, "sporades::cp_apr::make_row_subproblems");
  return problem;
}

}  // namespace sporades::detail
