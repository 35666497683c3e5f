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
#include <sporades/formats/tucker_tensor.hpp>
#include <sporades/kernels/ttm_chain_plan.hpp>

/// Tucker decomposition by higher-order orthogonal iteration, HOOI:
///   X ~ M = G x_0 A_0 ... x_{N-1} A_{N-1},  A_n orthonormal, I_n x R_n
/// Modes are updated from 0 to N-1. A_n becomes the R_n leading left singular vectors of
///   Y_(n) = X_(n) (the Kronecker product of the other factors),
/// and at the end of an iteration G_(N-1) = A_{N-1}^T Y_(N-1).
///   fit = 1 - ||X - M|| / ||X||
/// comes from the norm of the core, and does not fall. N sorted copies of X are made once and
/// reused. X is scaled by a power of two first: a tensor times 2^k has the same factors, bit for
/// bit, and a core times 2^k. De Lathauwer, De Moor & Vandewalle, SIAM J. Matrix Anal. Appl. 21(4),
/// 2000; for sparse tensors Ma et al., JPDC 2018, Algorithm 6.
///
/// One seed gives one model, bit for bit, on a backend with any number of threads.
///
///   TuckerOptions options;
///   options.ranks = {8, 8, 8};
///   auto const result = tucker(exec, X, options);
/// In parts, so that a run can be watched, saved and continued:
///   auto problem = make_tucker_problem(exec, X, options);
///   auto state = tucker_start(exec, X, options);  // or restore<State>(exec, saved)
///   auto const result = tucker(exec, problem, options, state);

namespace sporades {

/// Where HOOI starts. All are made orthonormal.
enum class TuckerInit {
  random,  // random factors of the seed
  hosvd,   // leading left singular vectors of the tensor's unfoldings
  given    // a TuckerTensor that is passed to tucker_start
};

namespace detail {
template <>
struct Names<TuckerInit> {
  static constexpr char const* kind = "start of Tucker";
  static constexpr char const* list[] = {"random", "hosvd", "given"};
};
}  // namespace detail

/// How leading left singular vectors of Y_(n) are found.
enum class SingularVectorMethod {
  automatic,  // the cheaper by flops
  gram,       // from the Gram matrix of the smaller side and LAPACK: exact, with squared condition
  lanczos,    // by block Lanczos from the vectors that are there, to the rounding of their energy
  /// Never chosen: by an SVD of Y_(n) itself, exact. By LAPACK on the host, in double; on CUDA by
  /// cuSOLVER, in the type of the values, where Kokkos Kernels was built with it
  /// (KokkosKernels_ENABLE_TPL_CUSOLVER). Every process takes all of Y_(n), three times in memory.
  svd
};

namespace detail {
template <>
struct Names<SingularVectorMethod> {
  static constexpr char const* kind = "method of singular vectors";
  static constexpr char const* list[] = {"automatic", "gram", "lanczos", "svd"};
};
}  // namespace detail

/// What HOOI is asked for.
struct TuckerOptions : RunOptions {
  std::vector<int> ranks;   // R_0 to R_{N-1}
  int iterations = 50;      // at most
  double tolerance = 1e-5;  // stops when the fit changes by less; 0 runs all iterations
  TuckerInit init = TuckerInit::random;
  TtmChainStrategy strategy = TtmChainStrategy::automatic;
  SingularVectorMethod singular_vectors = SingularVectorMethod::automatic;
  double memory_limit = 0;  // bytes of a chain's product, and of its partial ones; 0: machine's
};

/// A tensor made ready for HOOI by make_tucker_problem. It holds for these ranks and strategy.
template <class Scalar, class Index, class MemorySpace>
struct TuckerProblem {
  Dims dims;
  TtmChainPlan<Scalar, Index, MemorySpace> chain;  // of X 2^-exponent
  double norm_squared = 0;                         // of X 2^-exponent
  int exponent = 0;  // the largest magnitude of X 2^-exponent is in [1, 2)
  detail::OutOfCoreMemory
      out_of_core;  // where the chains share nonzeros in out-of-core memory: holds them; else empty
  Communicator processes;  // that share X

