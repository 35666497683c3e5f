// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <sporades/algorithms/detail/calls.hpp>
#include <sporades/algorithms/detail/iterate.hpp>
#include <sporades/algorithms/fit_memory.hpp>
#include <sporades/algorithms/run.hpp>
#include <sporades/algorithms/snapshot.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <sporades/formats/kruskal_tensor.hpp>
#include <sporades/kernels/mttkrp_all_modes_plan.hpp>

/// Tensor completion by alternating least squares: what the entries would be that are not known.
///   x_i ~ m_i = mean + sum_n o_n(i_n) + sum_r prod_n A_n(i_n, r)
/// Offset o_n(i) is what index i of mode n adds to all its entries: a user rates high, a film is
/// liked. The entries p that are known alone count. With c_n(i), how many of them have index i of
/// mode n, a run minimises
///   sum_p (x_p - m_p)^2 + sum_n sum_i c_n(i)^power (lambda_n ||A_n(i, :)||^2 + lambda_o o_n(i)^2)
///     + sum_n smoothness_n sum_i ||A_n(i, :) - A_n(i-1, :)||^2
/// mode by mode, each row's coefficients and its offset together (kernels/normal_equations.hpp);
/// of modes with smoothness every second row before the others, so that no step raises it. Where
/// second differences are to be small, A_n(i-1, :) - 2 A_n(i, :) + A_n(i+1, :), a trend costs
/// nothing, and rows are solved in three groups, every third one. An index without entries has
/// coefficients of 0, or where its mode is smooth near those of its neighbours or their trend.
///
/// Entries can be held out, to say when further iterations only learn the others by heart. The
/// model is a Kruskal tensor that predict, evaluate and model_values take as any: R components,
/// then one for the offsets of each mode, whose other columns are constant, and one for the mean.
///
/// One seed gives one model, bit for bit, on a backend with any number of threads.
/// Zhou, Wilkinson, Schreiber & Pan, AAIM 2008 (counts in the penalty); Koren, Bell & Volinsky,
/// Computer 42(8), 2009 (offsets); Smith, Park & Karypis, SC16 (tensors).
///
///   CompleteOptions options;
///   options.rank = 10;
///   options.holdout = 0.1;
///   auto const result = complete(exec, X, options);

namespace sporades {

/// Where a completion starts.
enum class CompleteInit {
  random,  // random_factors of the seed, and offsets of 0
  given    // a KruskalTensor of such a model that is passed to complete_start
};

namespace detail {
template <>
struct Names<CompleteInit> {
  static constexpr char const* kind = "start of complete";
  static constexpr char const* list[] = {"random", "given"};
};
}  // namespace detail

/// What large coefficients cost.
struct CompletePenalty {
  std::vector<double> lambda{1.2};   // of coefficients: one for all modes, or one of each
  double offsets = 1.5;              // lambda_o
  double power = 0.4;                // of the number of a row's entries, up to 1; without offsets
                                     // it is to be 0
  std::vector<double> smoothness{};  // of each mode; none: 0
  std::vector<int> differences{};    // of each mode, 1 or 2, that are smooth; none: 1
};

/// What a completion is asked for.
struct CompleteOptions : RunOptions {
  int rank = 10;            // R
  int iterations = 200;     // at most
  double tolerance = 1e-5;  // stops when the error of the entries that are learned changes by less
                            // than this part of it, five times in a row; 0 runs all iterations
  CompleteInit init = CompleteInit::random;
  bool offsets = true;  // else m is the sum of components alone
  CompletePenalty penalty = {};
  double holdout = 0;  // part of the entries that is held out, by their coordinates and the seed
  int patience = 10;   // stops after so many iterations without a lesser error of those; the model
                       // is that of the least
  MttkrpStrategy strategy = MttkrpStrategy::automatic;  // or sorted, or fibers
};

/// A tensor made ready by make_complete_problem. It holds for one rank, strategy, part held out and
/// seed, with offsets or without.
template <class Scalar, class Index, class MemorySpace>
struct CompleteProblem {
  Dims dims;
  MttkrpAllModesPlan<Scalar, Index, MemorySpace> products;  // of the entries that are learned
  CooTensor<Scalar, Index, MemorySpace> held;               // and of those held out; less the mean
  double mean = 0;                                          // of the former; 0 without offsets
  double norm_squared = 0;                                  // of the former, less the mean
  Position nnz = 0;                                         // their number
  int rank = 0;                                             // of components
  bool offsets = true;
  Communicator processes;
};

/// All that a completion carries from one iteration to the next: continued from here, a run gives
/// the same bits as one that was never stopped. Copies share the factors' memory; a snapshot does
/// not. Arrays of its snapshot: factor-n, errors, held-errors, seconds, kept-iteration, and where
/// that is not 0, kept-factor-n.
template <class ScalarType, class MemorySpaceType>
struct CompleteState {
  using Scalar = ScalarType;
  using MemorySpace = MemorySpaceType;

