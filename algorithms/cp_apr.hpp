// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/calls.hpp>
#include <sporades/algorithms/detail/cp_apr/row_subproblems.hpp>
#include <sporades/algorithms/fit_memory.hpp>
#include <sporades/algorithms/run.hpp>
#include <sporades/algorithms/snapshot.hpp>
#include <sporades/core/row_map.hpp>
#include <sporades/core/stop.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <sporades/formats/kruskal_tensor.hpp>
#include <sporades/kernels/phi_plan.hpp>

/// CP decomposition of counts by alternating Poisson regression, CP-APR:
///   X ~ M = sum_r weights(r) A_0(:,r) o ... o A_{N-1}(:,r), all entries >= 0, columns of sum 1
/// maximises the log-likelihood of counts that are Poisson distributed around M,
///   sum_{x > 0} x log m - sum m
/// In an iteration each mode takes the weights into its factor, B = A_n Lambda, and B is improved
/// until the violation of the KKT conditions, max |min(B, 1 - Phi)|, is below the tolerance, or the
/// inner iterations are used up (Phi: see kernels/phi.hpp). Then the columns are divided by their
/// sums, which become the weights. The run has converged when no mode needed an update, and no
/// count above 0 has a model of 0. Zeros are escaped in three ways:
/// - Entries below kappa_tolerance whose Phi is above 1 are raised by kappa before their mode's
///   next turn.
/// - A component whose weight has become 0 is dead. Its columns become uniform, and it is lifted by
///   that rule, in all entries of a mode whose Phi is above 1.
/// - Where the model of a count above 0 is exactly 0, the log-likelihood is -infinity, and Phi gets
///   nothing from that count. All entries below kappa_tolerance in the count's rows are raised by
///   kappa/2 to kappa, at random.
/// Such models come from an epsilon that is larger than the model should be. So method mu takes the
/// least epsilon at which nothing overflows, as soon as there was such a model, and from the start
/// where X has fewer than 1e-8 nonzeros an entry. Chi & Kolda, SIAM J. Matrix Anal. Appl. 33(4),
/// 2012, Algorithm 3; Anderson et al. 2021, Algorithms 1 to 3; Hansen, Plantenga & Kolda, Optim.
/// Methods Softw. 30(5), 2015.
///
/// One seed gives one model, bit for bit, on a backend with any number of threads, except for
/// strategies `atomic`, `alto_atomic` and `coo_alto_atomic`.
///
///   CpAprOptions options;
///   options.rank = 16;
///   auto const result = cp_apr(exec, X, options);
/// In parts, so that a run can be watched, saved and continued:
///   auto problem = make_cp_apr_problem(exec, X, options);
///   auto state = cp_apr_start<double>(exec, X.dims, options);  // or restore<State>(exec, saved)
///   auto const result = cp_apr(exec, problem, options, state);

