// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/cp_als/model.hpp>
#include <sporades/algorithms/detail/cp_als/options.hpp>
#include <sporades/algorithms/detail/cp_als/solver.hpp>
#include <sporades/algorithms/detail/cp_als/start.hpp>
#include <sporades/algorithms/detail/scaled_tensor.hpp>
#include <sporades/algorithms/starts.hpp>

/// CP decomposition by alternating least squares:
///   X ~ M = sum_r weights(r) A_0(:,r) o ... o A_{N-1}(:,r)
/// Modes are updated from 0 to N-1; for each, A_n = X_(n) K (K^T K + mu I)^-1 with K the Khatri-Rao
/// product of the others, and its columns are normalised to length 1, the lengths becoming the
/// weights. The first iteration starts from the factors as they were given. fit = 1 - ||X-M|| /
/// ||X|| comes from the last mode's MTTKRP. A numerically singular K^T K is replaced by its
/// pseudo-inverse. X is scaled by a power of two first: a tensor times 2^k has the same factors,
/// bit for bit, and weights times 2^k. Carroll & Chang 1970, Harshman 1970; Kolda & Bader, SIAM
/// Review 51(3), 2009, Figure 3.3.
///
/// One seed gives one model, bit for bit, on a backend with any number of threads (strategies
/// `atomic`, `duplicated` and `alto_atomic` excepted).
///
///   CpAlsOptions options;
///   options.rank = 16;
///   auto const result = cp_als(exec, X, options);
/// or, with what it does taken apart, so that a run can be watched, saved and continued:
///   auto problem = make_cp_als_problem(exec, X, options);          // plan and norm
///   auto state = cp_als_start(exec, X, options);                   // or restore(exec, snapshot)
///   auto const result = cp_als(exec, problem, options, state, [&](auto const& state) {
///     save(snapshot(exec, state));
///     return true;                                                 // false stops
///   });

namespace sporades {

/// The model that a run ended with, and how it got there.
template <class Scalar, class MemorySpace>
struct CpAlsResult {
  KruskalTensor<Scalar, MemorySpace> model;  // weights descending, signs fixed
  std::vector<double> fits;     // of every iteration, those before a resumption included
  std::vector<double> seconds;  // the same
  bool converged = false;
  CpAlsStop stop = CpAlsStop::iterations;
  std::map<std::string, KernelTime> kernels;  // where options.time_kernels
  std::uint64_t singular_systems = 0;         // how often a pseudo-inverse was taken
  int dead_components = 0;                    // of weight 0: the last ones of the model
  std::vector<double> start_scores;           // the last fit of each start that has ended
  std::uint64_t seed = 0;                     // of the start that gave the model

  bool is_stopped() const { return stop == CpAlsStop::observer; }
  double fit() const { return fits.empty() ? 0 : fits.back(); }
};

namespace detail {

/// Throws Error where an option is out of its range.
inline void check_cp_als(CpAlsOptions const& options) {
  expects(options.rank > 0 && options.rank < 65536, "cp_als: rank ", options.rank,
          " is not in 1 to 65535");
  expects(options.iterations > 0, "cp_als: ", options.iterations, " iterations: at least 1");
  expects(options.tolerance >= 0 && std::isfinite(options.tolerance), "cp_als: tolerance ",
          options.tolerance, " is not 0 or a positive number");
  expects(options.regularization >= 0 && std::isfinite(options.regularization),
          "cp_als: regularization ", options.regularization, " is not 0 or a positive number");
  expects(options.starts > 0, "cp_als: ", options.starts, " starts: at least 1");
  expects(options.starts == 1 || options.init == CpAlsInit::random ||
              options.init == CpAlsInit::automatic,
          "cp_als: ", options.starts,
          " starts: only random ones can be several, and init is another");
}

}  // namespace detail

/// Builds what MTTKRP wants for every mode, and the norm. X in any order, values of equal
/// coordinates are added. Nothing of X is used after; if it is handed over, its memory is given
/// back as early as can be. Fences exec. Throws Error for options out of range, and where X has no
/// nonzeros, an index past its mode, is all zero, or holds NaN or infinity (saying where).
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAlsProblem<Scalar, Index, MemorySpace> make_cp_als_problem(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> X,
    CpAlsOptions const& options) {
  detail::check_cp_als(options);
  auto scaled = detail::summed_and_scaled(exec, hand_over(X), "cp_als");
  auto& summed = scaled.tensor;  // the norm is that of the sums
  auto const fused = options.dimension_tree && options.strategy == MttkrpStrategy::automatic
                         ? detail::choose_fused_modes<ExecutionSpace, Scalar>(
                               summed.dims, summed.nnz(), options.rank)
                         : std::vector<int>();
  Dims const dims = summed.dims;
  Position const nnz = summed.nnz();
  double const square = detail::norm_squared(exec, summed.values);
  return {dims,
          detail::make_dimension_tree(exec, hand_over(summed), fused,
                                      MttkrpOptions{options.strategy, options.rank}),
          square, scaled.exponent, nnz};
}

/// Continues from the state, which is changed, until a stopping rule holds; observer(state) is
/// called after each iteration and stops the run by returning false. Fences exec. A state that has
/// met the rule already is left as it is. Throws Error if the state does not fit the problem and
/// options, RunError where the fit is NaN or a weight of the model is past the range of Scalar,
/// Stopped where options.stop says so.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAlsResult<Scalar, MemorySpace> cp_als(
    ExecutionSpace const& exec, CpAlsProblem<Scalar, Index, MemorySpace>& problem,
    CpAlsOptions const& options, CpAlsState<Scalar, MemorySpace>& state,
    typename CpAlsState<Scalar, MemorySpace>::Observer const& observer = {}) {
  detail::check_cp_als(options);
  detail::check_state(problem.dims, options, state);
  detail::KernelTimes times(options.time_kernels);
  detail::CpAlsSolver<ExecutionSpace, Scalar, Index> solver(exec, problem, options, state, times);
  auto const dead = [&] {
    return static_cast<int>(std::count(state.weights.begin(), state.weights.end(), 0.0));
  };
  auto const has_converged = [&] {
    // Dead components of a non-negative model, which are revived, get some iterations to help.
    std::size_t const changes = options.non_negative && dead() > 0 ? 5 : 1;
    auto const& fits = state.fits;
    if (fits.size() <= changes) return false;
    for (std::size_t k = fits.size() - changes; k < fits.size(); ++k)
      if (!(std::abs(fits[k] - fits[k - 1]) < options.tolerance)) return false;
    return true;
  };
  CpAlsStop stop = CpAlsStop::iterations;
  while (!has_converged() && state.iteration() < options.iterations) {
    solver.iterate();
    if (observer && !observer(state)) {
      stop = CpAlsStop::observer;
      break;
    }
  }
  bool const converged = has_converged();
  if (converged) stop = CpAlsStop::converged;
  CpAlsResult<Scalar, MemorySpace> result{detail::arranged_model(exec, state),
                                          state.fits,
                                          state.seconds,
                                          converged,
                                          stop,
                                          times.by_label(),
                                          solver.singular_systems(),
                                          dead(),
                                          {},
                                          options.seed};
  result.start_scores = {result.fit()};
  return result;
}

