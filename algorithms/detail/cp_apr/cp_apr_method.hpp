// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <sporades/algorithms/detail/chosen_components.hpp>
#include <sporades/algorithms/detail/cp_apr/problem.hpp>
#include <sporades/algorithms/detail/cp_apr/solver.hpp>
#include <sporades/algorithms/detail/cp_apr/start.hpp>
#include <sporades/algorithms/detail/decompose.hpp>

namespace sporades::detail {

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

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprState<Scalar, MemorySpace> random_apr_start(
    ExecutionSpace const& exec, CpAprProblem<Scalar, Index, MemorySpace> const& problem,
    CpAprOptions const& options) {
  using M = Method<ExecutionSpace, CpAprProblem<Scalar, Index, MemorySpace>>;
  auto const named = [&] { return named_call<M>(options); };
  return together(problem.processes, M::starter, named,
                  [&] { return random_start(exec, problem, options); });
}

}  // namespace sporades::detail
