// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/calls.hpp>
#include <sporades/algorithms/detail/iterate.hpp>
#include <sporades/algorithms/fit_memory.hpp>
#include <sporades/algorithms/run.hpp>
#include <sporades/algorithms/snapshot.hpp>
#include <sporades/core/stop.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <sporades/formats/kruskal_tensor.hpp>
#include <sporades/kernels/absent_entries.hpp>
#include <sporades/kernels/detail/processes/home_order.hpp>
#include <sporades/kernels/mttkrp_all_modes_plan.hpp>

/// CP decomposition by alternating least squares, CP-ALS:
///   X ~ M = sum_r weights(r) A_0(:,r) o ... o A_{N-1}(:,r)
/// Modes are updated from 0 to N-1. For each,
///   A_n = X_(n) K (K^T K + mu I)^-1,  K = the Khatri-Rao product of the other factors,
/// and the columns of A_n are normalised to length 1; their lengths become the weights. The first
/// iteration starts from the factors as they were given.
///   fit = 1 - ||X - M|| / ||X||
/// comes from the last mode's MTTKRP. A numerically singular K^T K is replaced by its
/// pseudo-inverse. Systems are solved in double: what is ill-conditioned, by factors. X is scaled
/// by a power of two first: a tensor times 2^k has the same factors, bit for bit, and weights times
/// 2^k. Carroll & Chang 1970, Harshman 1970; Kolda & Bader, SIAM Review 51(3), 2009, Figure 3.3.
///
/// Where absent entries are `missing`, only the entries given count, each time that one is given.
/// Each row i of A_n then has its own system, of the entries with that index
/// (kernels/normal_equations.hpp): what these do not determine is 0. And
///   fit = 1 - sqrt(sum_p (x_p - m_p)^2 / sum_p x_p^2),   over the entries p.
///
/// One seed gives one model, bit for bit, on a backend with any number of threads, except for
/// strategies `atomic`, `duplicated` and `alto_atomic`, and on GPUs `flycoo_blocks`.
///
///   CpAlsOptions options;
///   options.rank = 16;
///   auto const result = cp_als(exec, X, options);
/// In parts, so that a run can be watched, saved and continued:
///   auto problem = make_cp_als_problem(exec, X, options);
///   auto state = cp_als_start(exec, X, options);  // or restore<State>(exec, saved)
///   auto const result = cp_als(exec, problem, options, state);

namespace sporades {

/// Where CP-ALS starts.
enum class CpAlsInit {
  random,    // random_factors of the seed
  hosvd,     // leading left singular vectors of the unfoldings
  given,     // a KruskalTensor that is passed to cp_als_start
  automatic  // singular vectors after a few steps and the random start do 3 iterations each, and
             // the better one goes on; of several starts the first is of those vectors; `random`
             // where they would take over 2 GB
};

namespace detail {
template <>
struct Names<CpAlsInit> {
  static constexpr char const* kind = "start of CP-ALS";
  static constexpr char const* list[] = {"random", "hosvd", "given", "automatic"};
};
}  // namespace detail

/// What CP-ALS is asked for.
struct CpAlsOptions : RunOptions {
  int rank = 16;            // R
  int iterations = 50;      // at most
  double tolerance = 1e-5;  // stops when the fit changes by less; 0 runs all iterations
  CpAlsInit init = CpAlsInit::automatic;
  bool non_negative = false;                   // factors and weights >= 0
  double regularization = 0;                   // mu: minimises ||X - M||^2 + mu sum_r weights_r^2
  AbsentEntries absent = AbsentEntries::zero;  // `missing`: by strategies sorted and fibers,
                                               // without slices, not non_negative, and ranks up to
                                               // most_normal_rank
  MttkrpStrategy strategy = MttkrpStrategy::automatic;
  bool dimension_tree = true;  // products of several modes share a part, where that pays
  GatherPrecision gather = GatherPrecision::full;  // with sorted and fibers; the last mode in full
  int slices = 1;                                  // of a mode: see MttkrpOptions
};

/// A tensor made ready for CP-ALS by make_cp_als_problem. It holds for one rank and strategy.
template <class Scalar, class Index, class MemorySpace>
struct CpAlsProblem {
  Dims dims;
  MttkrpAllModesPlan<Scalar, Index, MemorySpace> products;  // of X 2^-exponent
  double norm_squared = 0;                                  // of X 2^-exponent
  int exponent = 0;  // the largest magnitude of X 2^-exponent is in [1, 2)
  Position nnz = 0;  // each coordinate once, unless absent entries are missing
  detail::OutOfCoreMemory
      out_of_core;         // where X is in out-of-core memory that a strategy may share: holds it
  Communicator processes;  // that share X
  detail::HomeOrder<MemorySpace> homes;  // with slices: the order of rows in `products`