namespace sporades {

/// How a mode's factor is improved. After equal processor time on eight tensors of real counts and
/// three made like others, at ranks 10 and 16, the log-likelihood of pqnr was the highest or within
/// 0.3 % of it, that of pdnr within 0.5 %, that of mu up to 4.7 % below. Method mu with strategy
/// `alto` keeps one order of the nonzeros; else there is one a mode.
enum class CpAprMethod {
  mu,    // multiplicative updates of the whole factor, B = B .* Phi
  pdnr,  // row by row, projected damped Newton steps with second derivatives
  pqnr   // row by row, projected quasi-Newton steps: limited-memory BFGS
};

namespace detail {
template <>
struct Names<CpAprMethod> {
  static constexpr char const* kind = "CP-APR method";
  static constexpr char const* list[] = {"mu", "pdnr", "pqnr"};
};
}  // namespace detail

/// Where CP-APR starts.
enum class CpAprInit {
  random,  // random_factors of the seed
  given    // a KruskalTensor that is passed to cp_apr_start
};

namespace detail {
template <>
struct Names<CpAprInit> {
  static constexpr char const* kind = "start of CP-APR";
  static constexpr char const* list[] = {"random", "given"};
};
}  // namespace detail

/// What only method mu is asked for.
struct CpAprMuOptions {
  double epsilon = 1e-10;  // least value that the model divides by
  PhiStrategy strategy = PhiStrategy::automatic;
  Pi pi = Pi::on_the_fly;
};

/// What CP-APR is asked for.
struct CpAprOptions : RunOptions, CpAprMuOptions {
  int rank = 16;              // R
  int iterations = 1000;      // at most
  int inner_iterations = 10;  // of a mode in one iteration, at most
  double tolerance = 1e-4;    // on the KKT violation; 0 runs all iterations
  CpAprInit init = CpAprInit::random;
  CpAprMethod method = CpAprMethod::pqnr;
  double kappa = 1e-2;             // added to an entry that should not be 0
  double kappa_tolerance = 1e-10;  // entries below it count as 0 there
};

namespace detail {
template <class Scalar, class Index, class MemorySpace>
struct DistributedCounts;
}

/// Counts made ready for CP-APR by make_cp_apr_problem. It holds for one rank, method and strategy.
template <class ScalarType, class IndexType, class MemorySpaceType>
struct CpAprProblem {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  Dims dims;
  Position nnz = 0;                              // each coordinate once
  CooTensor<Scalar, Index, MemorySpace> counts;  // of processes: those here, as they number rows
  PhiPlan<Scalar, Index, MemorySpace> plan;      // for method mu, of counts / unit
  std::vector<detail::RowSubproblems<Scalar, Index, MemorySpace>>
      rows;  // for pdnr and pqnr, of counts / unit
  detail::OutOfCoreMemory
      out_of_core;  // where the counts are in out-of-core memory: holds it; else empty
  detail::OutOfCoreMemory
      shared;       // where plan or rows share values in out-of-core memory: holds them; else empty
  double unit = 1;  // a power of two: see make_cp_apr_problem
  double density = 1;  // nonzeros by entries: about the least mean of the model in this unit
  std::uint64_t large_counts = 0;  // that are at least 1e-4 of the largest
  double least_epsilon = 0;  // no Phi of counts / unit overflows where the model divides by it
  Communicator processes;    // that share the counts
  std::vector<RowMap> factor_rows;  // per mode: those of a factor that this process has;
                                    // or none, where it has all
  std::shared_ptr<detail::DistributedCounts<Scalar, Index, MemorySpace>> share;  // of processes

  /// The numbers of rows of factors that this process has.
  Dims dims_here() const {
    Dims here = dims;
    for (std::size_t n = 0; n < factor_rows.size(); ++n) here[n] = factor_rows[n].here(dims[n]);
    return here;
  }
  /// The counts, the plan, and each mode's order of the counts.
  std::uint64_t storage_bytes() const;
};

/// What is known of a finished iteration.
struct CpAprIteration {
  double log_likelihood = 0;          // at its end; -infinity where a model of an x > 0 is 0
  double kkt_violation = 0;           // the worst mode's, before that mode's last inner update
  std::int64_t inner_iterations = 0;  // of all modes, and rows, together
  Position zero_model_nonzeros = 0;   // x > 0 where the model is exactly 0, at its end
  bool unchanged = false;             // every mode met the tolerance before any update
  double seconds = 0;                 // wall-clock time
};

/// All that CP-APR carries from one iteration to the next: continued from here, a run gives the
/// same bits as one that was never stopped. Copies share the factors' memory; a snapshot does not.
/// Arrays of its snapshot: factor-n, weights, lifts-n (the zero marks, a byte each), iterations
/// (six doubles each, in the order of CpAprIteration).
template <class ScalarType, class MemorySpaceType>
struct CpAprState {
  using Scalar = ScalarType;
  using MemorySpace = MemorySpaceType;
  using ZeroMarks = Kokkos::View<unsigned char*, MemorySpace>;

  Factors<Scalar, MemorySpace> factors;  // A[n]: I_n x R, of make_matrix; columns sum to 1
  std::vector<double> weights;           // R
  std::vector<ZeroMarks> zero_marks;     // I_n padded_columns(R) a mode: 1 to raise that entry
  std::vector<CpAprIteration> history;   // of every finished iteration

  int order() const { return static_cast<int>(factors.size()); }
  int rank() const { return static_cast<int>(weights.size()); }
  int iterations() const { return static_cast<int>(history.size()); }  ///< finished ones
  /// What an observer saw of finished iteration k, from 0.
  IterationInfo info(int k) const;
};

/// The model that a run ended with, and how it got there.
template <class Scalar, class MemorySpace>
struct CpAprResult : RunResult {
  KruskalTensor<Scalar, MemorySpace> model;  // weights descending, columns of sum 1
  std::vector<CpAprIteration> history;       // of every iteration
  int dead_components = 0;                   // of weight 0: the last ones of the model

