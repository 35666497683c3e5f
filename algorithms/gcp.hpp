// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <sporades/algorithms/detail/calls.hpp>
#include <sporades/algorithms/detail/flat_factors.hpp>
#include <sporades/algorithms/detail/gcp/check_call.hpp>
#include <sporades/algorithms/fit_memory.hpp>
#include <sporades/algorithms/run.hpp>
#include <sporades/algorithms/snapshot.hpp>
#include <sporades/core/stop.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <sporades/formats/kruskal_tensor.hpp>
#include <sporades/kernels/loss_samples.hpp>

/// Generalised CP decomposition, GCP, for any loss f (kernels/loss.hpp), and for missing data:
///   X ~ M = sum_r weights(r) A_0(:,r) o ... o A_{N-1}(:,r),   L = sum f(x, m) as small as can be
/// Absent entries are zeros or missing, as the options say. All factors are variables at once.
/// - L and its gradient are exact where absent entries are missing, where zeros have a closed form
///   (kernels/loss_gradient.hpp) and where all cells are enumerated; else zeros are sampled in
///   proportion to the model (kernels/loss_samples.hpp): see GcpZeros.
/// - L-BFGS: the direction -H g comes of the last steps and changes of the gradient (two-loop
///   recursion), and a line search finds a step along it that meets the strong Wolfe conditions,
///   L(step) <= L + 1e-4 step L' and |L'(step)| <= 0.9 |L'|; of lbfgsb with a bound the first of
///   both. Nocedal & Wright, Numerical Optimization, 2006, Algorithms 3.5, 3.6, 7.4, 7.5.
/// - Adam and its kin step along gradients of new samples each.
/// - Where zeros are sampled, and with these methods, an iteration is an epoch of some steps. It is
///   undone where the loss by the same draws has risen, and the next one is more careful.
/// - Where f(0, m) is concave in m >= 0, as of bernoulli-odds, L-BFGS begins with epochs in which
///   the tangent at m = 0 stands for it: a bound in closed form, as cheap as Poisson.
/// - Where m must not be below 0, factors are kept at 0 or above, by square roots or by projection:
///   see GcpMethod.
/// - A step whose loss is not finite is shortened. L never rises (where it is estimated: the
///   estimate), so that a run's last model is its best.
/// Hong, Kolda & Duersch, SIAM Review 62(1), 2020.
///
/// One seed gives one model, bit for bit, on a backend with any number of threads, except for the
/// strategies whose bits change (see cp_als.hpp).
///
///   GcpOptions options;
///   options.rank = 16;
///   options.loss = loss_from_name("huber:0.25");
///   options.absent = AbsentEntries::missing;
///   auto const result = gcp(exec, X, options);
/// In parts, so that a run can be watched, saved and continued:
///   auto problem = make_gcp_problem(exec, X, options);
///   auto state = gcp_start(exec, X, options);  // or restore<State>(exec, saved)
///   auto const result = gcp(exec, problem, options, state);
/// A loss of your own, which is compiled in the application with what follows from it:
///   #include <sporades/algorithms/definitions.hpp>
///   GcpOptionsOf<MyLoss> options;