  /// The rows of mode n of given starts and of models that this process has.
  RowMap rows_of(int n) const {
    auto const mode = static_cast<std::size_t>(n);
    return homes.moves(mode) ? homes.rows[mode] : products.rows_of(n);
  }
  /// The rows of each mode of given starts and of models that this process has.
  std::vector<RowMap> rows() const {
    std::vector<RowMap> all;
    for (int n = 0; n < products.order(); ++n) all.push_back(rows_of(n));
    return all;
  }
};

/// All that CP-ALS carries from one iteration to the next: continued from here, a run gives the
/// same bits as one that was never stopped. Copies share the factors' memory; a snapshot does not.
/// Arrays of its snapshot: factor-n, weights, gram-n (R x R doubles a mode), fits, seconds,
/// row-order, system-kinds, kept-iteration; and where that is not 0, kept-factor-n, kept-weights.
/// A run with slices puts the factors' rows in an order of the problem's own, whose number is then
/// row_order. These rows are those that problem.products.rows_of(n) says. Models have the rows of
/// X.
template <class ScalarType, class MemorySpaceType>
struct CpAlsState {
  using Scalar = ScalarType;
  using MemorySpace = MemorySpaceType;

  Factors<Scalar, MemorySpace> factors;    // A[n]: I_n x R, of make_matrix; columns of length 1
  std::vector<double> weights;             // R
  std::vector<std::vector<double>> grams;  // A[n]^T A[n]: R x R a mode
  std::vector<double> fits;                // of every finished iteration
  std::vector<double> seconds;             // of every finished iteration
  std::uint64_t row_order = 0;             // 0: that of X; else problem.homes.id()
  std::uint64_t system_kinds = 0;          // the kinds of the last iteration's systems
  std::uint64_t kept_iteration = 0;  // from 1: whose model is better than the last; 0: none is
  Factors<Scalar, MemorySpace> kept_factors = {};  // of that iteration, as factors
  std::vector<double> kept_weights = {};           // of that iteration

  int order() const { return static_cast<int>(factors.size()); }
  int rank() const { return static_cast<int>(weights.size()); }
  int iterations() const { return static_cast<int>(fits.size()); }  ///< finished ones
  /// What an observer saw of finished iteration k, from 0.
  IterationInfo info(int k) const { return detail::fit_info(fits, seconds, k); }
};

/// The model that a run ended with, and how it got there.
template <class Scalar, class MemorySpace>
struct CpAlsResult : RunResult {
  KruskalTensor<Scalar, MemorySpace> model;  // weights descending, signs fixed
  std::uint64_t singular_systems = 0;        // how often a pseudo-inverse was taken
  int dead_components = 0;                   // of weight 0: the last ones of the model

  double fit() const { return value(); }  ///< of the model
};

namespace detail {
template <class Scalar, class Index, class MemorySpace>
struct MethodTypes<CpAlsProblem<Scalar, Index, MemorySpace>> {
  using State = CpAlsState<Scalar, MemorySpace>;
  using Result = CpAlsResult<Scalar, MemorySpace>;
};
}  // namespace detail

/// Makes X ready: sorts it for the MTTKRP of every mode, and computes its norm. X: nonzeros in any
/// order; values of equal coordinates are added. Nothing of X is used after; if it is handed over
/// (hand_over), its memory is given back as early as can be. Cost: a sort a mode, or one where the
/// strategy is `alto`. Fences exec. Throws Error for options out of range, and where X has no
/// nonzeros, has an index past its mode, is all zero, or holds NaN or infinity (saying where).
/// - An X on the host that exec, a GPU, cannot access is sorted by the host and stays there:
///   products stream it, except for copies that options.streaming.memory leaves room for. Bits are
///   those of products of copies on the GPU.
/// - On a host, an X that takes more than options.streaming says is summed, scaled and sorted by
///   parts, in files.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAlsProblem<Scalar, Index, detail::WorkSpace<ExecutionSpace, MemorySpace>> make_cp_als_problem(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> X,
    CpAlsOptions const& options) {
  using Problem = CpAlsProblem<Scalar, Index, detail::WorkSpace<ExecutionSpace, MemorySpace>>;
  if constexpr (detail::check_maker<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::make_problem<Problem>(exec, hand_over(X), options);
}

/// make_cp_als_problem of a tensor whose nonzeros are those of all processes. X: the nonzeros that
/// this process brings, any of them, with the dims of the whole. Starts and models of such a
/// problem have the rows of factors that problem.rows_of(n) says, and their bits are those of one
/// process. Strategies: sorted, fibers and alto, between which `automatic` chooses. Nothing is
/// streamed, nor fitted to a limit. Collective. Fences exec.
/// - start: null, or gets the state before the first iteration, as cp_als_start makes it of all
///   nonzeros. Not of a given start: see cp_als_start of a problem.
///
/// Throws as make_cp_als_problem of one process, and Error where dims disagree, and for streaming
/// and options.memory.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAlsProblem<Scalar, Index, MemorySpace> make_cp_als_problem(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> X, CpAlsOptions const& options,
    CpAlsState<Scalar, MemorySpace>* start = nullptr) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::make_problem<CpAlsProblem<Scalar, Index, MemorySpace>>(
        processes, exec, hand_over(X), options, start);
}

