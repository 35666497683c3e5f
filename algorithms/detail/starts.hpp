// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/run.hpp>
#include <sporades/core/random.hpp>
#include <sporades/kernels/detail/processes/ghost_rows.hpp>
#include <string>
#include <vector>

namespace sporades::detail {

/// The rows here of a start's factors: those given, and random ones of the seed where these have no
/// columns. rows: of each mode's factor, of dims[n] rows in all; or none, where all are here.
/// Collective. Fences exec, or enqueued where all are random.
template <class ExecutionSpace, class Scalar, class MemorySpace>
Factors<Scalar, MemorySpace> start_factors(
    ExecutionSpace const& exec, Dims const& dims, std::vector<RowMap> const& rows,
    std::vector<DistributedMatrix<Scalar, MemorySpace>> const& given, std::vector<int> const& ranks,
    std::uint64_t seed) {
  Factors<Scalar, MemorySpace> A;
  for (std::size_t n = 0; n < dims.size(); ++n) {
    auto const own = rows.empty() ? RowMap{} : rows[n];
    A.push_back(given[n].here.extent(1) > 0
                    ? moved(exec, given[n], own)
                    : random_factor<Scalar>(exec, "sporades::random::factor" + std::to_string(n),
                                            own.here(dims[n]), ranks[n], seed, static_cast<int>(n),
                                            own.first()));
  }
  return A;
}

/// Where a run of several starts, one after another, stands: continued from here, it gives the same
/// bits as one that was never stopped.
template <class StateType>
struct Starts {
  using State = StateType;

  bool first_is_singular = false;  // the first start is one of singular vectors: the random ones,
                                   // which are those of any run, come after it
  State state{};                   // of the start that runs, or that ran last
  int current = 0;                 // which start that is, from 0
  std::vector<double> scores;      // fit or log-likelihood of every start that has ended
  int best = 0;                    // which of those is the best, the first of equal ones
  State best_state{};              // and its state

  /// The seed of start k of a run of this seed.
  std::uint64_t seed_of(std::uint64_t seed, int k) const {
    return seed_of_start(seed, first_is_singular && k > 0 ? k - 1 : k);
  }
};

/// Runs from starts.state, and then from the states that next(options) makes of other seeds (see
/// Starts::seed_of), until options.starts have ended or the observer stops one.
/// run(options, state, observer) runs one to its end. The value of its model is what it is judged
/// by; larger is better, and the first of equal ones counts. Returns the result of the best,
/// with the kernel times of all; a start that was stopped counts as well.
template <class State, class Options, class Next, class Run>
auto run_starts(Options const& options, Starts<State>& starts, Observer const& observer,
                Next const& next, Run const& run) {
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
  using Result = decltype(run(options, starts.state, watched));
  std::map<std::string, KernelTime> kernels;
  Result result;  // of the best start, where it ran here
  bool has_result = false;
  bool stopped = false;
  while (!stopped) {
    int const k = starts.current;
    if (starts.scores.size() == static_cast<std::size_t>(k)) {
      auto ran = run(of_start(k), starts.state, watched);
      for (auto const& [label, time] : ran.kernels) {
        kernels[label].seconds += time.seconds;
        kernels[label].calls += time.calls;
      }
      stopped = ran.is_stopped();
      double const reached = ran.value();
      bool const is_best = k == 0 || reached > starts.scores[starts.best];
      has_result = is_best;
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
    starts.state = State();
    starts.state = next(of_start(k + 1));
  }
  int const of = stopped && has_result ? starts.current : starts.best;
  if (!has_result) result = run(of_start(of), starts.best_state, {});  // it has ended: none is done
  if (stopped) result.stop = StopReason::observer;
  result.kernels = kernels;
  result.start_scores = starts.scores;
  result.seed = starts.seed_of(options.seed, of);
  result.start = of;
  return result;
}

}  // namespace sporades::detail
