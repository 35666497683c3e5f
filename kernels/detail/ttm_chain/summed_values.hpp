// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <numeric>
#include <sporades/formats/sort_coo.hpp>
#include <sporades/kernels/detail/value_lists.hpp>

/// Values of equal coordinates that a plan holds as one, for plans whose values are updated.

namespace sporades::detail {

/// begins(k) <- the first nonzero of run k
template <class Coordinates>
struct StoreRunBegins {
  CompareNonzeros<Coordinates> compare;
  Kokkos::View<Position*, typename Coordinates::memory_space> before;  // nnz: runs before each
  Kokkos::View<Position*, typename Coordinates::memory_space> begins;  // runs

  KOKKOS_FUNCTION void operator()(Position p) const {
    if (compare.begins_run(p)) begins(before(p)) = p;
  }
};

/// sums(k) = the sum, in order and in double, of the values that run k has, as sum_duplicates adds.
template <class Numbers, class Values>
struct SumNumbered {
  Kokkos::View<Position*, typename Values::memory_space> begins;  // runs
  Numbers numbers;                                                // nnz
  Values given, sums;                                             // nnz, runs

  KOKKOS_FUNCTION void operator()(Position k) const {
    Position const end = k + 1 < begins.extent(0) ? begins(k + 1) : numbers.extent(0);
    auto sum = static_cast<double>(given(numbers(begins(k)) - 1));
    for (Position p = begins(k) + 1; p < end; ++p)
      sum += static_cast<double>(given(numbers(p) - 1));
    sums(k) = static_cast<typename Values::value_type>(sum);
  }
};

template <class ExecutionSpace, class Begins, class Numbers, class Values>
void sum_numbered(ExecutionSpace const& exec, Begins const& begins, Numbers const& numbers,
                  Values const& given, Values const& sums) {
  launch_items(exec, "sporades::update_values::sum", sums.extent(0),
               SumNumbered<Numbers, Values>{begins, numbers, given, sums});
}

/// Which values each nonzero of a plan is the sum of.
template <class Scalar, class MemorySpace>
struct SummedValues {
  using Values = Vector<Scalar, MemorySpace>;

  Kokkos::View<Position*, MemorySpace> begins;  // of the runs of equal coordinates; none where each
                                                // comes once
  NonzeroNumbers<MemorySpace> numbers;          // of the nonzeros in the order of coordinates

  std::size_t bytes() const { return begins.extent(0) * sizeof(Position) + numbers.bytes(); }

  /// The sums of given values; these themselves where each coordinate comes once. Enqueued on exec.
  template <class ExecutionSpace>
  Values of(ExecutionSpace const& exec, Values const& given) const {
    if (begins.extent(0) == 0) return given;
    auto const sums =
        uninitialized<Values>(exec, "sporades::update_values::sums", begins.extent(0));
    if (numbers.wide.extent(0) > 0)
      sum_numbered(exec, begins, numbers.wide, given, sums);
    else
      sum_numbered(exec, begins, numbers.narrow, given, sums);
    return sums;
  }
};

/// sum_duplicates of an X whose values are its nonzeros' numbers: the values of the result are such
/// numbers, too; where coordinates repeat, they are those of the sums that `summed` says. Fences
/// exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> sum_numbers(ExecutionSpace const& exec,
                                                  CooTensor<Scalar, Index, MemorySpace> X,
                                                  SummedValues<Scalar, MemorySpace>& summed) {
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  using Coordinates = typename Tensor::Coordinates;
  std::vector<int> modes(X.dims.size());
  std::iota(modes.begin(), modes.end(), 0);
  Tensor const Y = sorted(exec, X, modes);
  X = {};
  CompareNonzeros<Coordinates> const compare(Y.coordinates, modes);
  auto const runs = number_runs(exec, compare, Y.nnz());
  if (runs.count == Y.nnz()) return Y;
  Tensor Z = allocate_coo<Scalar, Index>(exec, Y.dims, runs.count);
  launch_items(
      exec, "sporades::sort::sum_runs", Y.nnz(),
      SumRuns<Tensor>{compare, runs.before, Y.coordinates, Z.coordinates, Y.values, Z.values});
  Z.values = numbered_values<Scalar>(exec, runs.count, "sum_duplicates");
  Z.sorted_modes = modes;
  summed.begins = uninitialized<Kokkos::View<Position*, MemorySpace>>(
      exec, "sporades::update_values::begins", runs.count);
  launch_items(exec, "sporades::update_values::store_begins", Y.nnz(),
               StoreRunBegins<Coordinates>{compare, runs.before, summed.begins});
  summed.numbers = numbers_in(exec, ArrayValues<Scalar, MemorySpace>{Y.values}, Y.nnz(), Y.nnz());
  fence(exec, "sporades::update_values::sum_numbers");
  return Z;
}

}  // namespace sporades::detail