namespace sporades {

/// How steps are found, and the bound m >= 0 is kept. Without a bound lbfgsb is plain L-BFGS, and
/// lbfgs_square_roots is refused.
enum class GcpMethod {
  automatic,  // lbfgs_square_roots where there is a bound; else adam where zeros are sampled, or
              // lbfgsb
  /// By projection: a step goes along max(0, A + step D), and entries of D are 0 where A is 0 and
  /// the gradient positive (two-metric projection: Bertsekas, SIAM J. Control Optim. 20(2), 1982;
  /// with L-BFGS of the other entries: Schmidt, Kim & Sra, in Optimization for Machine Learning,
  /// 2011).
  lbfgsb,
  /// Variables are B with A = B .* B, which have no bound. It reached far lower losses in equal
  /// time than lbfgsb on counts and binary data.
  lbfgs_square_roots,
  /// Adam: Kingma & Ba, ICLR 2015 (arXiv 1412.6980). This and the next two step along gradients of
  /// new samples each, in square roots where there is a bound. The exact part of a gradient moves
  /// rows that no sample touches, too: a step moves about 10 numbers for each of the factors.
  adam,
  /// AdaGrad: Duchi, Hazan & Singer, JMLR 12, 2011. A baseline.
  adagrad,
  /// Stochastic gradient descent, steps in proportion to the gradient. A baseline.
  sgd
};

namespace detail {
template <>
struct Names<GcpMethod> {
  static constexpr char const* kind = "GCP method";
  static constexpr char const* list[] = {"automatic", "lbfgsb",  "lbfgs_square_roots",
                                         "adam",      "adagrad", "sgd"};
};
}  // namespace detail

/// How the part of the zeros of L is computed, where absent entries are zeros.
enum class GcpZeros {
  automatic,    // closed_form where there is one; enumeration of few cells; else samples
  closed_form,  // exact: f(0, m) is a polynomial of m of degree 3 or less (loss_gradient.hpp)
  enumeration,  // exact: all cells are computed (loss_enumeration.hpp)
  samples       // cells drawn in proportion to the model (loss_samples.hpp)
};

namespace detail {
template <>
struct Names<GcpZeros> {
  static constexpr char const* kind = "way to the zeros' part";
  static constexpr char const* list[] = {"automatic", "closed_form", "enumeration", "samples"};
};
}  // namespace detail

/// How methods of GCP go on. 0 stands for what was measured to be good. L-BFGS draws 8 cells an
/// entry, 2^16 to 2^20; with fewer than the zeros' mass (loss_samples.hpp) its epochs come to be
/// undone. adam and so on draw 2048.
struct GcpTuning {
  GcpZeros zeros = GcpZeros::automatic;
  Position samples = 0;   // of a gradient: drawn cells
  Position nonzeros = 0;  // of a gradient of adam, adagrad and sgd: drawn entries; 0: all of them
  int history = 5;        // steps that L-BFGS knows of; 0: steepest descent
  int epoch = 0;          // steps of an iteration where zeros are sampled, or of adam and so on
  double rate = 0;        // of adam and so on: a step's length beside the variables'
  double decay = 0.1;     // of rate, or of L-BFGS's epoch, by each iteration that is undone
  int most_failures = 3;  // iterations that may be undone; one more ends the run
};

/// Where GCP starts.
enum class GcpInit {
  random,  // random factors of the seed, scaled to X
  given    // a KruskalTensor that is passed to gcp_start
};

namespace detail {
template <>
struct Names<GcpInit> {
  static constexpr char const* kind = "start of GCP";
  static constexpr char const* list[] = {"random", "given"};
};
}  // namespace detail

/// What GCP with a loss of this type is asked for.
template <class LossType>
struct GcpOptionsOf : RunOptions {
  using Loss = LossType;

