// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/formats/packed_coo.hpp>
#include <sporades/kernels/row_sums.hpp>

namespace sporades {

/// The nonzeros of one mode by rows, and how the rows are divided into work: see
/// make_row_subproblems. A row is long where it holds more than segment_length nonzeros; the long
/// ones are cut into segments of that length (their last ones are shorter).
template <class TensorType>
struct RowSubproblems {
  using Tensor = TensorType;
  using Scalar = typename Tensor::Scalar;
  using MemorySpace = typename Tensor::MemorySpace;

  Tensor X;
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

namespace detail {

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

/// Where the rows of a PackedCoo begin, in the order of its rows.
template <class Word, class Memory>
struct FindFlags {
  Kokkos::View<Word*, Memory> words;       // nnz
  Kokkos::View<Position*, Memory> places;  // non-empty rows + 1

  KOKKOS_FUNCTION void operator()(Position p, Position& flags, bool is_last) const {
    if (words(p) & row_flag<Word>) {
      if (is_last) places(flags) = p;
      ++flags;
    }
    if (is_last && p + 1 == words.extent(0)) places(flags) = p + 1;
  }
};

/// begins(i) <- where the first non-empty row that is not below i begins.
template <class Rows, class Places>
struct SpreadRowBegins {
  Rows rows;              // non-empty rows, ascending
  Places places, begins;  // non-empty rows + 1, I_n + 1

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    std::size_t low = 0, high = rows.extent(0);
    while (low < high) {
      std::size_t const middle = low + (high - low) / 2;
      if (rows(middle) < i)
        low = middle + 1;
      else
        high = middle;
    }
    begins(i) = places(low);
  }
};

template <class ExecutionSpace, class Scalar, class Index, class Memory, class Begins>
void find_row_begins(ExecutionSpace const& exec, CooTensor<Scalar, Index, Memory> const& X,
                     int mode, Begins const& begins) {
  auto const row_of = Kokkos::subview(X.coordinates, mode, Kokkos::ALL);
  Kokkos::parallel_for("sporades::cp_apr::row_begins",
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::uint64_t>>(
                           exec, 0, begins.extent(0)),
                       FindRowBegins<std::decay_t<decltype(row_of)>, Begins>{row_of, begins});
}

template <class ExecutionSpace, class Scalar, class Index, class Memory, class Begins>
void find_row_begins(ExecutionSpace const& exec, PackedCoo<Scalar, Index, Memory> const& X, int,
                     Begins const& begins) {
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::uint64_t>>;
  if (X.nnz() == 0) {
    Kokkos::deep_copy(exec, begins, Position{0});
    return;
  }
  auto const places = uninitialized<Begins>(exec, "sporades::cp_apr::places", X.rows.extent(0) + 1);
  auto const find = [&](auto const& words) {
    using Word = typename std::decay_t<decltype(words)>::non_const_value_type;
    Kokkos::parallel_scan("sporades::cp_apr::find_flags", Policy(exec, 0, words.extent(0)),
                          FindFlags<Word, Memory>{words, places});
  };
  if (X.narrow.extent(0) > 0)
    find(X.narrow);
  else
    find(X.wide);
  Kokkos::parallel_for("sporades::cp_apr::row_begins", Policy(exec, 0, begins.extent(0)),
                       SpreadRowBegins<decltype(X.rows), Begins>{X.rows, places, begins});
}

/// Nonzeros of a segment: thousands of segments at most, and so few that a matrix of R x R doubles
/// for each stays within 64 MiB. A function of the sizes alone: segments decide the order of sums.
template <class ExecutionSpace>
Position segment_length(Position nnz, int rank) {
  auto const entries = static_cast<Position>(rank) * static_cast<Position>(rank);
  Position const most =
      std::max<Position>(8, std::min<Position>(2048, (Position{1} << 23) / entries));
  Position const least = is_gpu<ExecutionSpace> ? 1024 : 4096;
  return std::max(least, (nnz + most - 1) / most);
}

}  // namespace detail

/// Makes X ready for solve_rows on a mode with R columns: made once, used in every iteration.
/// X: a CooTensor sorted with the mode first, or a PackedCoo whose row mode it is (half the
/// memory); shares its Views. 8 (I_n + 1) bytes and little more. Fences exec.
/// segment_length: 0, or what tests ask for. Throws Error if X is not in the mode's order, or for a
/// rank below 1.
template <class ExecutionSpace, class Tensor>
RowSubproblems<Tensor> make_row_subproblems(ExecutionSpace const& exec, Tensor const& X, int mode,
                                            int rank, Position segment_length = 0) {
  if constexpr (std::is_same_v<Tensor, PackedCoo<typename Tensor::Scalar, typename Tensor::Index,
                                                 typename Tensor::MemorySpace>>)
    expects(X.row_mode == mode, "make_row_subproblems: the tensor is packed for mode ", X.row_mode,
            ", not for mode ", mode);
  else
    expects(!X.sorted_modes.empty() && X.sorted_modes[0] == mode,
            "make_row_subproblems: the tensor is not sorted by mode ", mode, " first");
  expects(rank >= 1, "make_row_subproblems: rank ", rank, " is below 1");
  RowSubproblems<Tensor> problem;
  problem.X = X;
  problem.mode = mode;
  problem.rank = rank;
  problem.segment_length =
      segment_length > 0 ? segment_length : detail::segment_length<ExecutionSpace>(X.nnz(), rank);
  problem.begins = uninitialized<decltype(problem.begins)>(exec, "sporades::cp_apr::row_begins",
                                                           X.dims[mode] + 1);
  detail::find_row_begins(exec, X, mode, problem.begins);
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

}  // namespace sporades
