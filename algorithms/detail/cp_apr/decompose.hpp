// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Included by algorithms/cp_apr.hpp.

#include <algorithm>
#include <sporades/algorithms/detail/chosen_components.hpp>
#include <sporades/algorithms/detail/cp_apr/problem.hpp>
#include <sporades/algorithms/detail/cp_apr/solver.hpp>
#include <sporades/algorithms/detail/cp_apr/start.hpp>
#include <sporades/algorithms/detail/memory/fit.hpp>
#include <sporades/algorithms/detail/starts.hpp>

namespace sporades {

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprResult<Scalar, MemorySpace> cp_apr(ExecutionSpace const& exec,
                                        CpAprProblem<Scalar, Index, MemorySpace>& problem,
                                        CpAprOptions const& options,
                                        CpAprState<Scalar, MemorySpace>& state,
                                        Observer const& observer) {
  detail::check_types<ExecutionSpace, CpAprState<Scalar, MemorySpace>>();
  detail::Region const region("sporades::cp_apr");
  auto const named = [&] {
    return detail::named_options<Scalar, Index>(options)
        .add("finished iterations", state.iterations())
        .add("an observer", static_cast<bool>(observer));
  };
  return detail::together(problem.processes, "cp_apr", named, [&] {
    detail::check_cp_apr(options);
    expects(problem.rows.empty() == (options.method == CpAprMethod::mu),
            "cp_apr: the problem was made for ", problem.rows.empty() ? "" : "another method than ",
            "method mu, and the method is ", to_string(options.method));
    detail::check_apr_state(problem.dims_here(), options, state);
    detail::KernelTimes times(options.time_kernels);
    detail::CpAprSolver<ExecutionSpace, Scalar, Index> solver(exec, problem, options, state, times);
    CpAprResult<Scalar, MemorySpace> result;
    static_cast<RunResult&>(result) =
        detail::iterate(problem.processes, solver, state, options, observer, times);
    result.model =
        detail::kruskal_of(exec, state.factors,
                           detail::in_order(detail::unchanged(state.weights, state.factors.size()),
                                            detail::components_by_weight(state.weights)));
    result.history = state.history;
    result.dead_components =
        static_cast<int>(std::count(state.weights.begin(), state.weights.end(), 0.0));
    return result;
  });
}

namespace detail {

/// From starts.state, and from random starts of other seeds (seed_of_start) until there are
/// options.starts. Returns the result of the highest log-likelihood, the first of equal ones.
/// Fences exec. Throws as cp_apr.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprResult<Scalar, MemorySpace> cp_apr_of_starts(ExecutionSpace const& exec,
                                                  CpAprProblem<Scalar, Index, MemorySpace>& problem,
                                                  CpAprOptions const& options,
                                                  Starts<CpAprState<Scalar, MemorySpace>>& starts,
                                                  Observer const& observer = {}) {
  using State = CpAprState<Scalar, MemorySpace>;
  return run_starts(
      options, starts, observer,
      [&](CpAprOptions const& one) { return cp_apr_start(exec, problem, one); },
      [&](CpAprOptions const& one, State& state, Observer const& watched) {
        return cp_apr(exec, problem, one, state, watched);
      });
}

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprResult<Scalar, MemorySpace> cp_apr(ExecutionSpace const& exec,
                                        CooTensor<Scalar, Index, MemorySpace> X,
                                        CpAprOptions const& options, Observer const& observer) {
  return detail::solve_within_memory(
      exec, X, options, [&](auto& given, CpAprOptions const& fitted) {
        detail::Starts<CpAprState<Scalar, MemorySpace>> starts;
        starts.state = cp_apr_start<Scalar>(exec, given.dims, fitted);
        auto problem = make_cp_apr_problem(exec, hand_over(given), fitted);
        return detail::cp_apr_of_starts(exec, problem, fitted, starts, observer);
      });
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprResult<Scalar, MemorySpace> cp_apr(Communicator const& processes, ExecutionSpace const& exec,
                                        CooTensor<Scalar, Index, MemorySpace> X,
                                        CpAprOptions const& options, Observer const& observer) {
  if constexpr (detail::has_mpi)
    if (processes.size() > 1) {
      auto problem = make_cp_apr_problem(processes, exec, hand_over(X), options);
      detail::Starts<CpAprState<Scalar, MemorySpace>> starts;
      starts.state = cp_apr_start(exec, problem, options);
      return detail::cp_apr_of_starts(exec, problem, options, starts, observer);
    }
  return cp_apr(exec, hand_over(X), options, observer);
}

}  // namespace sporades
