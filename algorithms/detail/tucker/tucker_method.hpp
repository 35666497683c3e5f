// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/decompose.hpp>
#include <sporades/algorithms/detail/tucker/model.hpp>
#include <sporades/algorithms/detail/tucker/problem.hpp>
#include <sporades/algorithms/detail/tucker/solver.hpp>
#include <sporades/algorithms/detail/tucker/start.hpp>

namespace sporades::detail {

template <class ExecutionSpace, class ScalarType, class IndexType, class MemorySpaceType>
struct Method<ExecutionSpace, TuckerProblem<ScalarType, IndexType, MemorySpaceType>> : NoRace {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;
  using Problem = TuckerProblem<Scalar, Index, MemorySpace>;
  using Options = TuckerOptions;
  using State = TuckerState<Scalar, MemorySpace>;
  using Result = TuckerResult<Scalar, MemorySpace>;
  using Solver = TuckerSolver<ExecutionSpace, Scalar, Index>;
  using Vectors = std::vector<DistributedMatrix<Scalar, MemorySpace>>;
  static constexpr char const *name = "tucker", *maker = "make_tucker_problem",
                              *starter = "tucker_start", *model = "TuckerTensor";

  template <class Tensor>
  static Problem make(Communicator const& processes, ExecutionSpace const& exec, Tensor X,
                      Options const& options) {
    return build_tucker_problem(processes, exec, hand_over(X), options);
  }
  static std::vector<RowMap> rows(Problem const& problem) { return problem.rows(); }
  static std::vector<RowMap> state_rows(Problem const& problem) { return rows(problem); }

  static void check(Options const& options, Dims const& dims) { check_tucker(options, dims); }
  static NamedOptions named(Options const& options) { return named_options(options); }
  static bool needs_vectors(Options const& options) { return options.init != TuckerInit::random; }
  static bool first_is_singular(Options const& options, int, Position) {
    return options.init == TuckerInit::hosvd;
  }
  template <class Tensor>
  static Vectors vectors(Communicator const& processes, ExecutionSpace const& exec, Tensor const& X,
                         Options const& options) {
    return tucker_vectors(processes, exec, X, options);
  }
  static State start_of(ExecutionSpace const& exec, Dims const& dims,
                        std::vector<RowMap> const& rows, Vectors const& vectors,
                        Options const& options) {
    return tucker_start_of(exec, dims, rows, vectors, options);
  }
  template <class Model>
  static State given_start(ExecutionSpace const& exec, Dims const& here,
                           std::vector<RowMap> const& rows, Options const& options,
                           Model const& model) {
    return given_tucker_start(exec, here, rows, options, model);
  }

  static void begin(ExecutionSpace const&, Problem const& problem, Options const& options,
                    State const& state) {
    expects(options.ranks == problem.chain.ranks, "tucker: the problem was made for other ranks");
    check_tucker_state(rows_here(problem.dims, problem.rows()), options, state);
  }
  static void finish(ExecutionSpace const& exec, Problem const& problem, Solver const&,
                     State const& state, Result& result) {
    result.model = model_of(exec, state, problem.rows());
  }
};

}  // namespace sporades::detail
