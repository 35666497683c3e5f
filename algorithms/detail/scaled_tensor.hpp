// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/core/detail/dense.hpp>
#include <sporades/core/matrix.hpp>
#include <sporades/formats/detail/sort_across.hpp>
#include <sporades/formats/detail/sort_parts.hpp>
#include <sporades/kernels/detail/windows.hpp>

namespace sporades::detail {

/// X 2^-exponent, whose largest magnitude is in [1, 2). Results that are computed from it do not
/// depend on the unit of X, except for that power of two.
template <class Tensor>
struct ScaledTensor {
  Tensor tensor;
  int exponent;
  OutOfCoreMemory
      memory;  // where nonzeros are in out-of-core memory that no one else holds: holds it
};

/// Throws Error naming the first value that is NaN or infinite. Fences exec.
template <class ExecutionSpace, class Tensor>
void expect_finite(ExecutionSpace const& exec, Tensor const& X, char const* where) {
  auto const values = X.values;
  Position first = X.nnz();
  Kokkos::parallel_reduce(
      "sporades::scaled_tensor::first_not_finite", Range<ExecutionSpace>(exec, 0, X.nnz()),
      KOKKOS_LAMBDA(Position p, Position & least) {
        bool const is_finite = values(p) - values(p) == 0;
        if (!is_finite && p < least) least = p;
      },
      Kokkos::Min<Position>(first));
  fence(exec, "sporades::scaled_tensor::first_not_finite");
  expects(first >= X.nnz(), where, ": value ", first, " of X (counted from 0) is NaN or infinite");
}

/// Throws Error where X, the nonzeros of all processes, has none, an index past its mode, NaN or
/// infinity, or dims disagree. exec can access X. Collective. Fences exec.
template <class ExecutionSpace, class Tensor>
void expect_decomposable(Communicator const& processes, ExecutionSpace const& exec, Tensor const& X,
                         char const* where) {
  expect_same_dims(processes, X, where);
  Position const nnz = exclusive_scan_of_all(processes, X.nnz()).back();
  expects(nnz > 0, where, ": X (", to_string(X.dims), ") has no nonzeros: nothing to fit");
  check_coordinates(exec, X, where);
  expect_finite(exec, X, where);
}

/// The largest magnitude of the values of all processes. Collective. Fences exec.
template <class ExecutionSpace, class Values>
double largest_value(Communicator const& processes, ExecutionSpace const& exec,
                     Values const& values) {
  return largest_of_all(processes, "largest values", static_cast<double>(max_abs(exec, values)));
}

/// X, the nonzeros of all processes as they are given: each has a multiple of unit(their number) of
/// them, except the last that has any. Collective. Fences exec.
template <class ExecutionSpace, class Tensor, class Unit>
OutOfCoreTensor<Tensor> divided_evenly(Communicator const& processes, ExecutionSpace const& exec,
                                       Tensor X, Unit const& unit) {
  Position const nnz = exclusive_scan_of_all(processes, X.nnz()).back();
  return {cut_at(processes, exec, hand_over(X), even_cuts(processes.size(), nnz, unit(nnz))), {}};
}

/// X, the nonzeros of all processes, with values of equal coordinates added, and in the order of
/// modes; each process has a multiple of unit(their number) of them, except the last that has any.
/// part_bytes: of one process, as summed_by_parts takes it. Collective. Fences exec.
template <class ExecutionSpace, class Tensor, class Unit>
OutOfCoreTensor<Tensor> summed_evenly(Communicator const& processes, ExecutionSpace const& exec,
                                      Tensor X, std::uint64_t part_bytes, Unit const& unit) {
  if (processes.size() == 1) return summed_by_parts(exec, hand_over(X), part_bytes);
  return divided_evenly(processes, exec, summed_across(processes, exec, hand_over(X)), unit);
}

/// X, the nonzeros of all processes, summed and scaled; see summed_evenly. Shares Views with X
/// where nothing changes. With part_bytes above 0, on one process, what is made is in out-of-core
/// memory of a host. Collective. Fences exec. Throws Error where X has no nonzeros, is all zero,
/// has an index past its mode, or holds NaN, infinity, or values whose sum is infinite; and as
/// allocate_out_of_core.
/// - keeps_repeats: values of equal coordinates are not added, but stay nonzeros of their own.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
ScaledTensor<CooTensor<Scalar, Index, MemorySpace>> summed_and_scaled(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> X, char const* where, std::uint64_t part_bytes,
    bool keeps_repeats = false) {
  expect_decomposable(processes, exec, X, where);
  auto const unit = [](Position) { return Position{2048}; };
  if (keeps_repeats) part_bytes = 0;
  auto summed = keeps_repeats ? divided_evenly(processes, exec, hand_over(X), unit)
                              : summed_evenly(processes, exec, hand_over(X), part_bytes, unit);
  auto& result = summed.tensor;
  double const largest = largest_value(processes, exec, result.values);
  expects(std::isfinite(largest), where, ": values of equal coordinates add up to infinity");
  expects(largest > 0, where, ": the norm of X is 0: nothing to fit");
  int const exponent = binary_exponent(largest);
  if (exponent == 0) return {result, 0, summed.memory};
  auto values = result.values;  // its own, where the sums are in out-of-core memory
  if (part_bytes == 0)
    values = uninitialized<Vector<Scalar, MemorySpace>>(exec, "sporades::scaled_tensor::values",
                                                        result.nnz());
  else if (!summed.memory)
    values =
        allocate_out_of_core_values<Vector<Scalar, MemorySpace>>(exec, result.nnz(), summed.memory);
  divide_by_power_of_two(exec, result.values, exponent, values);
  fence(exec, "sporades::scaled_tensor::values");
  result.values = values;
  return {result, exponent, summed.memory};
}

/// The squared norm of the values of all processes, which have them at these places: see
/// dot_across. Collective. Fences exec.
template <class ExecutionSpace, class Values>
double norm_squared_across(Communicator const& processes, ExecutionSpace const& exec,
                           std::vector<Position> const& places, Values const& values) {
  auto const here = within_reach(exec, values);
  return dot_across(processes, exec, places, here.view, here.view);
}

/// Memory for sorting X by parts, of one process that streams; 0: X is sorted as a whole.
template <class ExecutionSpace, class Tensor>
std::uint64_t part_bytes_of(Communicator const& processes, Tensor const& X,
                            Streaming const& streaming) {
  return processes.size() > 1
             ? 0
             : out_of_core_part_bytes<ExecutionSpace>(X.storage_bytes(), streaming);
}

/// A becomes A 2^-exponent, whose largest magnitude is in [1, 2); returns the exponent. A: made by
/// make_matrix, the rows here of that of all processes. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
int scale_matrix(ExecutionSpace const& exec, Matrix<Scalar, MemorySpace> const& A,
                 RowMap const& rows = {}) {
  Vector<Scalar, MemorySpace> const entries(A.data(), with_padding(A).size());
  int const exponent = binary_exponent(largest_value(rows.processes, exec, entries));
  if (exponent != 0) divide_by_power_of_two(exec, entries, exponent, entries);
  fence(exec, "sporades::scaled_tensor::scale_matrix");
  return exponent;
}

}  // namespace sporades::detail
