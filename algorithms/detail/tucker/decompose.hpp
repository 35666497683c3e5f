// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Included by algorithms/tucker.hpp.

#include <sporades/algorithms/detail/memory/fit.hpp>
#include <sporades/algorithms/detail/starts.hpp>
#include <sporades/algorithms/detail/tucker/model.hpp>
#include <sporades/algorithms/detail/tucker/problem.hpp>
#include <sporades/algorithms/detail/tucker/solver.hpp>
#include <sporades/algorithms/detail/tucker/start.hpp>

namespace sporades {

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerResult<Scalar, MemorySpace> tucker(ExecutionSpace const& exec,
                                         TuckerProblem<Scalar, Index, MemorySpace>& problem,
                                         TuckerOptions const& options,
                                         TuckerState<Scalar, MemorySpace>& state,
                                         Observer const& observer) {
  detail::check_types<ExecutionSpace, TuckerState<Scalar, MemorySpace>>();
  detail::Region const region("sporades::tucker");
  auto const named = [&] {
    return detail::named_options<Scalar, Index>(options)
        .add("finished iterations", state.iterations())
        .add("an observer", static_cast<bool>(observer));
  };
  return detail::together(problem.processes, "tucker", named, [&] {
    detail::check_tucker(options, problem.dims);
    expects(options.ranks == problem.chain.ranks, "tucker: the problem was made for other ranks");
    auto const rows = problem.rows();
    detail::check_tucker_state(detail::rows_here(problem.dims, rows), options, state);
    detail::KernelTimes times(options.time_kernels);
    detail::TuckerSolver<ExecutionSpace, Scalar, Index> solver(exec, problem, options, state,
                                                               times);
    TuckerResult<Scalar, MemorySpace> result;
    static_cast<RunResult&>(result) =
        detail::iterate(problem.processes, solver, state, options, observer, times);
    result.model = detail::model_of(exec, state, rows);
    return result;
  });
}

namespace detail {

/// From starts.state, and from random starts of other seeds (seed_of_start) until there are
/// options.starts. Returns the result of the best fit, the first of equal ones. Fences exec. Throws
/// as tucker.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerResult<Scalar, MemorySpace> tucker_of_starts(
    ExecutionSpace const& exec, TuckerProblem<Scalar, Index, MemorySpace>& problem,
    TuckerOptions const& options, Starts<TuckerState<Scalar, MemorySpace>>& starts,
    Observer const& observer = {}) {
  using State = TuckerState<Scalar, MemorySpace>;
  std::vector<DistributedMatrix<Scalar, MemorySpace>> const none(problem.dims.size());
  return run_starts(
      options, starts, observer,
      [&](TuckerOptions const& one) {
        return start_of(exec, problem.dims, problem.rows(), none, one);
      },
      [&](TuckerOptions const& one, State& state, Observer const& watched) {
        return tucker(exec, problem, one, state, watched);
      });
}

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerResult<Scalar, MemorySpace> tucker(ExecutionSpace const& exec,
                                         CooTensor<Scalar, Index, MemorySpace> X,
                                         TuckerOptions const& options, Observer const& observer) {
  using Tensor = CooTensor<Scalar, Index, MemorySpace>;
  return detail::solve_within_memory(
      exec, X, options, [&](auto& given, TuckerOptions const& fitted) {
        if (fitted.init != TuckerInit::random)  // before its singular vectors are computed
          detail::expect_decomposable(
              detail::builder_of<typename std::decay_t<decltype(given)>::MemorySpace>(exec), given,
              "tucker");
        detail::Starts<TuckerState<Scalar, MemorySpace>> starts;
        starts.first_is_singular = fitted.init == TuckerInit::hosvd;
        starts.state = tucker_start(exec, detail::near_or_dims<Tensor>(given), fitted);
        auto problem = make_tucker_problem(exec, hand_over(given), fitted);
        return detail::tucker_of_starts(exec, problem, fitted, starts, observer);
      });
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerProblem<Scalar, Index, MemorySpace> make_tucker_problem(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> X, TuckerOptions const& options,
    TuckerState<Scalar, MemorySpace>* start) {
  auto const named = [&] {
    return detail::named_options<Scalar, Index>(options).add("a start", start != nullptr);
  };
  if constexpr (detail::has_mpi)
    if (processes.size() > 1)
      return detail::together(processes, "make_tucker_problem", named, [&] {
        std::vector<detail::DistributedMatrix<Scalar, MemorySpace>> factors(X.dims.size());
        if (start != nullptr && options.init != TuckerInit::random) {
          detail::expect_decomposable(processes, exec, X, "tucker");
          factors = detail::singular_vectors(processes, exec, X, options);
        }
        auto problem = detail::make_shared_problem(processes, exec, hand_over(X), options);
        if (start != nullptr)
          *start = detail::start_of(exec, problem.dims, problem.rows(), factors, options);
        return problem;
      });
  if (start != nullptr) *start = tucker_start(exec, X, options);
  return make_tucker_problem(exec, hand_over(X), options);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerResult<Scalar, MemorySpace> tucker(Communicator const& processes, ExecutionSpace const& exec,
                                         CooTensor<Scalar, Index, MemorySpace> X,
                                         TuckerOptions const& options, Observer const& observer) {
  if constexpr (detail::has_mpi)
    if (processes.size() > 1) {
      detail::Starts<TuckerState<Scalar, MemorySpace>> starts;
      starts.first_is_singular = options.init == TuckerInit::hosvd;
      auto problem = make_tucker_problem(processes, exec, hand_over(X), options, &starts.state);
      return detail::tucker_of_starts(exec, problem, options, starts, observer);
    }
  return tucker(exec, hand_over(X), options, observer);
}

}  // namespace sporades
