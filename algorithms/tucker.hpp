// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <sporades/algorithms/detail/scaled_tensor.hpp>
#include <sporades/algorithms/detail/tucker/model.hpp>
#include <sporades/algorithms/detail/tucker/options.hpp>
#include <sporades/algorithms/detail/tucker/solver.hpp>
#include <sporades/algorithms/detail/tucker/start.hpp>
#include <sporades/algorithms/starts.hpp>

/// Tucker decomposition by higher-order orthogonal iteration (HOOI):
///   X ~ M = G x_0 A_0 ... x_{N-1} A_{N-1},  A_n orthonormal, I_n x R_n
/// Modes are updated from 0 to N-1: A_n becomes the R_n leading left singular vectors of
/// Y_(n) = X_(n) (the Kronecker product of the others), and at the end of an iteration
/// G_(N-1) = A_{N-1}^T Y_(N-1). fit = 1 - ||X-M|| / ||X|| comes from the norm of the core, and does
/// not fall. De Lathauwer, De Moor & Vandewalle, SIAM J. Matrix Anal. Appl. 21(4), 2000; for sparse
/// tensors Ma et al., JPDC 2018, Algorithm 6. N sorted copies of X are made once and reused. X is
/// scaled by a power of two first: a tensor times 2^k has the same factors, bit for bit, and a core
/// times 2^k.
///
/// One seed gives one model, bit for bit, on a backend with any number of threads.
///
///   TuckerOptions options;
///   options.ranks = {8, 8, 8};
///   auto const result = tucker(exec, X, options);
/// or, with what it does taken apart, so that a run can be watched, saved and continued:
///   auto problem = make_tucker_problem(exec, X, options);          // plan and norm
///   auto state = tucker_start(exec, X, options);                   // or restore(exec, snapshot)
///   auto const result = tucker(exec, problem, options, state, [&](auto const& state) {
///     save(snapshot(exec, state));
///     return true;                                               // false stops
///   });

namespace sporades {

/// The model that a run ended with, and how it got there.
template <class Scalar, class MemorySpace>
struct TuckerResult {
  TuckerTensor<Scalar, MemorySpace> model;  // signs fixed
  std::vector<double> fits;     // of every iteration, those before a resumption included
  std::vector<double> seconds;  // the same
  bool converged = false;
  TuckerStop stop = TuckerStop::iterations;
  std::map<std::string, KernelTime> kernels;  // where options.time_kernels
  std::vector<double> start_scores;           // the last fit of each start that has ended
  std::uint64_t seed = 0;                     // of the start that gave the model

  bool is_stopped() const { return stop == TuckerStop::observer; }
  double fit() const { return fits.empty() ? 0 : fits.back(); }
};

/// Builds what the chains want for every mode, and the norm. X in any order, values of equal
/// coordinates are added. Nothing of X is used after; if it is handed over, its memory is given
/// back as early as can be. Fences exec. Throws Error for options out of range or that do not fit
/// X, where X has no nonzeros, an index past its mode, is all zero, or holds NaN or infinity
/// (saying where), and where a chain does not fit the memory.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerProblem<Scalar, Index, MemorySpace> make_tucker_problem(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> X,
    TuckerOptions const& options) {
  detail::check_tucker(options, X.dims);
  auto scaled = detail::summed_and_scaled(exec, hand_over(X), "tucker");
  Dims const dims = scaled.tensor.dims;
  double const square = detail::norm_squared(exec, scaled.tensor.values);  // that of the sums
  return {dims,
          make_ttm_chain_plan(exec, hand_over(scaled.tensor), options.ranks,
                              TtmChainOptions{options.strategy, options.memory_limit}),
          square, scaled.exponent};
}

/// Continues from the state, which is changed, until a stopping rule holds; observer(state) is
/// called after each iteration and stops the run by returning false. Fences exec. A state that has
/// met the rule already is left as it is. Throws Error if the state does not fit the problem and
/// options, RunError where the fit is NaN or a number of the core is past the range of Scalar,
/// Stopped where options.stop says so.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerResult<Scalar, MemorySpace> tucker(
    ExecutionSpace const& exec, TuckerProblem<Scalar, Index, MemorySpace>& problem,
    TuckerOptions const& options, TuckerState<Scalar, MemorySpace>& state,
    typename TuckerState<Scalar, MemorySpace>::Observer const& observer = {}) {
  detail::check_tucker(options, problem.dims);
  expects(options.ranks == problem.chain.ranks, "tucker: the problem was made for other ranks");
  detail::check_tucker_state(problem.dims, options, state);
  detail::KernelTimes times(options.time_kernels);
  detail::TuckerSolver<ExecutionSpace, Scalar, Index> solver(exec, problem, options, state, times);
  auto const has_converged = [&] {
    auto const& fits = state.fits;
    return fits.size() > 1 && std::abs(fits.back() - fits[fits.size() - 2]) < options.tolerance;
  };
  TuckerStop stop = TuckerStop::iterations;
  while (!has_converged() && state.iteration() < options.iterations) {
    solver.iterate();
    if (observer && !observer(state)) {
      stop = TuckerStop::observer;
      break;
    }
  }
  bool const converged = has_converged();
  if (converged) stop = TuckerStop::converged;
  TuckerResult<Scalar, MemorySpace> result{detail::sign_fixed_model(exec, state),
                                           state.fits,
                                           state.seconds,
                                           converged,
                                           stop,
                                           times.by_label(),
                                           {},
                                           options.seed};
  result.start_scores = {result.fit()};
  return result;
}

/// From starts.state, and from random starts of other seeds (seed_of_start) until there are
/// options.starts. The best fit's result is returned, the first of equal ones; the observer is
/// called for one start after another, and stops them all. Fences exec. Throws as tucker.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerResult<Scalar, MemorySpace> tucker_of_starts(
    ExecutionSpace const& exec, TuckerProblem<Scalar, Index, MemorySpace>& problem,
    TuckerOptions const& options, Starts<TuckerState<Scalar, MemorySpace>>& starts,
    typename TuckerState<Scalar, MemorySpace>::Observer const& observer = {}) {
  using State = TuckerState<Scalar, MemorySpace>;
  CooTensor<Scalar, Index, MemorySpace> any;  // a random start asks for nothing but the dims
  any.dims = problem.dims;
  return detail::run_starts(
      options, starts, [&](TuckerOptions const& one) { return tucker_start(exec, any, one); },
      [&](TuckerOptions const& one, State& state) {
        return tucker(exec, problem, one, state, observer);
      },
      [](State const& state) { return state.fits.back(); });
}

/// The whole of it, from one or several random starts, or from HOSVD.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerResult<Scalar, MemorySpace> tucker(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
    TuckerOptions const& options,
    typename TuckerState<Scalar, MemorySpace>::Observer const& observer = {}) {
  auto problem = make_tucker_problem(exec, X, options);
  Starts<TuckerState<Scalar, MemorySpace>> starts;
  starts.state = tucker_start(exec, X, options);
  return tucker_of_starts(exec, problem, options, starts, observer);
}

}  // namespace sporades

#include <sporades/eti/tucker.hpp>
