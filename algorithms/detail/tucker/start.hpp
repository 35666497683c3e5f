// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/algorithms/detail/hosvd.hpp>
#include <sporades/algorithms/detail/scaled_tensor.hpp>
#include <sporades/algorithms/detail/starts.hpp>
#include <sporades/algorithms/detail/tucker/orthonormal.hpp>
#include <sporades/algorithms/detail/tucker/problem.hpp>
#include <sporades/algorithms/tucker.hpp>

namespace sporades::detail {

/// The state before the first iteration: the factors made orthonormal. rows: of each mode those
/// that are here, or none, where all are. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
TuckerState<Scalar, MemorySpace> first_tucker_state(ExecutionSpace const& exec,
                                                    Factors<Scalar, MemorySpace> factors,
                                                    std::uint64_t seed,
                                                    std::vector<RowMap> const& rows = {}) {
  TuckerState<Scalar, MemorySpace> state{std::move(factors), {}, {}, {}};
  TallMatrices<ExecutionSpace, Scalar> tall(exec);
  for (int n = 0; n < state.order(); ++n) {
    auto const own = rows.empty() ? RowMap{} : rows[static_cast<std::size_t>(n)];
    scale_matrix(exec, state.factors[n], own);
    auto const A = detail::with_padding(state.factors[n]);
    double const sum = detail::norm_squared(exec, Vector<Scalar, MemorySpace>(A.data(), A.size()));
    expects(std::isfinite(sum), "tucker: the start's factor of mode ", n, " holds NaN or infinity");
    tall.orthonormalize(state.factors[n], seed, n, own);
  }
  state.core.assign(detail::core_size(state.ranks()), 0.0);
  return state;
}

template <class Scalar, class MemorySpace>
void check_tucker_state(Dims const& dims, TuckerOptions const& options,
                        TuckerState<Scalar, MemorySpace> const& state) {
  expects(state.factors.size() == dims.size(), "tucker: the start has order ", state.factors.size(),
          ", X has ", dims.size());
  for (std::size_t n = 0; n < dims.size(); ++n) {
    auto const& A = state.factors[n];
    expects(A.extent(0) == dims[n] && A.extent(1) == static_cast<std::size_t>(options.ranks[n]),
            "tucker: the start's factor of mode ", n, " is ", A.extent(0), " x ", A.extent(1),
            ", expected ", dims[n], " x ", options.ranks[n]);
  }
}

/// The factors of a start that depend on X, the nonzeros of all processes: leading singular vectors
/// of each mode, none (no rows and columns) where the start's are random. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
std::vector<DistributedMatrix<Scalar, MemorySpace>> tucker_vectors(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> const& X, TuckerOptions const& options) {
  std::vector<DistributedMatrix<Scalar, MemorySpace>> factors(X.dims.size());
  if (options.init != TuckerInit::hosvd || exclusive_scan_of_all(processes, X.nnz()).back() == 0)
    return factors;
  for (int n = 1; n < X.order(); ++n)  // mode 0 is solved for first
    factors[static_cast<std::size_t>(n)] = leading_singular_vectors(
        processes, exec, X, n, options.ranks[static_cast<std::size_t>(n)], options.seed);
  return factors;
}

/// The start of these factors, and of random ones where there is none. rows: of each mode's factor,
/// of dims[n] rows in all; or none, where all are here. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
TuckerState<Scalar, MemorySpace> tucker_start_of(
    ExecutionSpace const& exec, Dims const& dims, std::vector<RowMap> const& rows,
    std::vector<DistributedMatrix<Scalar, MemorySpace>> const& factors,
    TuckerOptions const& options) {
  return first_tucker_state(exec,
                            start_factors(exec, dims, rows, factors, options.ranks, options.seed),
                            options.seed, rows);
}

/// The given start, whose factors are the rows here. rows: of each mode, or none, where all are
/// here. Collective.
template <class ExecutionSpace, class Scalar, class StartSpace>
TuckerState<Scalar, typename ExecutionSpace::memory_space> given_tucker_start(
    ExecutionSpace const& exec, Dims const& here, std::vector<RowMap> const& rows,
    TuckerOptions const& options, TuckerTensor<Scalar, StartSpace> const& start) {
  TuckerState<Scalar, typename ExecutionSpace::memory_space> given;
  for (auto const& A : start.factors) given.factors.push_back(copy_matrix(exec, A));
  check_tucker_state(here, options, given);
  return first_tucker_state(exec, std::move(given.factors), options.seed, rows);
}

}  // namespace sporades::detail
