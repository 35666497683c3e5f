// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/algorithms/detail/check_start.hpp>
#include <sporades/algorithms/detail/cp_apr/entries.hpp>
#include <sporades/algorithms/detail/starts.hpp>
#include <sporades/core/detail/dense.hpp>
#include <sporades/core/detail/launch.hpp>

namespace sporades::detail {

/// The state before the first iteration: columns are divided by their sums, which go into the
/// weights. rows: of each mode, that are here; or none, where all are. Collective. Fences exec.
/// Throws Error if the start is not finite and non-negative, or its model is 0 everywhere.
template <class ExecutionSpace, class Scalar, class MemorySpace>
CpAprState<Scalar, MemorySpace> first_apr_state(ExecutionSpace const& exec,
                                                Factors<Scalar, MemorySpace> const& factors,
                                                std::vector<double> const& weights,
                                                std::vector<RowMap> const& rows = {}) {
  CpAprState<Scalar, MemorySpace> state{factors, weights, {}, {}};
  std::size_t const R = weights.size(), P = padded_columns(R);
  detail::Workspace<MemorySpace> workspace;
  Kokkos::View<double*, MemorySpace> const sums(
      Kokkos::view_alloc(exec, "sporades::cp_apr::column_sums"), P);
  auto const host = Kokkos::create_mirror_view(sums);
  for (int n = 0; n < state.order(); ++n) {
    expects(!detail::has_negative(exec, factors[n]), "cp_apr: the start's factor of mode ", n,
            " has negative entries");
    auto const A = detail::with_padding(factors[n]);
    detail::column_sums(exec, A, sums, workspace, rows.empty() ? RowMap{} : rows[n]);
    copy_view(exec, host, sums);
    detail::fence(exec, "sporades::cp_apr::start");
    for (std::size_t r = 0; r < R; ++r) {
      expects(std::isfinite(host(r)), "cp_apr: the start's factor of mode ", n,
              " holds NaN, infinity or numbers whose sum overflows");
      state.weights[r] *= host(r);
    }
    std::uint64_t const all = rows.empty() ? A.extent(0) : rows[n].all(A.extent(0));
    launch_items(
        exec, "sporades::cp_apr::divide_by_sums", A.extent(0) * P,
        DivideBySums<Scalar, MemorySpace>{all_entries(A), sums, least_entry<Scalar>(factors.size()),
                                          R, 1 / static_cast<double>(all)});
    state.zero_marks.emplace_back(Kokkos::view_alloc(exec, "sporades::cp_apr::zero_marks"),
                                  A.extent(0) * P);
  }
  double largest = 0;
  for (double weight : state.weights) {
    expects(std::isfinite(weight), "cp_apr: the mass of the start overflows");
    largest = std::max(largest, weight);
  }
  expects(largest > 0, "cp_apr: the start's model is 0 everywhere");
  detail::fence(exec, "sporades::cp_apr::start");
  return state;
}

/// Throws Error where a state that a run goes on from does not fit X's dims and the options.
template <class Scalar, class MemorySpace>
void check_apr_state(Dims const& dims, CpAprOptions const& options,
                     CpAprState<Scalar, MemorySpace> const& state) {
  check_start("cp_apr", dims, options.rank, state.factors, state.rank());
  bool has_marks = state.zero_marks.size() == dims.size();
  for (std::size_t n = 0; has_marks && n < dims.size(); ++n)
    has_marks = state.zero_marks[n].extent(0) == dims[n] * padded_columns(state.rank());
  expects(has_marks,
          "cp_apr: the state must have zero_marks for every entry: cp_apr_start makes them");
}

template <class Scalar, class ExecutionSpace>
CpAprState<Scalar, typename ExecutionSpace::memory_space> random_apr_start(
    ExecutionSpace const& exec, Dims const& dims, std::vector<RowMap> const& rows,
    CpAprOptions const& options) {
  expects(options.init != CpAprInit::given,
          "cp_apr: init is `given`, and no start was given: pass a KruskalTensor to cp_apr_start");
  using Vectors = std::vector<DistributedMatrix<Scalar, typename ExecutionSpace::memory_space>>;
  std::vector<int> const ranks(dims.size(), options.rank);
  return first_apr_state(exec,
                         start_factors(exec, dims, rows, Vectors(dims.size()), ranks, options.seed),
                         std::vector<double>(options.rank, 1.0), rows);
}

/// The given start, whose factors are the rows here. Collective.
template <class ExecutionSpace, class Scalar, class StartSpace>
CpAprState<Scalar, typename ExecutionSpace::memory_space> given_apr_start(
    ExecutionSpace const& exec, Dims const& here, std::vector<RowMap> const& rows,
    CpAprOptions const& options, KruskalTensor<Scalar, StartSpace> const& start) {
  auto const given = copy_of_start("cp_apr", exec, start);
  for (std::size_t r = 0; r < given.weights.size(); ++r)
    expects(given.weights[r] >= 0, "cp_apr: the start's weight ", r, " is ", given.weights[r],
            ", not 0 or a positive number");
  check_start("cp_apr", here, options.rank, given.factors, static_cast<int>(given.weights.size()));
  return first_apr_state(exec, given.factors, given.weights, rows);
}

}  // namespace sporades::detail
