// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/complete/model.hpp>
#include <sporades/algorithms/detail/complete/problem.hpp>
#include <sporades/algorithms/detail/complete/solver.hpp>
#include <sporades/algorithms/detail/complete/start.hpp>
#include <sporades/algorithms/detail/decompose.hpp>

namespace sporades::detail {

template <class ExecutionSpace, class ScalarType, class IndexType, class MemorySpaceType>
struct Method<ExecutionSpace, CompleteProblem<ScalarType, IndexType, MemorySpaceType>> : NoVectors,
                                                                                         NoRace {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;
  using Problem = CompleteProblem<Scalar, Index, MemorySpace>;
  using Options = CompleteOptions;
  using State = CompleteState<Scalar, MemorySpace>;
  using Result = CompleteResult<Scalar, MemorySpace>;
  using Solver = CompleteSolver<ExecutionSpace, Scalar, Index>;
  using Vectors = std::vector<DistributedMatrix<Scalar, MemorySpace>>;
  static constexpr char const *name = "complete", *maker = "make_complete_problem",
                              *starter = "complete_start", *model = "KruskalTensor";

  template <class Tensor>
  static Problem make(Communicator const& processes, ExecutionSpace const& exec, Tensor X,
                      Options const& options) {
    return build_complete_problem(processes, exec, hand_over(X), options);
  }
  static std::vector<RowMap> rows(Problem const&) { return {}; }
  static std::vector<RowMap> state_rows(Problem const&) { return {}; }

  static void check(Options const& options, Dims const& dims) { check_complete(options, dims); }
  static NamedOptions named(Options const& options) { return named_options(options); }
  static State start_of(ExecutionSpace const& exec, Dims const& dims, std::vector<RowMap> const&,
                        Vectors const&, Options const& options) {
    return random_complete_start<Scalar>(exec, dims, options);
  }
  template <class Model>
  static State given_start(ExecutionSpace const& exec, Dims const& here, std::vector<RowMap> const&,
                           Options const& options, Model const& given) {
    return given_complete_start(exec, here, options, given);
  }

  static void begin(ExecutionSpace const&, Problem const& problem, Options const& options,
                    State& state) {
    expects(problem.rank == options.rank && problem.offsets == options.offsets,
            "complete: the problem was made for rank ", problem.rank,
            problem.offsets ? " with offsets" : " without offsets");
    check_complete_state(problem.dims, options, state);
    expects((options.holdout > 0) == (problem.held.nnz() > 0), "complete: the problem has ",
            problem.held.nnz(), " entries held out, and the options say ", options.holdout,
            " of them");
    expects(state.errors.empty() || state.held_errors.empty() == (problem.held.nnz() == 0),
            "complete: the state is of a run that held ", state.held_errors.empty() ? "no" : "some",
            " entries out");
  }
  static void finish(ExecutionSpace const& exec, Problem const& problem, Solver const&,
                     State const& state, Result& result) {
    bool const is_kept = state.kept_iteration > 0;
    if (is_kept) {
      result.model_iteration = static_cast<int>(state.kept_iteration);
      result.start_scores = {result.value()};
    }
    result.model = complete_model(exec, is_kept ? state.kept_factors : state.factors,
                                  static_cast<std::size_t>(problem.rank), problem.mean);
    result.errors = state.errors;
    result.held_errors = state.held_errors;
  }
};

}  // namespace sporades::detail
