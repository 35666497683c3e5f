// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// First the front door, which includes this file where it belongs: hence a guard.
#include <sporades/algorithms/cp_apr.hpp>

#ifndef SPORADES_ALGORITHMS_CP_APR_METHOD
#define SPORADES_ALGORITHMS_CP_APR_METHOD

#include <algorithm>
#include <sporades/algorithms/detail/chosen_components.hpp>
#include <sporades/algorithms/detail/cp_apr/problem.hpp>
#include <sporades/algorithms/detail/cp_apr/solver.hpp>
#include <sporades/algorithms/detail/cp_apr/start.hpp>
#include <sporades/algorithms/detail/decompose.hpp>

namespace sporades {
namespace detail {

template <class ExecutionSpace, class ScalarType, class IndexType, class MemorySpaceType>
struct Method<ExecutionSpace, CpAprProblem<ScalarType, IndexType, MemorySpaceType>> : NoRace,
                                                                                      NoVectors {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;
  using Problem = CpAprProblem<Scalar, Index, MemorySpace>;
  using Options = CpAprOptions;
  using State = CpAprState<Scalar, MemorySpace>;
  using Result = CpAprResult<Scalar, MemorySpace>;
  using Solver = CpAprSolver<ExecutionSpace, Scalar, Index>;
  using Vectors = std::vector<DistributedMatrix<Scalar, MemorySpace>>;
  static constexpr char const *name = "cp_apr", *maker = "make_cp_apr_problem",
                              *starter = "cp_apr_start", *model = "KruskalTensor";

  template <class Tensor>
  static Problem make(Communicator const& processes, ExecutionSpace const& exec, Tensor X,
                      Options const& options) {
    return build_apr_problem(processes, exec, hand_over(X), options);
  }
  static std::vector<RowMap> rows(Problem const& problem) { return problem.factor_rows; }
  static std::vector<RowMap> state_rows(Problem const& problem) { return rows(problem); }

  static void check(Options const& options, Dims const&) { check_cp_apr(options); }
  static NamedOptions named(Options const& options) { return named_options(options); }
  static State start_of(ExecutionSpace const& exec, Dims const& dims,
                        std::vector<RowMap> const& rows, Vectors const&, Options const& options) {
    return random_apr_start<Scalar>(exec, dims, rows, options);
  }
  template <class Model>
  static State given_start(ExecutionSpace const& exec, Dims const& here,
                           std::vector<RowMap> const& rows, Options const& options,
                           Model const& model) {
    return given_apr_start(exec, here, rows, options, model);
  }

  static void begin(ExecutionSpace const&, Problem const& problem, Options const& options,
                    State const& state) {
    expects(problem.rows.empty() == (options.method == CpAprMethod::mu),
            "cp_apr: the problem was made for ", problem.rows.empty() ? "" : "another method than ",
            "method mu, and the method is ", to_string(options.method));
    check_apr_state(problem.dims_here(), options, state);
  }
  static void finish(ExecutionSpace const& exec, Problem const&, Solver const&, State const& state,
                     Result& result) {
    auto const all = unchanged(state.weights, state.factors.size());
    result.model =
        kruskal_of(exec, state.factors, in_order(all, components_by_weight(state.weights)));
    result.history = state.history;
    result.dead_components =
        static_cast<int>(std::count(state.weights.begin(), state.weights.end(), 0.0));
  }
};

}  // namespace detail

template <class Scalar, class ExecutionSpace>
CpAprState<Scalar, typename ExecutionSpace::memory_space> cp_apr_start(
    ExecutionSpace const& exec, Dims const& dims, CpAprOptions const& options) {
  return detail::random_apr_start<Scalar>(exec, dims, {}, options);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprState<Scalar, MemorySpace> cp_apr_start(
    ExecutionSpace const& exec, CpAprProblem<Scalar, Index, MemorySpace> const& problem,
    CpAprOptions const& options) {
  using Method = detail::Method<ExecutionSpace, CpAprProblem<Scalar, Index, MemorySpace>>;
  auto const named = [&] { return detail::named_call<Method>(options); };
  return detail::together(problem.processes, "cp_apr_start", named,
                          [&] { return detail::random_start(exec, problem, options); });
}

template <class ExecutionSpace, class Scalar, class StartSpace>
CpAprState<Scalar, typename ExecutionSpace::memory_space> cp_apr_start(
    ExecutionSpace const& exec, Dims const& dims, CpAprOptions const& options,
    KruskalTensor<Scalar, StartSpace> const& start) {
  using Problem = CpAprProblem<Scalar, std::uint32_t, typename ExecutionSpace::memory_space>;
  return detail::start_of_model<Problem>(exec, dims, options, start);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class StartSpace>
CpAprState<Scalar, MemorySpace> cp_apr_start(
    ExecutionSpace const& exec, CpAprProblem<Scalar, Index, MemorySpace> const& problem,
    CpAprOptions const& options, KruskalTensor<Scalar, StartSpace> const& start) {
  return detail::start_of_model(exec, problem, options, start);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprProblem<Scalar, Index, MemorySpace> make_cp_apr_problem(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> X, CpAprOptions const& options) {
  return detail::make_problem<CpAprProblem<Scalar, Index, MemorySpace>>(
      processes, exec, hand_over(X), options,
      static_cast<CpAprState<Scalar, MemorySpace>*>(nullptr));
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprResult<Scalar, MemorySpace> cp_apr(ExecutionSpace const& exec,
                                        CpAprProblem<Scalar, Index, MemorySpace>& problem,
                                        CpAprOptions const& options,
                                        CpAprState<Scalar, MemorySpace>& state,
                                        Observer const& observer) {
  return detail::run_from(exec, problem, options, state, observer);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprResult<Scalar, MemorySpace> cp_apr(ExecutionSpace const& exec,
                                        CooTensor<Scalar, Index, MemorySpace> X,
                                        CpAprOptions const& options, Observer const& observer) {
  return detail::decompose<CpAprProblem<Scalar, Index, MemorySpace>>(exec, hand_over(X), options,
                                                                     observer);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprResult<Scalar, MemorySpace> cp_apr(Communicator const& processes, ExecutionSpace const& exec,
                                        CooTensor<Scalar, Index, MemorySpace> X,
                                        CpAprOptions const& options, Observer const& observer) {
  return detail::decompose<CpAprProblem<Scalar, Index, MemorySpace>>(processes, exec, hand_over(X),
                                                                     options, observer);
}

}  // namespace sporades

#endif
