// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/decompose.hpp>
#include <sporades/algorithms/detail/gcp/model.hpp>
#include <sporades/algorithms/detail/gcp/problem.hpp>
#include <sporades/algorithms/detail/gcp/solver.hpp>
#include <sporades/algorithms/detail/gcp/start.hpp>

namespace sporades::detail {

/// The random starts that race, and how long: steps, or epochs of adam and its like.
inline constexpr int gcp_race_starts = 3, gcp_race_iterations = 20, gcp_race_epochs = 1;

template <class Loss>
bool has_gcp_race(GcpOptionsOf<Loss> const& options) {
  return options.init == GcpInit::random && !has_bound(options);
}

template <class ExecutionSpace, class ScalarType, class IndexType, class MemorySpaceType>
struct Method<ExecutionSpace, GcpProblem<ScalarType, IndexType, MemorySpaceType>> : NoVectors {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;
  using Problem = GcpProblem<Scalar, Index, MemorySpace>;
  using Options = GcpOptions;  // functions take those of any loss
  using State = GcpState<Scalar, MemorySpace>;
  using Result = GcpResult<Scalar, MemorySpace>;
  using Solver = GcpSolver<ExecutionSpace, Scalar, Index>;
  using Vectors = std::vector<DistributedMatrix<Scalar, MemorySpace>>;
  static constexpr char const *name = "gcp", *maker = "make_gcp_problem", *starter = "gcp_start",
                              *model = "KruskalTensor";

  template <class Tensor, class Loss>
  static Problem make(Communicator const& processes, ExecutionSpace const& exec, Tensor X,
                      GcpOptionsOf<Loss> const& options) {
    return build_gcp_problem(processes, exec, hand_over(X), options);
  }
  static std::vector<RowMap> rows(Problem const& problem) { return problem.factor_rows; }
  static std::vector<RowMap> state_rows(Problem const&) { return {}; }

  template <class Loss>
  static void check(GcpOptionsOf<Loss> const& options, Dims const&) {
    check_gcp(options);
  }
  template <class Loss>
  static NamedOptions named(GcpOptionsOf<Loss> const& options) {
    return named_options(options);
  }
  template <class Loss>
  static State start_of(ExecutionSpace const& exec, Dims const& dims, std::vector<RowMap> const&,
                        Vectors const&, GcpOptionsOf<Loss> const& options) {
    return random_gcp_start<Scalar>(exec, dims, options);
  }
  template <class Model, class Loss>
  static State given_start(ExecutionSpace const& exec, Dims const& here,
                           std::vector<RowMap> const& rows, GcpOptionsOf<Loss> const& options,
                           Model const& given) {
    return given_gcp_start(exec, here, rows, options, given);
  }

  /// Among factors of any sign components may come to cancel one another, and such a run ends in a
  /// poor optimum or takes very long: of 300 random starts for a planted tensor of which a fifth
  /// was known, 4 did. The loss of most of them tells after few iterations.
  template <class Loss>
  static bool has_race(GcpOptionsOf<Loss> const& options, int, Position) {
    return has_gcp_race(options);
  }
  template <class Loss>
  static void race(ExecutionSpace const& exec, Problem& problem, GcpOptionsOf<Loss> const& options,
                   State& state) {
    auto one = options;
    one.iterations =
        std::min(options.iterations, has_epochs(method_of(options, problem.zeros), problem.zeros)
                                         ? gcp_race_epochs
                                         : gcp_race_iterations);
    double least = -run_from(exec, problem, one, state, {}).value();
    for (int k = 1; k < gcp_race_starts; ++k) {
      one.seed = seed_of_start(~options.seed, k);
      State other = random_start(exec, problem, one);
      double const loss = -run_from(exec, problem, one, other, {}).value();
      if (!(loss < least)) continue;
      least = loss;
      state = other;
    }
  }

  template <class Loss>
  static void begin(ExecutionSpace const& exec, Problem const& problem,
                    GcpOptionsOf<Loss> const& options, State& state) {
    expects(problem.rank == options.rank && problem.absent == options.absent,
            "gcp: the problem was made for rank ", problem.rank, " and absent entries that are `",
            to_string(problem.absent), "`");
    Position const nnz = nnz_of(problem);
    auto const zeros = choose_zeros(exec, problem.dims, nnz, options).zeros;
    expects(problem.zeros == zeros, "gcp: the problem was made for zeros by `",
            to_string(problem.zeros), "`, and the options ask for `", to_string(zeros), "`");
    Position const most = most_drawn(problem), nonzeros = problem.plan.drawn.entries.nnz() - most;
    expects(zeros != GcpZeros::samples ||
                (drawn_cells(options, nnz) <= most && options.tuning.nonzeros == nonzeros),
            "gcp: the problem was made for up to ", most, " samples and ", nonzeros, " nonzeros");
    check_gcp_state(problem.dims, options, state);
    bool const is_descent = descends(method_of(options, zeros));
    expects(!is_descent || state.steps.size() <= 1,
            "gcp: the state is of L-BFGS, and goes on with it alone");
    auto const longest = static_cast<std::size_t>(options.tuning.history);
    for (auto* const list : {&state.steps, &state.changes})
      while (!is_descent && list->size() > longest) list->erase(list->begin());
  }
  static void finish(ExecutionSpace const& exec, Problem const& problem, Solver& solver,
                     State const& state, Result& result) {
    result.of_model = solver.final_loss();
    result.model = gcp_model(exec, solver.factors());
    take_own_rows(exec, problem.factor_rows, result.model);
    result.history = state.history;
    result.is_stuck = solver.is_stuck();
  }
};

}  // namespace sporades::detail
