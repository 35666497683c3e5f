// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <map>
#include <sporades/algorithms/detail/calls.hpp>
#include <sporades/algorithms/detail/iterate.hpp>
#include <sporades/algorithms/detail/memory/fit.hpp>
#include <sporades/algorithms/detail/scaled_tensor.hpp>
#include <sporades/core/detail/check_types.hpp>
#include <sporades/core/detail/processes/same_options.hpp>
#include <sporades/core/detail/region.hpp>
#include <string>
#include <type_traits>

/// What all decompositions do alike: the problem and the first state on one process and on several,
/// a run from a state, runs from several starts, and the whole from a tensor to a model.

namespace sporades::detail {

/// What a method adds to that; specialised for the problem of each, in
/// <method>/<method>_method.hpp.
///   name, maker, starter, model      of its functions and its model, for messages: "cp_als",
///                                    "make_cp_als_problem", "cp_als_start", "KruskalTensor"
///   Scalar, Index, MemorySpace, Options, State, Result
///   Solver                           iterate(), has_converged(); appends to the state
///   make(processes, exec, X, options)   the problem
///   check(options, dims)             check_run, and throws Error where options of this method are
///                                    out of range, or do not fit X
///   named(options)                   those that only this method has
///   needs_vectors(options)           whether a start may need X, and not its dims alone
///   vectors(processes, exec, X, options)   per mode the singular vectors of a start, or none
///   start_of(exec, dims, rows, vectors, options)   the state of these, and random where none are
///   given_start(exec, here, rows, options, model)  the state of a model, whose rows are those here
///   first_is_singular(options, order, nnz), has_race(options, order, nnz)   of the first start
///   race(exec, problem, options, state)   the better one of `state` and a random start
///   begin(exec, problem, options, state)  throws Error where they do not fit one another
///   finish(exec, problem, solver, state, result)   the model, and what only this method tells
///   rows(problem), state_rows(problem)   per mode, those of a model, and of a state, that this
///                                    process has; or none, where it has all
/// The problem has dims and processes. Options are RunOptions with iterations, a tolerance, a
/// strategy and an init, which has names and a value `given`. The state has factors, iterations()
/// and info(k), what an observer sees of iteration k; begin may change it. The result is a
/// RunResult with a model. A solver is made of (exec, problem, options, state, times). NoVectors
/// and NoRace have what methods with random starts alone need. How it takes less memory:
/// memory/fit.hpp.
template <class ExecutionSpace, class Problem>
struct Method;

/// Methods without a race.
struct NoRace {
  template <class Options>
  static bool has_race(Options const&, int, Position) {
    return false;
  }
  template <class ExecutionSpace, class Problem, class Options, class State>
  static void race(ExecutionSpace const&, Problem&, Options const&, State&) {}
};

/// Methods whose starts are random or given.
struct NoVectors {
  template <class Options>
  static bool needs_vectors(Options const&) {
    return false;
  }
  template <class Options>
  static bool first_is_singular(Options const&, int, Position) {
    return false;
  }
  template <class ExecutionSpace, class Tensor, class Options>
  static auto vectors(Communicator const&, ExecutionSpace const&, Tensor const& X, Options const&) {
    using Memory = typename ExecutionSpace::memory_space;
    return std::vector<DistributedMatrix<typename Tensor::Scalar, Memory>>(X.dims.size());
  }
};

/// Throws Error where the rank of a Kruskal tensor is out of its range.
inline void check_rank(char const* name, int rank) {
  expects(rank > 0 && rank < 65536, name, ": rank ", rank, " is not in 1 to 65535");
}

/// Throws Error where an option that all methods have is out of its range.
template <class Options>
void check_run(char const* name, Options const& options) {
  expects(options.iterations > 0, name, ": ", options.iterations, " iterations: at least 1");
  expects(options.tolerance >= 0 && std::isfinite(options.tolerance), name, ": tolerance ",
          options.tolerance, " is not 0 or a positive number");
  expects(options.starts > 0, name, ": ", options.starts, " starts: at least 1");
  expects(options.starts == 1 || options.init != decltype(options.init)::given, name, ": ",
          options.starts, " starts: a given one is the only one");
  check_streaming(name, options.streaming);
}

/// Throws Error where a start is to be made of a model, and none is there.
template <class Method, class Options>
void expect_no_model(Options const& options) {
  expects(options.init != decltype(options.init)::given, Method::name,
          ": init is `given`, and no start was given: pass a ", Method::model, " to ",
          Method::starter);
}

/// What all processes of a call give alike.
template <class Method, class Options>
NamedOptions named_call(Options const& options) {
  return types_of_call<typename Method::Scalar, typename Method::Index>()
      .add("iterations", options.iterations)
      .add("tolerance", options.tolerance)
      .add("seed", options.seed)
      .add("init", options.init)
      .add("starts", options.starts)
      .add("memory", options.memory)
      .add(Method::named(options));
}

/// The rows of each mode that are here. rows: per mode, or none, where all are.
inline Dims rows_here(Dims dims, std::vector<RowMap> const& rows) {
  for (std::size_t n = 0; n < rows.size(); ++n) dims[n] = rows[n].here(dims[n]);
  return dims;
}

template <class Problem, class ExecutionSpace, class Tensor, class Options>
StateOf<Problem> first_start(ExecutionSpace const& exec, Tensor const& X, Options const& options) {
  using M = Method<ExecutionSpace, Problem>;
  M::check(options, X.dims);
  expect_no_model<M>(options);
  return M::start_of(exec, X.dims, {}, M::vectors(Communicator(), exec, X, options), options);
}

template <class ExecutionSpace, class Problem, class Options>
StateOf<Problem> random_start(ExecutionSpace const& exec, Problem const& problem,
                              Options const& options) {
  using M = Method<ExecutionSpace, Problem>;
  expect_no_model<M>(options);
  std::vector<DistributedMatrix<typename M::Scalar, typename M::MemorySpace>> const none(
      problem.dims.size());
  return M::start_of(exec, problem.dims, M::rows(problem), none, options);
}

template <class Problem, class ExecutionSpace, class Options, class Model>
StateOf<Problem> start_of_model(ExecutionSpace const& exec, Dims const& dims,
                                Options const& options, Model const& model) {
  using M = Method<ExecutionSpace, Problem>;
  M::check(options, dims);
  return M::given_start(exec, dims, {}, options, model);
}

template <class ExecutionSpace, class Problem, class Options, class Model>
StateOf<Problem> start_of_model(ExecutionSpace const& exec, Problem const& problem,
                                Options const& options, Model const& model) {
  using M = Method<ExecutionSpace, Problem>;
  auto const named = [&] { return named_call<M>(options); };
  return together(problem.processes, M::starter, named, [&] {
    M::check(options, problem.dims);
    auto const rows = M::rows(problem);
    return M::given_start(exec, rows_here(problem.dims, rows), rows, options, model);
  });
}

template <class Problem, class ExecutionSpace, class Tensor, class Options>
Problem make_problem(ExecutionSpace const& exec, Tensor X, Options const& options) {
  return Method<ExecutionSpace, Problem>::make({}, exec, hand_over(X), options);
}

template <class Problem, class ExecutionSpace, class Tensor, class Options>
Problem make_problem(Communicator const& processes, ExecutionSpace const& exec, Tensor X,
                     Options const& options, StateOf<Problem>* start) {
  using M = Method<ExecutionSpace, Problem>;
  if constexpr (has_mpi)
    if (processes.size() > 1) {
      auto const named = [&] { return named_call<M>(options).add("a start", start != nullptr); };
      return together(processes, M::maker, named, [&] {
        M::check(options, X.dims);
        expects(options.memory == 0, M::name, ": options.memory is for one process");
        std::vector<DistributedMatrix<typename M::Scalar, typename M::MemorySpace>> vectors(
            X.dims.size());
        if (start != nullptr) expect_no_model<M>(options);
        if (start != nullptr && M::needs_vectors(options)) {
          expect_decomposable(processes, exec, X, M::name);
          vectors = M::vectors(processes, exec, X, options);
        }
        Problem problem = M::make(processes, exec, hand_over(X), options);
        if (start != nullptr)
          *start = M::start_of(exec, problem.dims, M::rows(problem), vectors, options);
        return problem;
      });
    }
  if (start != nullptr) *start = first_start<Problem>(exec, X, options);
  return M::make({}, exec, hand_over(X), options);
}

template <class ExecutionSpace, class Problem, class Options>
ResultOf<Problem> run_from(ExecutionSpace const& exec, Problem& problem, Options const& options,
                           StateOf<Problem>& state, Observer const& observer) {
  using M = Method<ExecutionSpace, Problem>;
  Region const region("sporades::", M::name);
  auto const named = [&] {
    return named_call<M>(options)
        .add("finished iterations", state.iterations())
        .add("an observer", static_cast<bool>(observer));
  };
  return together(problem.processes, M::name, named, [&] {
    M::check(options, problem.dims);
    M::begin(exec, problem, options, state);
    KernelTimes times(options.time_kernels);
    typename M::Solver solver(exec, problem, options, state, times);
    typename M::Result result;
    static_cast<RunResult&>(result) =
        iterate(problem.processes, solver, state, options, observer, times);
    M::finish(exec, problem, solver, state, result);
    return result;
  });
}

template <class ExecutionSpace, class Problem, class Options>
ResultOf<Problem> run_from_starts(ExecutionSpace const& exec, Problem& problem,
                                  Options const& options, Starts<StateOf<Problem>>& starts,
                                  Observer const& observer, EndOfStart<Problem> const& ended) {
  Observer watched;
  if (observer)
    watched = [&](IterationInfo info) {
      info.start = starts.current;
      return observer(info);
    };
  auto const of_start = [&](int k) {
    auto one = options;
    one.starts = 1;
    one.seed = starts.seed_of(options.seed, k);
    return one;
  };
  std::map<std::string, KernelTime> kernels;
  ResultOf<Problem> result;  // of the best start, where it ran here
  bool has_result = false, stopped = false;
  while (!stopped) {
    int const k = starts.current;
    if (starts.scores.size() == static_cast<std::size_t>(k)) {
      auto ran = run_from(exec, problem, of_start(k), starts.state, watched);
      for (auto const& [label, time] : ran.kernels) {
        kernels[label].seconds += time.seconds;
        kernels[label].calls += time.calls;
      }
      stopped = ran.is_stopped();
      double const reached = ran.value();
      bool const is_best = k == 0 || reached > starts.scores[starts.best];
      has_result = is_best;
      if (!stopped && ended) ended(ran);
      if (is_best) result = std::move(ran);
      if (!stopped) {
        starts.scores.push_back(reached);
        if (is_best) {
          starts.best = k;
          starts.best_state = starts.state;
        }
      }
    }
    if (stopped || k + 1 >= options.starts) break;
    starts.current = k + 1;
    starts.state = {};
    starts.state = random_start(exec, problem, of_start(k + 1));
  }
  int const of = stopped && has_result ? starts.current : starts.best;
  if (!has_result)  // that start has ended: no iteration is done
    result = run_from(exec, problem, of_start(of), starts.best_state, {});
  if (stopped) result.stop = StopReason::observer;
  result.kernels = kernels;
  result.start_scores = starts.scores;
  result.seed = starts.seed_of(options.seed, of);
  result.start = of;
  return result;
}

template <class Problem, class ExecutionSpace, class Tensor, class Options>
ResultOf<Problem> decompose(ExecutionSpace const& exec, Tensor X, Options const& options,
                            Observer const& observer) {
  using M = Method<ExecutionSpace, Problem>;
  return solve_within_memory(exec, X, options, [&](auto& given, Options const& fitted) {
    Position const nnz = accessible_or_dims<Tensor>(given).nnz();
    int const order = given.order();
    if (M::needs_vectors(fitted))  // before its singular vectors are computed
      expect_decomposable({}, builder_of<typename std::decay_t<decltype(given)>::MemorySpace>(exec),
                          given, M::name);
    Starts<typename M::State> starts;
    starts.first_is_singular = M::first_is_singular(fitted, order, nnz);
    starts.state = first_start<Problem>(exec, accessible_or_dims<Tensor>(given), fitted);
    Problem problem = M::make({}, exec, hand_over(given), fitted);
    if (M::has_race(fitted, order, nnz)) M::race(exec, problem, fitted, starts.state);
    return run_from_starts(exec, problem, fitted, starts, observer);
  });
}

template <class Problem, class ExecutionSpace, class Tensor, class Options>
ResultOf<Problem> decompose(Communicator const& processes, ExecutionSpace const& exec, Tensor X,
                            Options const& options, Observer const& observer) {
  using M = Method<ExecutionSpace, Problem>;
  if constexpr (has_mpi)
    if (processes.size() > 1) {
      int const order = X.order();
      Position const nnz = exclusive_scan_of_all(processes, X.nnz()).back();
      Starts<typename M::State> starts;
      starts.first_is_singular = M::first_is_singular(options, order, nnz);
      auto problem = make_problem<Problem>(processes, exec, hand_over(X), options, &starts.state);
      if (M::has_race(options, order, nnz)) M::race(exec, problem, options, starts.state);
      return run_from_starts(exec, problem, options, starts, observer);
    }
  return decompose<Problem>(exec, hand_over(X), options, observer);
}

}  // namespace sporades::detail
