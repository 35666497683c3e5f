// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Included by algorithms/cp_als.hpp.

#include <sporades/algorithms/detail/cp_als/home_rows.hpp>
#include <sporades/algorithms/detail/cp_als/model.hpp>
#include <sporades/algorithms/detail/cp_als/problem.hpp>
#include <sporades/algorithms/detail/cp_als/solver.hpp>
#include <sporades/algorithms/detail/cp_als/start.hpp>
#include <sporades/algorithms/detail/memory/fit.hpp>
#include <sporades/algorithms/detail/starts.hpp>

namespace sporades {
namespace detail {

/// Throws Error where the state is not one of the problem and the options; puts its rows in the
/// order that the problem's products take. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void prepare_state(ExecutionSpace const& exec,
                   CpAlsProblem<Scalar, Index, MemorySpace> const& problem,
                   CpAlsOptions const& options, CpAlsState<Scalar, MemorySpace>& state) {
  auto const& homes = problem.homes;
  bool const is_ordered = state.row_order == homes.id();
  expects(is_ordered || state.row_order == 0,
          "cp_als: the state's rows are in the order of another problem");
  Dims here = problem.dims;
  for (int n = 0; n < problem.products.order(); ++n)
    here[n] = (is_ordered ? problem.products.rows_of(n) : problem.rows_of(n)).here(here[n]);
  check_state(here, options, state);
  if (is_ordered) return;
  auto const order = [&](Factors<Scalar, MemorySpace>& factors) {
    for (std::size_t n = 0; n < factors.size(); ++n)
      if (homes.moves(n))
        factors[n] =
            to_homes(exec, homes, n, factors[n], problem.products.rows_of(static_cast<int>(n)));
  };
  order(state.factors);
  if (state.kept_iteration > 0) order(state.kept_factors);
  state.row_order = homes.id();
}

/// The best iterate of a state: of its members those that a model is made of.
template <class Scalar, class MemorySpace>
CpAlsState<Scalar, MemorySpace> best_iterate(CpAlsState<Scalar, MemorySpace> state) {
  if (state.kept_iteration == 0) return state;
  state.factors = state.kept_factors;
  state.weights = state.kept_weights;
  return state;
}

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAlsResult<Scalar, MemorySpace> cp_als(ExecutionSpace const& exec,
                                        CpAlsProblem<Scalar, Index, MemorySpace>& problem,
                                        CpAlsOptions const& options,
                                        CpAlsState<Scalar, MemorySpace>& state,
                                        Observer const& observer) {
  detail::check_types<ExecutionSpace, CpAlsState<Scalar, MemorySpace>>();
  detail::Region const region("sporades::cp_als");
  auto const named = [&] {
    return detail::named_options<Scalar, Index>(options)
        .add("finished iterations", state.iterations())
        .add("an observer", static_cast<bool>(observer));
  };
  return detail::together(problem.processes, "cp_als", named, [&] {
    detail::check_cp_als(options);
    detail::prepare_state(exec, problem, options, state);
    detail::KernelTimes times(options.time_kernels);
    detail::CpAlsSolver<ExecutionSpace, Scalar, Index> solver(exec, problem, options, state, times);
    CpAlsResult<Scalar, MemorySpace> result;
    static_cast<RunResult&>(result) =
        detail::iterate(problem.processes, solver, state, options, observer, times);
    if (state.kept_iteration > 0) {
      result.model_iteration = static_cast<int>(state.kept_iteration);
      result.start_scores = {result.value()};
    }
    auto const best = detail::best_iterate(state);
    result.model = detail::model_of(exec, best, problem.products.rows());
    for (int n = 0; n < state.order(); ++n)
      if (auto& A = result.model.factors[n]; problem.homes.moves(static_cast<std::size_t>(n)))
        A = detail::from_homes(exec, problem.homes, static_cast<std::size_t>(n), A,
                               problem.products.rows_of(n));
    result.singular_systems = solver.singular_systems();
    result.dead_components = detail::dead_components(best.weights);
    return result;
  });
}

namespace detail {

/// The random start of the options, which asks for nothing of X except its dims.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAlsState<Scalar, MemorySpace> random_start(
    ExecutionSpace const& exec, CpAlsProblem<Scalar, Index, MemorySpace> const& problem,
    CpAlsOptions const& options) {
  std::vector<DistributedMatrix<Scalar, MemorySpace>> const none(problem.dims.size());
  return start_of(exec, problem.dims, problem.rows(), none, options);
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
  double const fit = cp_als(exec, problem, one, state).fit();  // its model goes before the next
  auto random = random_start(exec, problem, one);
  double const random_fit = cp_als(exec, problem, one, random).fit();
  if (random_fit > fit) state = random;
  return {fit, random_fit};
}

/// From starts.state, and from random starts of other seeds (seed_of_start) until there are
/// options.starts, see Starts. Returns the result of the best fit, the first of equal ones. Fences
/// exec. Throws as cp_als.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAlsResult<Scalar, MemorySpace> cp_als_of_starts(ExecutionSpace const& exec,
                                                  CpAlsProblem<Scalar, Index, MemorySpace>& problem,
                                                  CpAlsOptions const& options,
                                                  Starts<CpAlsState<Scalar, MemorySpace>>& starts,
                                                  Observer const& observer = {}) {
  using State = CpAlsState<Scalar, MemorySpace>;
  return run_starts(
      options, starts, observer,
      [&](CpAlsOptions const& one) { return random_start(exec, problem, one); },
      [&](CpAlsOptions const& one, State& state, Observer const& watched) {
        return cp_als(exec, problem, one, state, watched);
      });
}

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAlsProblem<Scalar, Index, MemorySpace> make_cp_als_problem(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> X, CpAlsOptions const& options,
    CpAlsState<Scalar, MemorySpace>* start) {
  auto const named = [&] {
    return detail::named_options<Scalar, Index>(options).add("a start", start != nullptr);
  };
  if constexpr (detail::has_mpi)
    if (processes.size() > 1)
      return detail::together(processes, "make_cp_als_problem", named, [&] {
        std::vector<detail::DistributedMatrix<Scalar, MemorySpace>> factors(X.dims.size());
        if (start != nullptr && options.init != CpAlsInit::random) {
          detail::expect_decomposable(processes, exec, X, "cp_als");
          factors = detail::singular_vectors(processes, exec, X, options);
        }
        auto problem = detail::make_shared_problem(processes, exec, hand_over(X), options);
        if (start != nullptr)
          *start = detail::start_of(exec, problem.dims, problem.rows(), factors, options);
        return problem;
      });
  if (start != nullptr) *start = cp_als_start(exec, X, options);
  return make_cp_als_problem(exec, hand_over(X), options);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAlsResult<Scalar, MemorySpace> cp_als(Communicator const& processes, ExecutionSpace const& exec,
                                        CooTensor<Scalar, Index, MemorySpace> X,
                                        CpAlsOptions const& options, Observer const& observer) {
  if constexpr (detail::has_mpi)
    if (processes.size() > 1) {
      detail::Starts<CpAlsState<Scalar, MemorySpace>> starts;
      Position const nnz = detail::first_places(processes, X.nnz()).back();
      bool const races = detail::has_cp_als_race(options, X.order(), nnz);
      starts.first_is_singular = detail::has_singular_start(options, X.order(), nnz);
      auto problem = make_cp_als_problem(processes, exec, hand_over(X), options, &starts.state);
      if (races) detail::cp_als_race(exec, problem, options, starts.state);
      return detail::cp_als_of_starts(exec, problem, options, starts, observer);
    }
  return cp_als(exec, hand_over(X), options, observer);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAlsResult<Scalar, MemorySpace> cp_als(ExecutionSpace const& exec,
                                        CooTensor<Scalar, Index, MemorySpace> X,
                                        CpAlsOptions const& options, Observer const& observer) {
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  return detail::solve_within_memory(
      exec, X, options, [&](auto& given, CpAlsOptions const& fitted) {
        Position const near = detail::near_or_dims<Tensor>(given).nnz();
        bool const races = detail::has_cp_als_race(fitted, given.order(), near);
        if (fitted.init != CpAlsInit::random)  // before its singular vectors are computed
          detail::expect_decomposable(
              detail::builder_of<typename std::decay_t<decltype(given)>::MemorySpace>(exec), given,
              "cp_als");
        detail::Starts<CpAlsState<Scalar, MemorySpace>> starts;
        starts.first_is_singular = detail::has_singular_start(fitted, given.order(), near);
        starts.state = cp_als_start(exec, detail::near_or_dims<Tensor>(given), fitted);
        auto problem = make_cp_als_problem(exec, hand_over(given), fitted);
        if (races) detail::cp_als_race(exec, problem, fitted, starts.state);
        return detail::cp_als_of_starts(exec, problem, fitted, starts, observer);
      });
}

}  // namespace sporades