/// The state before the first iteration of any start except a given one. Its weights are 1, in the
/// problem's unit and not in that of X. For a non-negative decomposition the singular vectors are
/// taken by their absolute values. Init `hosvd` costs some tens of MTTKRPs of order 2. For init
/// `automatic` this is the start of singular vectors where there is one. Fences exec. Throws Error
/// if the options say `given`, or the rank is out of range.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAlsState<Scalar, MemorySpace> cp_als_start(ExecutionSpace const& exec,
                                             CooTensor<Scalar, Index, MemorySpace> const& X,
                                             CpAlsOptions const& options) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::first_start<CpAlsProblem<Scalar, Index, MemorySpace>>(exec, X, options);
}

/// The state before the first iteration of a given start, for options with init `given`. The
/// factors, I_n x R in any memory space, are copied, each scaled by a power of two such that its
/// largest magnitude is in [1, 2), and the weights by their inverse. Fences exec. Throws Error
/// where
/// - its rank or dims are not those of the options and dims,
/// - a factor other than that of mode 0 is all zero,
/// - a number is not finite, or negative where the options forbid it.
template <class ExecutionSpace, class Scalar, class StartSpace>
CpAlsState<Scalar, typename ExecutionSpace::memory_space> cp_als_start(
    ExecutionSpace const& exec, Dims const& dims, CpAlsOptions const& options,
    KruskalTensor<Scalar, StartSpace> const& start) {
  using Problem = CpAlsProblem<Scalar, std::uint32_t, typename ExecutionSpace::memory_space>;
  if constexpr (detail::check_held<ExecutionSpace, Scalar, std::uint32_t, StartSpace>())
    return detail::start_of_model<Problem>(exec, dims, options, start);
}

/// cp_als_start of a given start for a problem, whose processes each hand in their rows of the
/// factors: rows of mode n as problem.rows_of(n) says, which are all where there is one process.
/// Collective. Fences exec. Throws Error as on one process.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class StartSpace>
CpAlsState<Scalar, MemorySpace> cp_als_start(
    ExecutionSpace const& exec, CpAlsProblem<Scalar, Index, MemorySpace> const& problem,
    CpAlsOptions const& options, KruskalTensor<Scalar, StartSpace> const& start) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>() &&
                detail::check_held<ExecutionSpace, Scalar, Index, StartSpace>())
    return detail::start_of_model(exec, problem, options, start);
}

/// Goes on from the state, which is changed, until the fit changes by less than the tolerance, all
/// iterations are done or the observer returns false. A state that has converged already is left as
/// it is. The model is that of the last iteration, except where roundings of ill-conditioned
/// systems have made it worse than an earlier one: then it is the best (result.model_iteration says
/// which). options.starts is not read, and of options.init only whether it is `given`.
///
/// An iteration costs an MTTKRP a mode, N R nnz flops each (less with a dimension tree), and about
/// 3 I_n R^2 flops a mode; it fences exec once. Throws Error if the state does not fit the problem
/// and options, RunError where the fit is NaN or a weight of the model is past the range of Scalar,
/// Stopped where options.stop says so.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAlsResult<Scalar, MemorySpace> cp_als(ExecutionSpace const& exec,
                                        CpAlsProblem<Scalar, Index, MemorySpace>& problem,
                                        CpAlsOptions const& options,
                                        CpAlsState<Scalar, MemorySpace>& state,
                                        Observer const& observer = {}) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::run_from(exec, problem, options, state, observer);
}

/// The whole decomposition: from one start, from the winner of a race, or from several starts, of
/// which the model of the best fit is returned. The observer does not see a race. Cost and errors
/// are those of make_cp_als_problem, cp_als_start and cp_als on a problem. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAlsResult<Scalar, MemorySpace> cp_als(ExecutionSpace const& exec,
                                        CooTensor<Scalar, Index, MemorySpace> X,
                                        CpAlsOptions const& options,
                                        Observer const& observer = {}) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::decompose<CpAlsProblem<Scalar, Index, MemorySpace>>(exec, hand_over(X), options,
                                                                       observer);
}

/// cp_als of the nonzeros of all processes, which each calls with those that it brings: see
/// make_cp_als_problem. The model has the rows of factors that this process owns. Collective.
/// Fences exec. In steps, if there is no race:
///   CpAlsState<double, Memory> state;
///   auto problem = make_cp_als_problem(processes, exec, hand_over(X), options, &state);
///   auto const result = cp_als(exec, problem, options, state);
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAlsResult<Scalar, MemorySpace> cp_als(Communicator const& processes, ExecutionSpace const& exec,
                                        CooTensor<Scalar, Index, MemorySpace> X,
                                        CpAlsOptions const& options,
                                        Observer const& observer = {}) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::decompose<CpAlsProblem<Scalar, Index, MemorySpace>>(
        processes, exec, hand_over(X), options, observer);
}

}  // namespace sporades

#include <sporades/algorithms/detail/cp_als/refuse_types.hpp>
#include <sporades/algorithms/detail/cp_als/state_arrays.hpp>
#include <sporades/eti/cp_als_memory.hpp>
#include <sporades/eti/cp_als_method.hpp>