  double log_likelihood() const { return value(); }  ///< of the model
};

namespace detail {
template <class Scalar, class Index, class MemorySpace>
struct MethodTypes<CpAprProblem<Scalar, Index, MemorySpace>> {
  using State = CpAprState<Scalar, MemorySpace>;
  using Result = CpAprResult<Scalar, MemorySpace>;
};

/// The random start. rows: of each mode's factor, of dims[n] rows in all, that are here; or none,
/// where all are. Collective.
template <class Scalar, class ExecutionSpace>
CpAprState<Scalar, typename ExecutionSpace::memory_space> random_apr_start(
    ExecutionSpace const& exec, Dims const& dims, std::vector<RowMap> const& rows,
    CpAprOptions const& options);

/// That of a problem. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprState<Scalar, MemorySpace> random_apr_start(
    ExecutionSpace const& exec, CpAprProblem<Scalar, Index, MemorySpace> const& problem,
    CpAprOptions const& options);
}  // namespace detail

/// Makes X ready: for mu the plan of Phi, else an order of the counts by the rows of each mode. X:
/// counts in any order; those of equal coordinates are added. If X is handed over (hand_over) and
/// its order changes, its memory is given back early. Cost: a sort a mode, or one where the
/// strategy is `alto`. Fences exec.
///
/// X is streamed, with the same bits, if
/// - it is on the host and exec, a GPU, cannot access it: the host makes it ready, or
/// - it takes more than options.streaming says. On a host, counts that take more themselves are
///   summed and sorted by parts.
///
/// Method mu streams by strategy `pull` with pi on the fly, and not the copies that
/// options.streaming leaves room for; `automatic` is `pull` on GPUs and where counts are streamed.
/// Windows of the other methods hold a segment at least, some nnz / 2048 counts.
///
/// Where the least count above 0 is below 1, all counts are taken in units of the power of two at
/// or below it. Tolerance and epsilon then mean for these counts what they mean for whole numbers:
/// counts times 2^-k have the same model with weights times 2^-k. Results are in units of X, except
/// the KKT violation.
///
/// Throws Error where
/// - options are out of range,
/// - X has no nonzeros, has an index past its mode, is all zero, or holds a value that is negative,
///   NaN or infinite (saying where),
/// - X would have to be streamed and cannot be.
///
/// Throws RunError where there is no out-of-core memory.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprProblem<Scalar, Index, detail::WorkSpace<ExecutionSpace, MemorySpace>> make_cp_apr_problem(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> X,
    CpAprOptions const& options) {
  using Problem = CpAprProblem<Scalar, Index, detail::WorkSpace<ExecutionSpace, MemorySpace>>;
  if constexpr (detail::check_maker<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::make_problem<Problem>(exec, hand_over(X), options);
}

/// make_cp_apr_problem of a tensor whose nonzeros are those of all processes. X: the nonzeros that
/// this process brings, any of them, with the dims of the whole. States and models of such a
/// problem have the rows of factors that problem.factor_rows says, and their bits are those of one
/// process. Nothing is streamed, nor fitted to a limit. Collective. Fences exec.
/// - Method mu has the bits of strategy `pull`, which `automatic` is here, too, where one process
///   takes `alto`.
/// - The other methods have all nonzeros of a row on one process: where a row has half of them, the
///   process that solves it has as many.
///
/// Throws as make_cp_apr_problem of one process, and Error where dims disagree, and for other
/// strategies, a stored pi, streaming and options.memory.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprProblem<Scalar, Index, MemorySpace> make_cp_apr_problem(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> X, CpAprOptions const& options) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::make_problem<CpAprProblem<Scalar, Index, MemorySpace>>(
        processes, exec, hand_over(X), options, nullptr);
}

/// The state before the first iteration of a `random` start. Scalar is to be named. Fences exec.
/// Throws Error if the options say `given`, or the rank is out of range.
template <class Scalar, class ExecutionSpace>
CpAprState<Scalar, typename ExecutionSpace::memory_space> cp_apr_start(
    ExecutionSpace const& exec, Dims const& dims, CpAprOptions const& options) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  if constexpr (detail::check_call<ExecutionSpace, Scalar, std::uint32_t, MemorySpace>())
    return detail::random_apr_start<Scalar>(exec, dims, {}, options);
}

