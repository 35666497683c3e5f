// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/algorithms/complete.hpp>
#include <sporades/algorithms/detail/check_start.hpp>
#include <sporades/algorithms/detail/chosen_components.hpp>
#include <sporades/algorithms/detail/complete/problem.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/random.hpp>

namespace sporades::detail {

/// A factor with the columns of `from`, and after its first R those that tell offsets: that of its
/// own mode as `from` has it, or 0 where it has none, and ones for the other modes and the rest.
template <class MatrixType>
struct PlaceOffsets {
  MatrixType from, to;
  std::size_t R, own;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    for (std::size_t c = 0; c < to.extent(1); ++c)
      to(i, c) = c < R || (c == own && own < from.extent(1)) ? from(i, c) : c == own ? 0 : 1;
  }
};

/// Such a factor of mode n. Enqueued on exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
Matrix<Scalar, MemorySpace> with_offsets(ExecutionSpace const& exec,
                                         Matrix<Scalar, MemorySpace> const& from, std::size_t R,
                                         std::size_t n, std::size_t columns) {
  auto const to = make_matrix<Scalar>(exec, "sporades::complete::factor", from.extent(0), columns);
  launch_items(exec, "sporades::complete::place_offsets", from.extent(0),
               PlaceOffsets<Matrix<Scalar, MemorySpace>>{from, to, R, R + n});
  return to;
}

/// The random start. Fences exec.
template <class Scalar, class ExecutionSpace>
CompleteState<Scalar, typename ExecutionSpace::memory_space> random_complete_start(
    ExecutionSpace const& exec, Dims const& dims, CompleteOptions const& options) {
  auto const R = static_cast<std::size_t>(options.rank);
  auto const columns = static_cast<std::size_t>(complete_columns(options, dims.size()));
  CompleteState<Scalar, typename ExecutionSpace::memory_space> state;
  state.factors = random_factors<Scalar>(exec, dims, options.rank, options.seed);
  for (std::size_t n = 0; n < dims.size() && options.offsets; ++n)
    state.factors[n] = with_offsets(exec, state.factors[n], R, n, columns);
  fence(exec, "sporades::complete::start");
  return state;
}

/// Throws Error where columns from R on are not constant in all modes but that of an offset. Fences
/// exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
void expect_offsets(ExecutionSpace const& exec, Factors<Scalar, MemorySpace> const& factors,
                    std::size_t R) {
  Kokkos::DefaultHostExecutionSpace const host;
  for (std::size_t n = 0; n < factors.size(); ++n) {
    auto const A = copy_matrix(host, factors[n]);
    for (std::size_t c = R; c < A.extent(1); ++c)
      for (std::size_t i = 1; i < A.extent(0) && c != R + n; ++i)
        expects(A(i, c) == A(0, c), "complete: component ", c,
                " (from 0) of the start is no offset: "
                "its column of mode ",
                n, " is not constant");
  }
  fence(exec, "sporades::complete::start");
}

/// The start from a model of complete. Fences exec.
template <class ExecutionSpace, class Scalar, class StartSpace>
CompleteState<Scalar, typename ExecutionSpace::memory_space> given_complete_start(
    ExecutionSpace const& exec, Dims const& here, CompleteOptions const& options,
    KruskalTensor<Scalar, StartSpace> const& start) {
  std::size_t const N = here.size(), R = static_cast<std::size_t>(options.rank);
  auto const columns = static_cast<std::size_t>(complete_columns(options, N));
  int const rank = static_cast<int>(columns) + (options.offsets ? 1 : 0);
  auto const given = copy_of_start("complete", exec, start);
  int const given_rank = static_cast<int>(given.weights.size());
  expects(given_rank == rank, "complete: the start has rank ", given_rank, ", and a model of rank ",
          R, options.offsets ? " with offsets and a mean has " : " without offsets has ", rank);
  check_start("complete", here, rank, given.factors, given_rank);
  for (std::size_t n = 0; n < N; ++n) {
    auto const& A = given.factors[n];
    Vector<Scalar, typename ExecutionSpace::memory_space> const entries(A.data(),
                                                                        with_padding(A).size());
    expects(std::isfinite(max_abs(exec, entries)), "complete: the start's factor of mode ", n,
            " holds NaN or infinity");
  }
  if (options.offsets) expect_offsets(exec, given.factors, R);
  std::vector<std::vector<double>> first(N);  // rows of the factors
  for (std::size_t n = 0; n < N; ++n)
    for (std::size_t c = 0; c < columns; ++c)
      first[n].push_back(static_cast<double>(
          entry_at(exec, Kokkos::subview(given.factors[n], 0, Kokkos::ALL), c)));
  CompleteState<Scalar, typename ExecutionSpace::memory_space> state;
  for (std::size_t n = 0; n < N; ++n) {
    ChosenColumns chosen{all_components(columns)};
    for (std::size_t c = 0; c < columns; ++c) {
      double const weight = given.weights[c];
      double factor = std::pow(std::abs(weight), 1.0 / static_cast<double>(N));
      if (n == 0 && weight < 0) factor = -factor;
      if (c >= R) {
        factor = weight;
        for (std::size_t m = 0; m < N; ++m) factor *= m == n ? 1 : first[m][c];
      }
      chosen.factors.push_back(factor);
    }
    auto const A = chosen_columns(exec, given.factors[n], chosen);
    state.factors.push_back(with_offsets(exec, A, R, n, columns));
  }
  fence(exec, "sporades::complete::start");
  return state;
}

/// Throws Error where the state does not fit.
template <class Scalar, class MemorySpace>
void check_complete_state(Dims const& dims, CompleteOptions const& options,
                          CompleteState<Scalar, MemorySpace> const& state) {
  int const columns = complete_columns(options, dims.size());
  check_start("complete", dims, columns, state.factors, state.rank());
  expects(state.held_errors.empty() || state.held_errors.size() == state.errors.size(),
          "complete: the state has ", state.held_errors.size(), " errors of entries held out, and ",
          state.errors.size(), " iterations");
  if (state.kept_iteration == 0) return;
  expects(state.kept_iteration <= state.errors.size(), "complete: the state keeps iteration ",
          state.kept_iteration, " of ", state.errors.size());
  check_start("complete", dims, columns, state.kept_factors, columns);
}

}  // namespace sporades::detail
