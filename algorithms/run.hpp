// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <sporades/core/stop.hpp>
#include <sporades/core/timer.hpp>
#include <sporades/kernels/streaming.hpp>
#include <string>
#include <vector>

/// What the runs of CP-ALS, CP-APR, GCP, Tucker and complete have in common: options, how they are
/// watched, why they end, and what their results tell beside the model.

namespace sporades {

/// What all methods are asked for; the options of each begin with these.
struct RunOptions {
  std::uint64_t seed = 1;  // of the random start
  int starts = 1;  // that of singular vectors, if `init` has it, and random ones, of seeds by
                   // seed_of_start; the best model is returned
  std::uint64_t memory = 0;   // bytes that a run may take where it computes: see fit_memory.hpp; 0:
                              // what is left
  Streaming streaming = {};   // where the nonzeros, a copy a mode included, take too much memory
  bool time_kernels = false;  // seconds by kernel, at the cost of a fence around each
  StopCheck stop = {};  // asked within iterations; true ends the run by Stopped, its state is void
};

/// Why a run ended.
enum class StopReason {
  converged,   // the tolerance of the options was met
  iterations,  // all iterations of the options were done
  observer     // the observer returned false
};

/// "converged", "all iterations done" or "stopped by the observer".
inline char const* to_string(StopReason reason) {
  constexpr char const* names[] = {"converged", "all iterations done", "stopped by the observer"};
  return names[static_cast<int>(reason)];
}

/// What an observer sees of an iteration that has ended.
struct IterationInfo {
  int start = 0;       // which of the starts it belongs to, from 0
  int iteration = 0;   // iterations of this start that have ended, this one included
  double value = 0;    // the fit, for CP-APR the log-likelihood, for GCP minus the loss, for
                       // complete minus the error
  double change = 0;   // of the value since the iteration before; infinity in the first
  double seconds = 0;  // wall-clock time of this iteration
};

/// Called after each iteration on the thread that called the method, when all work of the iteration
/// is done. Returns true to go on and false to stop: the result is then the model so far, its
/// `stop` is StopReason::observer, and no further start begins. Of several processes either all
/// have an observer or none has; where it returns false on one of them, all stop.
///   auto const result = cp_als(exec, X, options, [](IterationInfo const& now) {
///     std::printf("start %d, iteration %d: fit %.6f\n", now.start, now.iteration, now.value);
///     return now.change > 1e-6;
///   });
/// Where a run begins from a state, that state is up to date when the observer is called, and tells
/// more. Here it is saved, so that the run can go on later:
///   auto state = cp_als_start(exec, X, options);
///   auto const result = cp_als(exec, problem, options, state, [&](IterationInfo const& now) {
///     if (now.iteration % 10 == 0) save(snapshot(exec, state));
///     return true;
///   });
using Observer = std::function<bool(IterationInfo const&)>;

/// What the results of all methods have. In a run that goes on from a snapshot, the iterations
/// before it count too.
struct RunResult {
  StopReason stop = StopReason::iterations;
  bool converged = false;       // the model's start met the tolerance
  std::vector<double> values;   // what observers saw as IterationInfo::value, of every iteration
  std::vector<double> seconds;  // of every iteration
  std::map<std::string, KernelTime> kernels;  // by label, where options.time_kernels
  std::vector<double> start_scores;           // that value of the model of each start that ended
  int start = 0;                              // which of the starts gave the model, from 0
  std::uint64_t seed = 0;                     // of that start
  int model_iteration = 0;  // that the model is of, from 1: the last, or where fits fell, the best

  /// Finished ones, of the start that gave the model.
  int iterations() const { return static_cast<int>(values.size()); }
  /// That value of the model; 0 where there was no iteration.
  double value() const { return model_iteration == 0 ? 0 : values[model_iteration - 1]; }
  /// Whether an observer ended the run.
  bool is_stopped() const { return stop == StopReason::observer; }
};

}  // namespace sporades