/// cp_apr_start of a `random` start for a problem, whose processes each get their rows of the
/// factors. Collective. Fences exec. Throws Error as on one process.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprState<Scalar, MemorySpace> cp_apr_start(
    ExecutionSpace const& exec, CpAprProblem<Scalar, Index, MemorySpace> const& problem,
    CpAprOptions const& options) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::random_apr_start(exec, problem, options);
}

/// The state before the first iteration of a given start, whose factors, I_n x R in any memory
/// space, are copied. Fences exec. Throws Error if its rank or dims are not those of the options
/// and dims, if it is not finite and non-negative, or if its model is 0 everywhere.
template <class ExecutionSpace, class Scalar, class StartSpace>
CpAprState<Scalar, typename ExecutionSpace::memory_space> cp_apr_start(
    ExecutionSpace const& exec, Dims const& dims, CpAprOptions const& options,
    KruskalTensor<Scalar, StartSpace> const& start) {
  using Problem = CpAprProblem<Scalar, std::uint32_t, typename ExecutionSpace::memory_space>;
  if constexpr (detail::check_held<ExecutionSpace, Scalar, std::uint32_t, StartSpace>())
    return detail::start_of_model<Problem>(exec, dims, options, start);
}

/// cp_apr_start of a given start for a problem, whose processes each hand in their rows of the
/// factors: rows of mode n as problem.factor_rows[n] says, which are all where there is one
/// process. Collective. Fences exec. Throws Error as on one process.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class StartSpace>
CpAprState<Scalar, MemorySpace> cp_apr_start(
    ExecutionSpace const& exec, CpAprProblem<Scalar, Index, MemorySpace> const& problem,
    CpAprOptions const& options, KruskalTensor<Scalar, StartSpace> const& start) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>() &&
                detail::check_held<ExecutionSpace, Scalar, Index, StartSpace>())
    return detail::start_of_model(exec, problem, options, start);
}

/// Goes on from the state, which is changed, until it has converged, all iterations are done or the
/// observer returns false. options.init and options.starts are not read. A state that has converged
/// already is left as it is. An inner iteration of mu costs a Phi a mode, 2 N R nnz flops, and
/// fences exec once; see CpAprMethod for the others, which fence once a mode. Throws Error if the
/// state does not fit the problem and options, RunError where numbers overflow, Stopped where
/// options.stop says so.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprResult<Scalar, MemorySpace> cp_apr(ExecutionSpace const& exec,
                                        CpAprProblem<Scalar, Index, MemorySpace>& problem,
                                        CpAprOptions const& options,
                                        CpAprState<Scalar, MemorySpace>& state,
                                        Observer const& observer = {}) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::run_from(exec, problem, options, state, observer);
}

/// The whole decomposition: from one random start, or from several, of which the model of the
/// highest log-likelihood is returned. Cost and errors are those of make_cp_apr_problem,
/// cp_apr_start and cp_apr on a problem. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprResult<Scalar, MemorySpace> cp_apr(ExecutionSpace const& exec,
                                        CooTensor<Scalar, Index, MemorySpace> X,
                                        CpAprOptions const& options,
                                        Observer const& observer = {}) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::decompose<CpAprProblem<Scalar, Index, MemorySpace>>(exec, hand_over(X), options,
                                                                       observer);
}

/// cp_apr of the nonzeros of all processes, which each calls with those that it brings: see
/// make_cp_apr_problem. The model has the rows of factors that this process owns. Collective.
/// Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprResult<Scalar, MemorySpace> cp_apr(Communicator const& processes, ExecutionSpace const& exec,
                                        CooTensor<Scalar, Index, MemorySpace> X,
                                        CpAprOptions const& options,
                                        Observer const& observer = {}) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::decompose<CpAprProblem<Scalar, Index, MemorySpace>>(
        processes, exec, hand_over(X), options, observer);
}

}  // namespace sporades

#include <sporades/algorithms/detail/cp_apr/refuse_types.hpp>
#include <sporades/algorithms/detail/cp_apr/state_arrays.hpp>
#include <sporades/eti/cp_apr_memory.hpp>
#include <sporades/eti/cp_apr_method.hpp>
