// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <numeric>
#include <sporades/core/detail/region.hpp>
#include <sporades/formats/aggregate_coo.hpp>

namespace sporades {
namespace detail {

/// The first nonzero of each run stores its coordinates and what the run's values are aggregated
/// to.
template <class Tensor>
struct AggregateRuns {
  using Scalar = typename Tensor::Scalar;

  CompareNonzeros<typename Tensor::Coordinates> compare;
  Kokkos::View<Position*, typename Tensor::MemorySpace> before;  // nnz: runs that begin before p
  typename Tensor::Coordinates from, to;                         // N x nnz, N x distinct nonzeros
  typename Tensor::Values values_from, values_to;                // nnz, distinct nonzeros
  Aggregation aggregation;

  KOKKOS_FUNCTION void operator()(Position p) const {
    if (!compare.begins_run(p)) return;
    values_to(before(p)) = value_of(p);
    for (std::size_t n = 0; n < to.extent(0); ++n) to(n, before(p)) = from(n, p);
  }

  KOKKOS_INLINE_FUNCTION Scalar value_of(Position p) const {
    Position end = p + 1;
    while (end < values_from.extent(0) && compare(p, end) == 0) ++end;
    if (aggregation == Aggregation::last) return values_from(end - 1);
    if (aggregation == Aggregation::mean)
      return static_cast<Scalar>(sum_of_run(compare, values_from, p) /
                                 static_cast<double>(end - p));
    Scalar value = values_from(p);
    for (Position q = p + 1; q < end; ++q) {
      Scalar const next = values_from(q);
      if (aggregation == Aggregation::max ? next > value : next < value) value = next;
    }
    return value;
  }
};

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
SummedDuplicates<CooTensor<Scalar, Index, MemorySpace>> aggregate_duplicates(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> X, Aggregation aggregation) {
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  detail::check_types<ExecutionSpace, Tensor>();
  detail::Region const region("sporades::aggregate_duplicates");
  if (aggregation == Aggregation::sum) return sum_duplicates(exec, hand_over(X));
  std::vector<int> modes(X.dims.size());
  std::iota(modes.begin(), modes.end(), 0);
  Tensor const Y = sorted(exec, X, modes);
  X = {};
  detail::CompareNonzeros<typename Tensor::Coordinates> const compare(Y.coordinates, modes);
  auto const runs = detail::number_runs(exec, compare, Y.nnz());
  if (runs.count == Y.nnz()) return {Y, 0};
  Tensor Z = detail::allocate_coo<Scalar, Index>(exec, Y.dims, runs.count);
  detail::launch_items(
      exec, "sporades::sort::aggregate_runs", Y.nnz(),
      detail::AggregateRuns<Tensor>{compare, runs.before, Y.coordinates, Z.coordinates, Y.values,
                                    Z.values, aggregation});
  Z.sorted_modes = modes;
  detail::fence(exec, "sporades::sort::aggregate_duplicates");
  return {Z, Y.nnz() - runs.count};
}

// What is no CooTensor is refused.
template <class ExecutionSpace>
SummedDuplicates<detail::SomeCoo<ExecutionSpace>> aggregate_duplicates(ExecutionSpace const&,
                                                                       detail::NotCoo,
                                                                       Aggregation) {
  return {};
}

}  // namespace sporades

#include <sporades/eti/aggregate_coo.hpp>