  /// The rows of mode n's factor that this process has.
  RowMap rows_of(int n) const {
    return chain.work.where.empty() ? RowMap{}
                                    : chain.work.where[static_cast<std::size_t>(n)].factor;
  }
  /// The rows of each mode's factor that this process has.
  std::vector<RowMap> rows() const {
    std::vector<RowMap> all;
    for (std::size_t n = 0; n < dims.size(); ++n) all.push_back(rows_of(static_cast<int>(n)));
    return all;
  }
};

/// All that HOOI carries from one iteration to the next: continued from here, a run gives the same
/// bits as one that was never stopped. Copies share the factors' memory; a snapshot does not.
/// Arrays of its snapshot: factor-n, core (doubles), fits, seconds.
template <class ScalarType, class MemorySpaceType>
struct TuckerState {
  using Scalar = ScalarType;
  using MemorySpace = MemorySpaceType;

  Factors<Scalar, MemorySpace> factors;  // A[n]: I_n x R_n, of make_matrix; orthonormal columns
  std::vector<double> core;     // of the last iteration, as TuckerTensor has it; zeros before it
  std::vector<double> fits;     // of every finished iteration
  std::vector<double> seconds;  // of every finished iteration

  int order() const { return static_cast<int>(factors.size()); }
  std::vector<int> ranks() const {
    std::vector<int> columns;
    for (auto const& A : factors) columns.push_back(static_cast<int>(A.extent(1)));
    return columns;
  }
  int iterations() const { return static_cast<int>(fits.size()); }  ///< finished ones
  /// What an observer saw of finished iteration k, from 0.
  IterationInfo info(int k) const { return detail::fit_info(fits, seconds, k); }
};

/// The model that a run ended with, and how it got there.
template <class Scalar, class MemorySpace>
struct TuckerResult : RunResult {
  TuckerTensor<Scalar, MemorySpace> model;  // signs fixed

  double fit() const { return value(); }  ///< of the model
};

namespace detail {
template <class Scalar, class Index, class MemorySpace>
struct MethodTypes<TuckerProblem<Scalar, Index, MemorySpace>> {
  using State = TuckerState<Scalar, MemorySpace>;
  using Result = TuckerResult<Scalar, MemorySpace>;
};
}  // namespace detail

/// Makes X ready: plans the chain of products of every mode, and computes the norm. X: nonzeros in
/// any order; values of equal coordinates are added. Nothing of X is used after; if it is handed
/// over (hand_over), its memory is given back as early as can be. Cost: a sort a mode. Fences exec.
///
/// X is streamed, by strategy `fused` or, where it is asked for, `semi_sparse` (see ttm_chain for
/// bits), if
/// - it is on the host and exec, a GPU, cannot access it: the host makes it ready, or
/// - its copies take more than options.streaming says.
///
/// Throws Error where
/// - options are out of range or do not fit X,
/// - X has no nonzeros, has an index past its mode, is all zero, or holds NaN or infinity (saying
///   where),
/// - a chain does not fit the memory,
/// - X is streamed, and strategy `csf` is asked for.
///
/// Throws RunError where there is no out-of-core memory.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerProblem<Scalar, Index, detail::WorkSpace<ExecutionSpace, MemorySpace>> make_tucker_problem(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> X,
    TuckerOptions const& options) {
  using Problem = TuckerProblem<Scalar, Index, detail::WorkSpace<ExecutionSpace, MemorySpace>>;
  if constexpr (detail::check_maker<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::make_problem<Problem>(exec, hand_over(X), options);
}

/// make_tucker_problem of a tensor whose nonzeros are those of all processes. X: the nonzeros that
/// this process brings, any of them, with the dims of the whole. States and models of such a
/// problem have the rows of factors that problem.rows_of(n) says, and their bits are those of one
/// process with strategy `fused`, which `automatic` is here. Collective. Fences exec.
/// - start: null, or gets the state before the first iteration, as tucker_start makes it of all
///   nonzeros. Not of a given start: see tucker_start of a problem.
/// - Products of more rows than columns are distributed; smaller ones are gathered, and their
///   singular vectors computed by every process.
/// - Nothing is streamed, nor fitted to a limit; options.memory_limit is of a process.
///
/// Throws as make_tucker_problem of one process, and Error for other strategies, streaming and
/// options.memory, and where dims disagree.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerProblem<Scalar, Index, MemorySpace> make_tucker_problem(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, MemorySpace> X, TuckerOptions const& options,
    TuckerState<Scalar, MemorySpace>* start = nullptr) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::make_problem<TuckerProblem<Scalar, Index, MemorySpace>>(
        processes, exec, hand_over(X), options, start);
}

