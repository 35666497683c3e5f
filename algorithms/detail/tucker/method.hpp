// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// First the front door, which includes this file where it belongs: hence a guard.
#include <sporades/algorithms/tucker.hpp>

#ifndef SPORADES_ALGORITHMS_TUCKER_METHOD
#define SPORADES_ALGORITHMS_TUCKER_METHOD

#include <sporades/algorithms/detail/decompose.hpp>
#include <sporades/algorithms/detail/tucker/model.hpp>
#include <sporades/algorithms/detail/tucker/problem.hpp>
#include <sporades/algorithms/detail/tucker/solver.hpp>
#include <sporades/algorithms/detail/tucker/start.hpp>

namespace sporades {
namespace detail {

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

}  // namespace detail

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerState<Scalar, MemorySpace> tucker_start(ExecutionSpace const& exec,
                                              CooTensor<Scalar, Index, MemorySpace> const& X,
                                              TuckerOptions const& options) {
  return detail::first_start<TuckerProblem<Scalar, Index, MemorySpace>>(exec, X, options);
}

template <class ExecutionSpace, class Scalar, class StartSpace>
TuckerState<Scalar, typename ExecutionSpace::memory_space> tucker_start(
    ExecutionSpace const& exec, Dims const& dims, TuckerOptions const& options,
    TuckerTensor<Scalar, StartSpace> const& start) {
  using Problem = TuckerProblem<Scalar, std::uint32_t, typename ExecutionSpace::memory_space>;
  return detail::start_of_model<Problem>(exec, dims, options, start);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class StartSpace>
TuckerState<Scalar, MemorySpace> tucker_start(
    ExecutionSpace const& exec, TuckerProblem<Scalar, Index, MemorySpace> const& problem,
    TuckerOptions const& options, TuckerTensor<Scalar, StartSpace> const& start) {
  return detail::start_of_model(exec, problem, options, start);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerProblem<Scalar, Index, MemorySpace> make_tucker_problem(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> X, TuckerOptions const& options,
    TuckerState<Scalar, MemorySpace>* start) {
  return detail::make_problem<TuckerProblem<Scalar, Index, MemorySpace>>(
      processes, exec, hand_over(X), options, start);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerResult<Scalar, MemorySpace> tucker(ExecutionSpace const& exec,
                                         TuckerProblem<Scalar, Index, MemorySpace>& problem,
                                         TuckerOptions const& options,
                                         TuckerState<Scalar, MemorySpace>& state,
                                         Observer const& observer) {
  return detail::run_from(exec, problem, options, state, observer);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerResult<Scalar, MemorySpace> tucker(ExecutionSpace const& exec,
                                         CooTensor<Scalar, Index, MemorySpace> X,
                                         TuckerOptions const& options, Observer const& observer) {
  return detail::decompose<TuckerProblem<Scalar, Index, MemorySpace>>(exec, hand_over(X), options,
                                                                      observer);
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerResult<Scalar, MemorySpace> tucker(Communicator const& processes, ExecutionSpace const& exec,
                                         CooTensor<Scalar, Index, MemorySpace> X,
                                         TuckerOptions const& options, Observer const& observer) {
  return detail::decompose<TuckerProblem<Scalar, Index, MemorySpace>>(processes, exec, hand_over(X),
                                                                      options, observer);
}

}  // namespace sporades

#endif