/// The race of init `automatic`: `state` of singular vectors, as cp_als_start made it, and the
/// random start of the seed do 3 iterations each, and `state` becomes that of the better fit; both
/// fits are returned, in this order. Neither start is good for all tensors: over 12 seeds of 30
/// cases of 1 to 12,000 nonzeros, 250 of 360 random starts reached the best fit known, 324 of
/// singular vectors, and 333 of those chosen so (with converged singular vectors). Fences exec.
/// Throws as cp_als.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
std::vector<double> cp_als_race(ExecutionSpace const& exec,
                                CpAlsProblem<Scalar, Index, MemorySpace>& problem,
                                CpAlsOptions const& options,
                                CpAlsState<Scalar, MemorySpace>& state) {
  auto one = options;
  one.init = CpAlsInit::random;
  one.iterations = std::min(3, options.iterations);
  CooTensor<Scalar, Index, MemorySpace> any;  // a random start asks for nothing but the dims
  any.dims = problem.dims;
  double const fit = cp_als(exec, problem, one, state).fit();  // its model goes before the next
  auto random = cp_als_start(exec, any, one);
  double const random_fit = cp_als(exec, problem, one, random).fit();
  if (random_fit > fit) state = random;
  return {fit, random_fit};
}

/// From starts.state, and from random starts of other seeds (seed_of_start) until there are
/// options.starts. The best fit's result is returned, the first of equal ones; the observer is
/// called for one start after another, and stops them all. Fences exec. Throws as cp_als.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAlsResult<Scalar, MemorySpace> cp_als_of_starts(
    ExecutionSpace const& exec, CpAlsProblem<Scalar, Index, MemorySpace>& problem,
    CpAlsOptions const& options, Starts<CpAlsState<Scalar, MemorySpace>>& starts,
    typename CpAlsState<Scalar, MemorySpace>::Observer const& observer = {}) {
  using State = CpAlsState<Scalar, MemorySpace>;
  CooTensor<Scalar, Index, MemorySpace> any;  // a random start asks for nothing but the dims
  any.dims = problem.dims;
  return detail::run_starts(
      options, starts, [&](CpAlsOptions const& one) { return cp_als_start(exec, any, one); },
      [&](CpAlsOptions const& one, State& state) {
        return cp_als(exec, problem, one, state, observer);
      },
      [](State const& state) { return state.fits.back(); });
}

/// The whole of it, from one start, a race of two, or several random ones.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAlsResult<Scalar, MemorySpace> cp_als(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
    CpAlsOptions const& options,
    typename CpAlsState<Scalar, MemorySpace>::Observer const& observer = {}) {
  Starts<CpAlsState<Scalar, MemorySpace>> starts;
  auto problem = make_cp_als_problem(exec, X, options);
  starts.state = cp_als_start(exec, X, options);
  if (detail::has_cp_als_race(options, X.order(), X.nnz()))
    cp_als_race(exec, problem, options, starts.state);
  return cp_als_of_starts(exec, problem, options, starts, observer);
}

}  // namespace sporades

#include <sporades/eti/cp_als.hpp>