/// The state before the first iteration of a `random` or `hosvd` start. Fences exec. Throws Error
/// if the options say `given`, or do not fit X.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerState<Scalar, MemorySpace> tucker_start(ExecutionSpace const& exec,
                                              CooTensor<Scalar, Index, MemorySpace> const& X,
                                              TuckerOptions const& options) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::first_start<TuckerProblem<Scalar, Index, MemorySpace>>(exec, X, options);
}

/// The state before the first iteration of a given start, whose factors, I_n x R_n in any memory
/// space, are copied; its core is not read. Fences exec. Throws Error if its ranks or dims are not
/// those of the options and dims, or it is not finite.
template <class ExecutionSpace, class Scalar, class StartSpace>
TuckerState<Scalar, typename ExecutionSpace::memory_space> tucker_start(
    ExecutionSpace const& exec, Dims const& dims, TuckerOptions const& options,
    TuckerTensor<Scalar, StartSpace> const& start) {
  using Problem = TuckerProblem<Scalar, std::uint32_t, typename ExecutionSpace::memory_space>;
  if constexpr (detail::check_held<ExecutionSpace, Scalar, std::uint32_t, StartSpace>())
    return detail::start_of_model<Problem>(exec, dims, options, start);
}

/// tucker_start of a given start for a problem, whose processes each hand in their rows of the
/// factors: rows of mode n as problem.rows_of(n) says, which are all where there is one process.
/// Collective. Fences exec. Throws Error as on one process.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class StartSpace>
TuckerState<Scalar, MemorySpace> tucker_start(
    ExecutionSpace const& exec, TuckerProblem<Scalar, Index, MemorySpace> const& problem,
    TuckerOptions const& options, TuckerTensor<Scalar, StartSpace> const& start) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>() &&
                detail::check_held<ExecutionSpace, Scalar, Index, StartSpace>())
    return detail::start_of_model(exec, problem, options, start);
}

/// Goes on from the state, which is changed, until the fit changes by less than the tolerance, all
/// iterations are done or the observer returns false. options.init and options.starts are not read.
/// A state that has converged already is left as it is. An iteration costs a chain a mode, about
/// 2 nnz (the product of the other ranks) flops each, and the singular vectors of its product; it
/// fences exec. Throws Error if the state does not fit the problem and options, RunError where the
/// fit is NaN or a number of the core is past the range of Scalar, Stopped where options.stop says
/// so.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerResult<Scalar, MemorySpace> tucker(ExecutionSpace const& exec,
                                         TuckerProblem<Scalar, Index, MemorySpace>& problem,
                                         TuckerOptions const& options,
                                         TuckerState<Scalar, MemorySpace>& state,
                                         Observer const& observer = {}) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::run_from(exec, problem, options, state, observer);
}

/// The whole decomposition: from one start, or from several random ones, of which the model of the
/// best fit is returned. Cost and errors are those of make_tucker_problem, tucker_start and tucker
/// on a problem. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerResult<Scalar, MemorySpace> tucker(ExecutionSpace const& exec,
                                         CooTensor<Scalar, Index, MemorySpace> X,
                                         TuckerOptions const& options,
                                         Observer const& observer = {}) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::decompose<TuckerProblem<Scalar, Index, MemorySpace>>(exec, hand_over(X), options,
                                                                        observer);
}

/// tucker of the nonzeros of all processes, which each calls with those that it brings: see
/// make_tucker_problem. The model has the rows of factors that this process owns, and the whole
/// core. Collective. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
TuckerResult<Scalar, MemorySpace> tucker(Communicator const& processes, ExecutionSpace const& exec,
                                         CooTensor<Scalar, Index, MemorySpace> X,
                                         TuckerOptions const& options,
                                         Observer const& observer = {}) {
  if constexpr (detail::check_call<ExecutionSpace, Scalar, Index, MemorySpace>())
    return detail::decompose<TuckerProblem<Scalar, Index, MemorySpace>>(
        processes, exec, hand_over(X), options, observer);
}

}  // namespace sporades

#include <sporades/algorithms/detail/tucker/refuse_types.hpp>
#include <sporades/algorithms/detail/tucker/state_arrays.hpp>
#include <sporades/eti/tucker_memory.hpp>
#include <sporades/eti/tucker_method.hpp>