  int rank = 16;  // R
  Loss loss{};    // of AnyLoss: GaussianLoss
  AbsentEntries absent = AbsentEntries::zero;
  bool non_negative = false;  // factors and weights >= 0, where the loss does not ask for it
  GcpMethod method = GcpMethod::automatic;
  GcpTuning tuning = {};
  int iterations = 1000;    // at most
  double tolerance = 1e-8;  // stops when two iterations each lower the loss by less than this part
                            // of its magnitude (or of a millionth of all that the run has lowered
                            // it, if that is more); 0 goes on until no step lowers it
  GcpInit init = GcpInit::random;
  MttkrpStrategy strategy = MttkrpStrategy::automatic;
};

/// What GCP with one of our losses is asked for.
using GcpOptions = GcpOptionsOf<AnyLoss>;

/// A tensor made ready for GCP by make_gcp_problem. It holds for one rank, strategy and kind of
/// absent entries.
template <class Scalar, class Index, class MemorySpace>
struct GcpProblem {
  Dims dims;
  LossSamplesPlan<Scalar, Index, MemorySpace> plan;  // of no samples where nothing is drawn
  int rank = 0;
  AbsentEntries absent = AbsentEntries::zero;
  GcpZeros zeros = GcpZeros::closed_form;  // how they are computed; never automatic
  std::string reason;                      // why so
  Communicator processes;                  // that share the entries
  std::vector<RowMap> factor_rows;  // per mode, rows of a model that are here; of one process none
};

/// What is known of a finished iteration.
struct GcpIteration {
  double loss = 0;      // at its end
  double gradient = 0;  // length of the gradient by the variables at its end, without entries that
                        // a bound holds
  double step = 0;      // along the direction of L-BFGS; 0 where no step lowered the loss; or the
                        // rate of adam and so on
  double error = 0;     // standard error of the loss; 0 where it is exact
  bool undone = false;  // the loss would have risen, and the model is that of before
  bool bare = false;    // its steps took the tangent at m = 0 in place of the zeros' part
  bool raised = false;  // no step was taken, but square roots raised that were nearly 0
  std::int64_t evaluations = 0;  // of the loss and its gradient
  double seconds = 0;            // wall-clock time
};

/// All that GCP carries from one iteration to the next: continued from here, a run gives the same
/// bits as one that was never stopped. Copies share the memory; a snapshot does not. `factors` are
/// the variables, A[n]: I_n x R, and lie in `entries`, which holds their memory. Arrays of its
/// snapshot: factor-n, step-k-n and change-k-n of each pair k, from the oldest (of adam
/// and adagrad: the first moments, and roots of the second), begun (pairs, and
/// three that are 0 or 1: is_random, has_begun, square_roots), start_loss, iterations (nine
/// doubles each, in the order of GcpIteration).
template <class ScalarType, class MemorySpaceType>
struct GcpState : detail::FlatFactors<ScalarType, MemorySpaceType> {
  using Scalar = ScalarType;
  using MemorySpace = MemorySpaceType;
  using Variables = detail::FlatFactors<Scalar, MemorySpace>;

  std::vector<Variables> steps, changes;  // of variables and gradient, the oldest first
  bool is_random = false;     // a random start, which a run scales to X before its first iteration
  bool has_begun = false;     // a run has done so, and has balanced the columns
  bool square_roots = false;  // then: variables are B, and the factors B .* B
  double start_loss = 0;      // before the first iteration, of a state that has begun
  std::vector<GcpIteration> history;  // of every finished iteration

  int order() const { return static_cast<int>(this->factors.size()); }
  int rank() const { return order() == 0 ? 0 : static_cast<int>(this->factors[0].extent(1)); }
  int iterations() const { return static_cast<int>(history.size()); }  ///< finished ones
  /// What an observer saw of finished iteration k, from 0: its value is minus the loss.
  IterationInfo info(int k) const {
    auto const& now = history[static_cast<std::size_t>(k)];
    double const before = k > 0 ? history[static_cast<std::size_t>(k) - 1].loss
                                : std::numeric_limits<double>::infinity();
    return {0, k + 1, -now.loss, before - now.loss, now.seconds};
  }
};

/// The model that a run ended with, and how it got there. values and start_scores are minus the
/// losses.
template <class Scalar, class MemorySpace>
struct GcpResult : RunResult {
  KruskalTensor<Scalar, MemorySpace> model;  // weights descending, columns of length 1
  std::vector<GcpIteration> history;         // of every iteration
  /// Whether the last iteration found no step that lowers the loss, or more epochs were undone than
  /// may be: the run ended there. Where the gradient is not small by then, the loss is no longer
  /// finite, or not smooth, beside the model, or samples are too few.
  bool is_stuck = false;

  /// The loss of the model: exact, with an error of 0, or estimated by samples that the run has not
  /// seen.
  LossEstimate of_model{};