  Factors<Scalar, MemorySpace> factors;  // A[n]: I_n x C, of make_matrix; C = R, and with offsets
                                         // R + N: column R + n is o_n, in other modes ones
  std::vector<double> errors;            // root mean square of x_p - m_p, of every iteration
  std::vector<double> held_errors;       // and of entries held out, if there are any
  std::vector<double> seconds;           // of every finished iteration
  std::uint64_t kept_iteration = 0;  // from 1: that of the least error held out; 0: none is kept
  Factors<Scalar, MemorySpace> kept_factors = {};  // of that iteration, as factors

  int order() const { return static_cast<int>(factors.size()); }
  int rank() const { return factors.empty() ? 0 : static_cast<int>(factors[0].extent(1)); }  ///< C
  int iterations() const { return static_cast<int>(errors.size()); }  ///< finished ones
  /// What an observer saw of finished iteration k, from 0: value is minus the error, held out if
  /// entries are.
  IterationInfo info(int k) const {
    auto const& of = held_errors.empty() ? errors : held_errors;
    auto now = detail::fit_info(of, seconds, k);
    now.value = -now.value;
    if (k > 0) now.change = -now.change;
    return now;
  }
};

/// The model that a run ended with, and how it got there.
template <class Scalar, class MemorySpace>
struct CompleteResult : RunResult {
  KruskalTensor<Scalar, MemorySpace> model;  // R components, weights descending, signs fixed; then
                                             // with offsets those of each mode, and the mean
  std::vector<double> errors, held_errors;   // as the state has them

  /// Root mean square of what the model leaves of the entries that were learned, and of those held
  /// out; 0 where there are none.
  double error() const { return model_iteration == 0 ? 0 : errors[model_iteration - 1]; }
  double held_error() const {
    return model_iteration == 0 || held_errors.empty() ? 0 : held_errors[model_iteration - 1];
  }
};

namespace detail {
template <class Scalar, class Index, class MemorySpace>
struct MethodTypes<CompleteProblem<Scalar, Index, MemorySpace>> {
  using State = CompleteState<Scalar, MemorySpace>;
  using Result = CompleteResult<Scalar, MemorySpace>;
};
}  // namespace detail

/// Makes X ready: parts its entries, takes the mean from them, and sorts them for every mode. X:
/// entries in any order; each counts as often as it is given. Nothing of X is used after; if it is
/// handed over (hand_over), its memory is given back as early as can be. Cost: a sort a mode.
/// Fences exec. Throws Error for options out of range, and where X has no entries or none to learn
/// from, has an index past its mode, holds NaN or infinity (saying where), or exec cannot access
/// it.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CompleteProblem<Scalar, Index, detail::WorkSpace<ExecutionSpace, MemorySpace>>
make_complete_problem(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> X,
                      CompleteOptions const& options) {
  using Problem = CompleteProblem<Scalar, Index, detail::WorkSpace<ExecutionSpace, MemorySpace>>;
  if constexpr (detail::check_maker<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::make_problem<Problem>(exec, hand_over(X), options);
}

/// make_complete_problem of the entries of all processes. Throws Error where there are several.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CompleteProblem<Scalar, Index, MemorySpace> make_complete_problem(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> X, CompleteOptions const& options,
    CompleteState<Scalar, MemorySpace>* start = nullptr) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::make_problem<CompleteProblem<Scalar, Index, MemorySpace>>(
        processes, exec, hand_over(X), options, start);
}

