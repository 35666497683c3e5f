// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <limits>
#include <sporades/algorithms/run.hpp>
#include <sporades/core/detail/processes/exchange.hpp>
#include <sporades/core/error.hpp>

namespace sporades::detail {

/// What is known of iteration k, from 0, of a start that had these fits and took these seconds.
inline IterationInfo fit_info(std::vector<double> const& fits, std::vector<double> const& seconds,
                              int k) {
  double const change = k > 0 ? fits[k] - fits[k - 1] : std::numeric_limits<double>::infinity();
  return {0, k + 1, fits[k], change, seconds[k]};
}

/// 1 - sqrt(residual), the fit of an iteration, from 1, whose residual is ||X - M||^2 / ||X||^2.
/// Throws RunError where it is NaN or infinite.
inline double fit_of(char const* name, int iteration, double residual) {
  double const fit = 1 - std::sqrt(residual < 0 ? 0 : residual);  // NaN stays
  if (!std::isfinite(fit))
    throw RunError(concatenate(name, ": the fit of iteration ", iteration, " is ",
                               std::isnan(fit) ? std::abs(fit) : fit,
                               ": the numbers are too large for this precision"));
  return fit;
}

/// Whether each of the last `changes` changes of the fit was below the tolerance.
inline bool fit_has_settled(std::vector<double> const& fits, std::size_t changes,
                            double tolerance) {
  if (fits.size() <= changes) return false;
  for (std::size_t k = fits.size() - changes; k < fits.size(); ++k)
    if (!(std::abs(fits[k] - fits[k - 1]) < tolerance)) return false;
  return true;
}

/// The loop of all methods: iterations of the solver, which appends to the state, until it has
/// converged, those of the options are done, or the observer of one of the processes returns false.
/// A state that has converged already is left as it is. Gives what all results have; the score is
/// the last value.
template <class Solver, class State, class Options>
RunResult iterate(Communicator const& processes, Solver& solver, State const& state,
                  Options const& options, Observer const& observer, KernelTimes const& times) {
  RunResult result;
  while (!solver.has_converged() && state.iterations() < options.iterations) {
    solver.iterate();
    if (!observer) continue;
    bool const goes_on = observer(state.info(state.iterations() - 1));
    if (!is_so_on_all(processes, "answers of observers", goes_on)) {
      result.stop = StopReason::observer;
      break;
    }
  }
  result.converged = solver.has_converged();
  if (result.converged) result.stop = StopReason::converged;
  for (int k = 0; k < state.iterations(); ++k) {
    result.values.push_back(state.info(k).value);
    result.seconds.push_back(state.info(k).seconds);
  }
  result.model_iteration = state.iterations();
  result.start_scores = {result.value()};
  result.kernels = times.by_label();
  result.seed = options.seed;
  return result;
}

}  // namespace sporades::detail