  double loss() const { return of_model.value; }
};

namespace detail {
template <class Scalar, class Index, class MemorySpace>
struct MethodTypes<GcpProblem<Scalar, Index, MemorySpace>> {
  using State = GcpState<Scalar, MemorySpace>;
  using Result = GcpResult<Scalar, MemorySpace>;
};
}  // namespace detail

/// Makes X ready: plans MTTKRP on all modes, which gradients take, and room for draws. X: entries
/// in any order, zeros among them or not; values of equal coordinates are added where absent
/// entries are zeros, and are several observations where they are missing. The problem keeps X or
/// its sums beside the plan. Cost: a sort a mode. Nothing is streamed. Fences exec. Throws Error
/// where
/// - options are out of range, or ask for streaming,
/// - X has no entries, has an index past its mode, or holds NaN or infinity,
/// - the loss has another lower bound than 0, or does not allow zeros that are absent entries,
/// - zeros are asked for in a way that they do not have: in closed form (see loss_value.hpp), by
///   enumeration of too many cells, or by samples of a loss with a pole at m = 0, or by L-BFGS
///   without a bound.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Loss>
GcpProblem<Scalar, Index, MemorySpace> make_gcp_problem(ExecutionSpace const& exec,
                                                        CooTensor<Scalar, Index, MemorySpace> X,
                                                        GcpOptionsOf<Loss> const& options) {
  if constexpr (detail::check_gcp_call<ExecutionSpace, Scalar, Index, MemorySpace, Loss>())
    return detail::make_problem<GcpProblem<Scalar, Index, MemorySpace>>(exec, hand_over(X),
                                                                        options);
}

/// make_gcp_problem of a tensor whose entries are those of all processes. X: the entries that this
/// process brings, any of them, with the dims of the whole. Each process gets as many of them, and
/// all rows of factors: an evaluation computes its entries, and its part of cells that are
/// enumerated, then sends about twice the bytes of the factors. Cells are drawn on all alike. The
/// loss and gradient are those of one process but for the order of sums. States have all rows;
/// models, that are given or returned, those that problem.factor_rows says. Collective. Fences
/// exec. Throws as on one process, and Error where dims disagree or options.memory is set.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Loss>
GcpProblem<Scalar, Index, MemorySpace> make_gcp_problem(Communicator const& processes,
                                                        ExecutionSpace const& exec,
                                                        CooTensor<Scalar, Index, MemorySpace> X,
                                                        GcpOptionsOf<Loss> const& options) {
  if constexpr (detail::check_gcp_call<ExecutionSpace, Scalar, Index, MemorySpace, Loss>())
    return detail::make_problem<GcpProblem<Scalar, Index, MemorySpace>>(
        processes, exec, hand_over(X), options, nullptr);
}

/// The state before the first iteration of a `random` start: numbers of [0, 1), or of [-1, 1) where
/// factors may have any sign, which depend on the seed, the rank and X's dims. When a run begins,
/// factors of any sign become minus the gradient that they have near m = 0; rows of others are
/// multiplied by minus the gradient of equal entries there, or 0 where that is less (for
/// PoissonLoss nearly the sums of X's slices). All are scaled
/// - so that the norm of the model is that of X (over the given entries, where others are missing),
/// - where m >= 0, then by the power of two that gives the least loss,
/// and columns so that those of the variables of a component have the same length in all modes.
/// Fences exec. Throws Error if the options say `given`, or are out of range.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Loss>
GcpState<Scalar, MemorySpace> gcp_start(ExecutionSpace const& exec,
                                        CooTensor<Scalar, Index, MemorySpace> const& X,
                                        GcpOptionsOf<Loss> const& options) {
  if constexpr (detail::check_gcp_call<ExecutionSpace, Scalar, Index, MemorySpace, Loss>())
    return detail::first_start<GcpProblem<Scalar, Index, MemorySpace>>(exec, X, options);
}

/// gcp_start of a `random` start for a problem, whose processes each get all rows. Collective.
/// Fences exec. Throws Error as on one process.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Loss>
GcpState<Scalar, MemorySpace> gcp_start(ExecutionSpace const& exec,
                                        GcpProblem<Scalar, Index, MemorySpace> const& problem,
                                        GcpOptionsOf<Loss> const& options) {
  if constexpr (detail::check_gcp_call<ExecutionSpace, Scalar, Index, MemorySpace, Loss>())
    return detail::random_start(exec, problem, options);
}

/// The state before the first iteration of a given start, whose factors, I_n x R in any memory
/// space, are copied. Its columns are balanced when a run begins, and not scaled. Square roots
/// cannot leave 0: with these, entries below 1e-6 of their column's mean are raised to that. Fences
/// exec. Throws Error if its rank or dims are not those of the options and dims, it is not finite,
/// or it has an entry or weight below 0 where m >= 0.
template <class ExecutionSpace, class Scalar, class StartSpace, class Loss>
GcpState<Scalar, typename ExecutionSpace::memory_space> gcp_start(
    ExecutionSpace const& exec, Dims const& dims, GcpOptionsOf<Loss> const& options,
    KruskalTensor<Scalar, StartSpace> const& start) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  if constexpr (detail::check_gcp_call<ExecutionSpace, Scalar, std::uint32_t, MemorySpace, Loss>())
    return detail::start_of_model<GcpProblem<Scalar, std::uint32_t, MemorySpace>>(exec, dims,
                                                                                  options, start);
}

