// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/algorithms/hosvd.hpp>
#include <sporades/algorithms/scaled_tensor.hpp>
#include <sporades/algorithms/tucker/options.hpp>
#include <sporades/algorithms/tucker/state.hpp>

namespace sporades {

/// Throws Error where an option is out of its range.
inline void check_hooi(HooiOptions const& options) {
  expects(options.iterations > 0, "hooi: ", options.iterations, " iterations: at least 1");
  expects(options.tolerance >= 0 && std::isfinite(options.tolerance), "hooi: tolerance ",
          options.tolerance, " is not 0 or a positive number");
  expects(options.memory_limit >= 0, "hooi: memory limit ", options.memory_limit,
          " is not 0 or a positive number of bytes");
  expects(options.starts > 0, "hooi: ", options.starts, " starts: at least 1");
  expects(options.starts == 1 || options.init == HooiInit::random, "hooi: ", options.starts,
          " starts: only random ones can be several, and init is another");
  for (std::size_t n = 0; n < options.ranks.size(); ++n)
    expects(options.ranks[n] > 0 && options.ranks[n] < 65536, "hooi: rank ", options.ranks[n],
            " of mode ", n, " is not in 1 to 65535");
}

/// The same, and where the ranks do not fit a tensor of these dims: there is one a mode, none
/// larger than its mode, nor than the product of the others (X_(n) times their Kronecker product
/// has no more columns, and so no more singular vectors).
inline void check_hooi(HooiOptions const& options, Dims const& dims) {
  check_hooi(options);
  auto const& ranks = options.ranks;
  expects(ranks.size() == dims.size(), "hooi: ", ranks.size(), " ranks for a tensor of order ",
          dims.size());
  for (std::size_t n = 0; n < dims.size(); ++n) {
    expects(static_cast<std::uint64_t>(ranks[n]) <= dims[n], "hooi: rank ", ranks[n], " of mode ",
            n, " is larger than the mode, ", dims[n]);
    double others = 1;
    for (std::size_t m = 0; m < dims.size(); ++m)
      if (m != n) others *= ranks[m];
    expects(ranks[n] <= others, "hooi: rank ", ranks[n], " of mode ", n,
            " is larger than the product of the other ranks, ", others);
  }
}

namespace detail {

/// The state before the first iteration: the factors made orthonormal. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
HooiState<Scalar, MemorySpace> first_hooi_state(ExecutionSpace const& exec,
                                                Factors<Scalar, MemorySpace> factors,
                                                std::uint64_t seed) {
  HooiState<Scalar, MemorySpace> state{std::move(factors), {}, {}, {}};
  TallMatrices<ExecutionSpace, Scalar> tall(exec);
  for (int n = 0; n < state.order(); ++n) {
    scale_matrix(exec, state.factors[n]);
    auto const A = with_padding(state.factors[n]);
    double const sum = norm_squared(exec, Vector<Scalar, MemorySpace>(A.data(), A.size()));
    expects(std::isfinite(sum), "hooi: the start's factor of mode ", n, " holds NaN or infinity");
    tall.orthonormalize(state.factors[n], seed, n);
  }
  state.core.assign(core_size(state.ranks()), 0.0);
  return state;
}

template <class Scalar, class MemorySpace>
void check_hooi_state(Dims const& dims, HooiOptions const& options,
                      HooiState<Scalar, MemorySpace> const& state) {
  expects(state.factors.size() == dims.size(), "hooi: the start has order ", state.factors.size(),
          ", X has ", dims.size());
  for (std::size_t n = 0; n < dims.size(); ++n) {
    auto const& A = state.factors[n];
    expects(A.extent(0) == dims[n] && A.extent(1) == static_cast<std::size_t>(options.ranks[n]),
            "hooi: the start's factor of mode ", n, " is ", A.extent(0), " x ", A.extent(1),
            ", expected ", dims[n], " x ", options.ranks[n]);
  }
}

}  // namespace detail

/// The state before the first iteration of a `random` or `hosvd` start. Fences exec.
/// Throws Error if the options say `given`, or do not fit X.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
HooiState<Scalar, MemorySpace> hooi_start(ExecutionSpace const& exec,
                                          CooTensor<Scalar, Index, MemorySpace> const& X,
                                          HooiOptions const& options) {
  check_hooi(options, X.dims);
  expects(options.init != HooiInit::given,
          "hooi: init is `given`, and no start was given: pass a TuckerTensor to hooi_start");
  Factors<Scalar, MemorySpace> A;
  for (int n = 0; n < X.order(); ++n)
    if (options.init == HooiInit::hosvd && n > 0)  // mode 0 is solved for first
      A.push_back(leading_singular_vectors(exec, X, n, options.ranks[n], options.seed));
    else
      A.push_back(random_factor<Scalar>(exec, "sporades::tucker::factor", X.dims[n],
                                        options.ranks[n], options.seed, n));
  return detail::first_hooi_state(exec, std::move(A), options.seed);
}

/// The state before the first iteration of a given start, whose factors are copied; its core is not
/// read. Fences exec. Throws Error if its ranks or dims are not those of the options and dims, or
/// it is not finite.
template <class ExecutionSpace, class Scalar, class StartSpace>
HooiState<Scalar, typename ExecutionSpace::memory_space> hooi_start(
    ExecutionSpace const& exec, Dims const& dims, HooiOptions const& options,
    TuckerTensor<Scalar, StartSpace> const& start) {
  check_hooi(options, dims);
  HooiState<Scalar, typename ExecutionSpace::memory_space> given;
  for (auto const& A : start.factors) given.factors.push_back(copy_matrix(exec, A));
  detail::check_hooi_state(dims, options, given);
  return detail::first_hooi_state(exec, std::move(given.factors), options.seed);
}

}  // namespace sporades
