// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Included by algorithms/tucker.hpp.

#include <cmath>
#include <sporades/algorithms/detail/hosvd.hpp>
#include <sporades/algorithms/detail/scaled_tensor.hpp>
#include <sporades/algorithms/detail/tucker/orthonormal.hpp>
#include <sporades/algorithms/detail/tucker/problem.hpp>

namespace sporades {
namespace detail {

/// The state before the first iteration: the factors made orthonormal. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
TuckerState<Scalar, MemorySpace> first_tucker_state(ExecutionSpace const& exec,
                                                    Factors<Scalar, MemorySpace> factors,
                                                    std::uint64_t seed) {
  TuckerState<Scalar, MemorySpace> state{std::move(factors), {}, {}, {}};
  TallMatrices<ExecutionSpace, Scalar> tall(exec);
  for (int n = 0; n < state.order(); ++n) {
    scale_matrix(exec, state.factors[n]);
    auto const A = detail::with_padding(state.factors[n]);
    double const sum = detail::norm_squared(exec, Vector<Scalar, MemorySpace>(A.data(), A.size()));
    expects(std::isfinite(sum), "tucker: the start's factor of mode ", n, " holds NaN or infinity");
    tall.orthonormalize(state.factors[n], seed, n);
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

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerState<Scalar, MemorySpace> tucker_start(ExecutionSpace const& exec,
                                              CooTensor<Scalar, Index, MemorySpace> const& X,
                                              TuckerOptions const& options) {
  detail::check_tucker(options, X.dims);
  expects(options.init != TuckerInit::given,
          "tucker: init is `given`, and no start was given: pass a TuckerTensor to tucker_start");
  Factors<Scalar, MemorySpace> A;
  for (int n = 0; n < X.order(); ++n)
    if (options.init == TuckerInit::hosvd && n > 0)  // mode 0 is solved for first
      A.push_back(detail::leading_singular_vectors(exec, X, n, options.ranks[n], options.seed));
    else
      A.push_back(detail::random_factor<Scalar>(exec, "sporades::tucker::factor", X.dims[n],
                                                options.ranks[n], options.seed, n));
  return detail::first_tucker_state(exec, std::move(A), options.seed);
}

template <class ExecutionSpace, class Scalar, class StartSpace>
TuckerState<Scalar, typename ExecutionSpace::memory_space> tucker_start(
    ExecutionSpace const& exec, Dims const& dims, TuckerOptions const& options,
    TuckerTensor<Scalar, StartSpace> const& start) {
  detail::check_tucker(options, dims);
  TuckerState<Scalar, typename ExecutionSpace::memory_space> given;
  for (auto const& A : start.factors) given.factors.push_back(copy_matrix(exec, A));
  detail::check_tucker_state(dims, options, given);
  return detail::first_tucker_state(exec, std::move(given.factors), options.seed);
}

}  // namespace sporades