/// The state before the first iteration of a random start. Fences exec. Throws Error if the options
/// say `given`, or the rank is out of range.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CompleteState<Scalar, MemorySpace> complete_start(ExecutionSpace const& exec,
                                                  CooTensor<Scalar, Index, MemorySpace> const& X,
                                                  CompleteOptions const& options) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::first_start<CompleteProblem<Scalar, Index, MemorySpace>>(exec, X, options);
}

/// The state before the first iteration of a given start, for options with init `given`: a model as
/// complete returns it for these dims, rank and offsets. Its last components are taken as offsets,
/// which are constant in the other modes, and the mean. Components get one scale in all modes, and
/// its mean is not used: the problem has one. Fences exec. Throws Error where its rank or dims are
/// others, or a number is not finite.
template <class ExecutionSpace, class Scalar, class StartSpace>
CompleteState<Scalar, typename ExecutionSpace::memory_space> complete_start(
    ExecutionSpace const& exec, Dims const& dims, CompleteOptions const& options,
    KruskalTensor<Scalar, StartSpace> const& start) {
  using Problem = CompleteProblem<Scalar, std::uint32_t, typename ExecutionSpace::memory_space>;
  if constexpr (detail::check_held<ExecutionSpace, Scalar, std::uint32_t, StartSpace>())
    return detail::start_of_model<Problem>(exec, dims, options, start);
}

/// complete_start of a given start for a problem. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class StartSpace>
CompleteState<Scalar, MemorySpace> complete_start(
    ExecutionSpace const& exec, CompleteProblem<Scalar, Index, MemorySpace> const& problem,
    CompleteOptions const& options, KruskalTensor<Scalar, StartSpace> const& start) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>() &&
                detail::check_held<ExecutionSpace, Scalar, Index, StartSpace>())
    return detail::start_of_model(exec, problem, options, start);
}

/// Goes on from the state, which is changed, until the error changes by less than the tolerance, or
/// that of entries held out has not fallen for options.patience iterations, all iterations are done
/// or the observer returns false. A state that has converged already is left as it is.
/// options.starts is not read.
///
/// An iteration costs N nnz C^2 / 2 multiply-adds and I_n R^3 / 6 a mode, and reads and writes I_n
/// C^2 / 2 numbers a mode. Fences exec. Throws Error if the state does not fit the problem and
/// options, RunError where an error is NaN or infinite, or a weight of the model is past the range
/// of Scalar, Stopped where options.stop says so.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CompleteResult<Scalar, MemorySpace> complete(ExecutionSpace const& exec,
                                             CompleteProblem<Scalar, Index, MemorySpace>& problem,
                                             CompleteOptions const& options,
                                             CompleteState<Scalar, MemorySpace>& state,
                                             Observer const& observer = {}) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::run_from(exec, problem, options, state, observer);
}

/// The whole completion: from one start or from several, of which the model of the least error is
/// returned, held out if entries are. Cost and errors are those of make_complete_problem,
/// complete_start and complete on a problem. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CompleteResult<Scalar, MemorySpace> complete(ExecutionSpace const& exec,
                                             CooTensor<Scalar, Index, MemorySpace> X,
                                             CompleteOptions const& options,
                                             Observer const& observer = {}) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::decompose<CompleteProblem<Scalar, Index, MemorySpace>>(exec, hand_over(X),
                                                                          options, observer);
}

/// complete of the entries of all processes. Throws Error where there are several.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CompleteResult<Scalar, MemorySpace> complete(Communicator const& processes,
                                             ExecutionSpace const& exec,
                                             CooTensor<Scalar, Index, MemorySpace> X,
                                             CompleteOptions const& options,
                                             Observer const& observer = {}) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::decompose<CompleteProblem<Scalar, Index, MemorySpace>>(
        processes, exec, hand_over(X), options, observer);
}

}  // namespace sporades

#include <sporades/algorithms/detail/complete/refuse_types.hpp>
#include <sporades/algorithms/detail/complete/state_arrays.hpp>
#include <sporades/eti/complete_memory.hpp>
#include <sporades/eti/complete_method.hpp>