/// gcp_start of a given start for a problem, whose processes each hand in their rows of the
/// factors: of mode n those that problem.factor_rows[n] says, or all on one process. Collective.
/// Fences exec. Throws Error as on one process.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class StartSpace,
          class Loss>
GcpState<Scalar, MemorySpace> gcp_start(ExecutionSpace const& exec,
                                        GcpProblem<Scalar, Index, MemorySpace> const& problem,
                                        GcpOptionsOf<Loss> const& options,
                                        KruskalTensor<Scalar, StartSpace> const& start) {
  if constexpr (detail::check_gcp_call<ExecutionSpace, Scalar, Index, MemorySpace, Loss>())
    return detail::start_of_model(exec, problem, options, start);
}

/// Goes on from the state, which is changed, until two iterations lower the loss by less than the
/// tolerance says, no step lowers it, all iterations are done or the observer returns false.
/// options.init and options.starts are not read. A state that has converged already is left as it
/// is. An iteration costs one to two losses with their gradients, as a rule, and passes over the
/// factors: about 4 history + 8, or 7 history + 10 with the bound of lbfgsb. Fences exec. Throws
/// - Error if the state does not fit the problem and options, or the loss does not allow an entry,
///   of which the message names the first,
/// - RunError where the loss of the start is not finite,
/// - Stopped where options.stop says so.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Loss>
GcpResult<Scalar, MemorySpace> gcp(ExecutionSpace const& exec,
                                   GcpProblem<Scalar, Index, MemorySpace>& problem,
                                   GcpOptionsOf<Loss> const& options,
                                   GcpState<Scalar, MemorySpace>& state,
                                   Observer const& observer = {}) {
  if constexpr (detail::check_gcp_call<ExecutionSpace, Scalar, Index, MemorySpace, Loss>())
    return detail::run_from(exec, problem, options, state, observer);
}

/// The whole decomposition: from one start, or from several random ones, of which the model of the
/// least loss is returned. Where factors may have any sign, the first is the best of three random
/// starts after 20 iterations (of adam and its like: one), or options.iterations if they are fewer.
/// Cost and errors are those of make_gcp_problem, gcp_start and gcp on a problem. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Loss>
GcpResult<Scalar, MemorySpace> gcp(ExecutionSpace const& exec,
                                   CooTensor<Scalar, Index, MemorySpace> X,
                                   GcpOptionsOf<Loss> const& options,
                                   Observer const& observer = {}) {
  if constexpr (detail::check_gcp_call<ExecutionSpace, Scalar, Index, MemorySpace, Loss>())
    return detail::decompose<GcpProblem<Scalar, Index, MemorySpace>>(exec, hand_over(X), options,
                                                                     observer);
}

/// gcp of the entries of all processes, which each calls with those that it brings: see
/// make_gcp_problem. The model has the rows of factors that this process owns. Collective. Fences
/// exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Loss>
GcpResult<Scalar, MemorySpace> gcp(Communicator const& processes, ExecutionSpace const& exec,
                                   CooTensor<Scalar, Index, MemorySpace> X,
                                   GcpOptionsOf<Loss> const& options,
                                   Observer const& observer = {}) {
  if constexpr (detail::check_gcp_call<ExecutionSpace, Scalar, Index, MemorySpace, Loss>())
    return detail::decompose<GcpProblem<Scalar, Index, MemorySpace>>(processes, exec, hand_over(X),
                                                                     options, observer);
}

}  // namespace sporades

#include <sporades/algorithms/detail/gcp/refuse_types.hpp>
#include <sporades/algorithms/detail/gcp/state_arrays.hpp>
#include <sporades/eti/gcp_memory.hpp>
#include <sporades/eti/gcp_method.hpp>
