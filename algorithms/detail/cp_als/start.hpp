// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <sporades/algorithms/cp_als.hpp>
#include <sporades/algorithms/detail/check_start.hpp>
#include <sporades/algorithms/detail/hosvd.hpp>
#include <sporades/algorithms/detail/scaled_tensor.hpp>
#include <sporades/algorithms/detail/starts.hpp>
#include <sporades/core/detail/launch.hpp>

namespace sporades::detail {

/// A(i, r) = |A(i, r)|
template <class MatrixType>
struct MakeNonNegative {
  MatrixType A;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    for (std::uint64_t r = 0; r < A.extent(1); ++r) A(i, r) = detail::math::abs(A(i, r));
  }
};

/// The state before the first iteration; checks that the start is finite and not all zero.
template <class ExecutionSpace, class Scalar, class MemorySpace>
CpAlsState<Scalar, MemorySpace> first_state(ExecutionSpace const& exec,
                                            Factors<Scalar, MemorySpace> const& factors,
                                            std::vector<double> const& weights,
                                            std::vector<RowMap> const& rows = {}) {
  CpAlsState<Scalar, MemorySpace> state{factors, weights, {}, {}, {}, 0};
  std::size_t const R = weights.size();
  detail::Workspace<MemorySpace> workspace;
  Kokkos::View<double**, Kokkos::LayoutRight, MemorySpace> const G(
      Kokkos::view_alloc(exec, "sporades::cp_als::gram"), R, R);
  auto const host = Kokkos::create_mirror_view(G);
  for (int n = 0; n < state.order(); ++n) {
    detail::gram(exec, factors[n], G, workspace, rows.empty() ? RowMap{} : rows[n]);
    copy_view(exec, host, G);
    detail::fence(exec, "sporades::cp_als::start");
    double trace = 0;
    for (std::size_t r = 0; r < R; ++r) trace += host(r, r);
    expects(std::isfinite(trace), "cp_als: the start's factor of mode ", n,
            " holds NaN or infinity");
    // Mode 0 is replaced before it is read, unless there is no other.
    expects(trace > 0 || n == 0, "cp_als: the start's factor of mode ", n, " is all zero");
    state.grams.emplace_back(host.data(), host.data() + R * R);
  }
  return state;
}

/// Throws Error where a state that a run goes on from does not fit X's dims and the options.
template <class Scalar, class MemorySpace>
void check_state(Dims const& dims, CpAlsOptions const& options,
                 CpAlsState<Scalar, MemorySpace> const& state) {
  check_start("cp_als", dims, options.rank, state.factors, state.rank());
  auto const R = static_cast<std::size_t>(state.rank());
  expects(state.grams.size() == dims.size() &&
              std::all_of(state.grams.begin(), state.grams.end(),
                          [&](auto const& gram) { return gram.size() == R * R; }),
          "cp_als: the state must have a Gram matrix of ", R, " x ", R,
          " a mode: cp_als_start makes them");
  if (state.kept_iteration == 0) return;
  expects(state.kept_iteration < state.fits.size() && state.kept_factors.size() == dims.size() &&
              state.kept_weights.size() == R,
          "cp_als: the state keeps iteration ", state.kept_iteration, " of ", state.fits.size(),
          " in ", state.kept_factors.size(), " factors with ", state.kept_weights.size(),
          " weights");
  check_start("cp_als", dims, options.rank, state.kept_factors,
              static_cast<int>(state.kept_weights.size()));
}

/// Whether the first start is one of singular vectors. There must be a mode whose vectors would be
/// read, and init must
/// - say so, or
/// - be `automatic`, and the vectors take at most 2 GB, by a bound that is the same on every
///   machine.
inline bool has_singular_start(CpAlsOptions const& options, int order, Position nnz) {
  auto const columns = static_cast<double>(padded_columns(std::max(options.rank + 8, 32)));
  double const bytes = static_cast<double>(nnz) * (100 + 8 * columns);
  bool const is_taken =
      options.init == CpAlsInit::hosvd || (options.init == CpAlsInit::automatic && bytes <= 2e9);
  return is_taken && order > 1 && nnz > 0;
}

/// Whether there is one start, which `automatic` finds by a race.
inline bool has_cp_als_race(CpAlsOptions const& options, int order, Position nnz) {
  return options.init == CpAlsInit::automatic && options.starts == 1 &&
         has_singular_start(options, order, nnz);
}

/// The factors of a start that depend on X, the nonzeros of all processes: leading singular vectors
/// of each mode, none (no rows and columns) where the start's are random. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
std::vector<DistributedMatrix<Scalar, MemorySpace>> als_vectors(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> const& X, CpAlsOptions const& options) {
  std::vector<DistributedMatrix<Scalar, MemorySpace>> factors(X.dims.size());
  Position const nnz = exclusive_scan_of_all(processes, X.nnz()).back();
  if (!has_singular_start(options, X.order(), nnz)) return factors;
  for (int n = 1; n < X.order(); ++n) {  // mode 0 is solved for first
    auto& A = factors[static_cast<std::size_t>(n)];
    A = leading_singular_vectors(processes, exec, X, n, options.rank, options.seed,
                                 options.init == CpAlsInit::automatic ? 3 : 100);
    if (options.non_negative)
      launch_items(exec, "sporades::cp_als::make_non_negative", A.here.extent(0),
                   MakeNonNegative<Matrix<Scalar, MemorySpace>>{A.here});
  }
  return factors;
}

/// The start of these factors, and of random ones where there is none. rows: of each mode's factor,
/// of dims[n] rows in all; or none, where all are here. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
CpAlsState<Scalar, MemorySpace> als_start_of(
    ExecutionSpace const& exec, Dims const& dims, std::vector<RowMap> const& rows,
    std::vector<DistributedMatrix<Scalar, MemorySpace>> const& factors,
    CpAlsOptions const& options) {
  std::vector<int> const ranks(dims.size(), options.rank);
  return first_state(exec, start_factors(exec, dims, rows, factors, ranks, options.seed),
                     std::vector<double>(options.rank, 1.0), rows);
}

/// The given start, whose factors are the rows here. rows: of each mode, or none, where all are
/// here. Collective.
template <class ExecutionSpace, class Scalar, class StartSpace>
CpAlsState<Scalar, typename ExecutionSpace::memory_space> given_als_start(
    ExecutionSpace const& exec, Dims const& here, std::vector<RowMap> const& rows,
    CpAlsOptions const& options, KruskalTensor<Scalar, StartSpace> const& start) {
  auto given = copy_of_start("cp_als", exec, start);
  for (std::size_t r = 0; r < given.weights.size(); ++r)
    expects(!options.non_negative || given.weights[r] >= 0, "cp_als: the start's weight ", r,
            " is ", given.weights[r], ", a non-negative decomposition needs a non-negative start");
  for (std::size_t n = 0; n < given.factors.size(); ++n) {
    int const exponent = scale_matrix(exec, given.factors[n], n < rows.size() ? rows[n] : RowMap{});
    for (double& weight : given.weights) weight = std::ldexp(weight, exponent);
  }
  check_start("cp_als", here, options.rank, given.factors, static_cast<int>(given.weights.size()));
  if (options.non_negative)
    for (std::size_t n = 0; n < here.size(); ++n)
      expects(!has_negative(exec, given.factors[n]), "cp_als: the start's factor of mode ", n,
              " has negative entries, a non-negative decomposition needs a non-negative start");
  return first_state(exec, given.factors, given.weights, rows);
}

}  // namespace sporades::detail
