// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/core/detail/launch.hpp>
#include <sporades/formats/split_coo.hpp>

namespace sporades {
namespace detail {

/// The seed by which a run holds entries out: of those that `split` has left by the same number as
/// the run's, that number would draw none.
inline std::uint64_t holdout_seed(std::uint64_t seed) {
  return splitmix64(~seed);
}

/// Whether nonzero p is one of the test's.
template <class Coordinates>
struct DrawnForTest {
  Coordinates coordinates;
  double fraction;
  std::uint64_t key;
  int first, end;  // modes whose indices decide

  KOKKOS_FUNCTION bool operator()(Position p) const {
    std::uint64_t hash = key;
    for (int n = first; n < end; ++n)
      hash = splitmix64(hash + static_cast<std::uint64_t>(coordinates(n, p)));
    return static_cast<double>(hash >> 11) * 0x1p-53 < fraction;
  }
};

/// Each nonzero to its place: that of the test's before it, or of the others.
template <class Coordinates, class Values, class IsDrawn>
struct PartNonzeros {
  Coordinates from, train, test;
  Values values, train_values, test_values;
  IsDrawn is_drawn;

  KOKKOS_FUNCTION void operator()(Position p, Position& before, bool is_final) const {
    bool const drawn = is_drawn(p);
    if (is_final) {
      Position const to = drawn ? before : p - before;
      auto const& coordinates = drawn ? test : train;
      for (std::size_t n = 0; n < from.extent(0); ++n) coordinates(n, to) = from(n, p);
      (drawn ? test_values : train_values)(to) = values(p);
    }
    before += drawn;
  }
};

/// See split.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
SplitTensor<CooTensor<Scalar, Index, MemorySpace>> run_split(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X, double fraction,
    std::uint64_t seed, int mode) {
  expects(mode >= -1 && mode < X.order(), "split: there is no mode ", mode,
          " of a tensor of order ", X.order());
  expects(fraction >= 0 && fraction <= 1, "split: a fraction of ", fraction, " is not in 0 to 1");
  using Coordinates = decltype(X.coordinates);
  DrawnForTest<Coordinates> const is_drawn{X.coordinates, fraction, splitmix64(seed),
                                           std::max(mode, 0), mode < 0 ? X.order() : mode + 1};
  Position count = 0;
  Kokkos::parallel_reduce(
      "sporades::split::count", Range<ExecutionSpace>(exec, 0, X.nnz()),
      KOKKOS_LAMBDA(Position p, Position & drawn) { drawn += is_drawn(p); }, count);
  fence(exec, "sporades::split");
  SplitTensor<CooTensor<Scalar, Index, MemorySpace>> parts{
      allocate_coo<Scalar, Index>(exec, X.dims, X.nnz() - count),
      allocate_coo<Scalar, Index>(exec, X.dims, count)};
  parts.train.sorted_modes = parts.test.sorted_modes = X.sorted_modes;
  using Values = decltype(X.values);
  PartNonzeros<Coordinates, Values, DrawnForTest<Coordinates>> const part{
      X.coordinates, parts.train.coordinates, parts.test.coordinates,
      X.values,      parts.train.values,      parts.test.values,
      is_drawn};
  Kokkos::parallel_scan("sporades::split::part", Range<ExecutionSpace>(exec, 0, X.nnz()), part);
  fence(exec, "sporades::split");
  return parts;
}

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
SplitTensor<CooTensor<Scalar, Index, MemorySpace>> split(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X, double fraction,
    std::uint64_t seed, int mode) {
  if constexpr (detail::check_types<ExecutionSpace, CooTensor<Scalar, Index, MemorySpace>>())
    return detail::run_split(exec, X, fraction, seed, mode);
  return {};
}

}  // namespace sporades
