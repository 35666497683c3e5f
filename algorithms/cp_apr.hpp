// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <sporades/algorithms/detail/arranged.hpp>
#include <sporades/algorithms/detail/cp_apr/options.hpp>
#include <sporades/algorithms/detail/cp_apr/solver.hpp>
#include <sporades/algorithms/detail/cp_apr/start.hpp>
#include <sporades/algorithms/starts.hpp>
#include <sporades/formats/sort_coo.hpp>

/// CP decomposition of counts by alternating Poisson regression:
///   X ~ M = sum_r weights(r) A_0(:,r) o ... o A_{N-1}(:,r), all entries >= 0, columns of sum 1,
/// maximises the log-likelihood sum_{x > 0} x log m - sum m of counts that are Poisson distributed
/// around M. In an iteration each mode takes the weights into its factor, B = A_n Lambda, and
/// improves it by up to `inner_iterations` updates B = B .* Phi (see kernels/phi.hpp), until the
/// KKT violation max |min(B, 1 - Phi)| is below the tolerance; then the columns are divided by
/// their sums, which become the weights. The run has converged when no mode needed an update, and
/// no observed count has a model of 0. Zeros are escaped in two ways: entries below kappa_tolerance
/// whose Phi was above 1 are raised by kappa before their mode's next turn; and where the model of
/// a count above 0 is exactly 0, which makes the log-likelihood -infinity and which Phi does not
/// see, all entries below kappa_tolerance of its rows are, by kappa/2 to kappa at random. Such
/// models come from an epsilon that is above what the model should be, so method mu goes on with
/// the least epsilon at which nothing overflows; where X has fewer than 1e-8 nonzeros an entry, it
/// does so from the start. Chi & Kolda, SIAM J. Matrix Anal. Appl. 33(4), 2012, Algorithm 3;
/// Anderson et al. 2021, Algorithms 1 to 3. Methods pdnr and pqnr, the default, improve a mode
/// row by row instead, by projected damped Newton and quasi-Newton steps: fewer and dearer
/// iterations; see cp_apr/solve_rows.hpp.
///
/// One seed gives one model, bit for bit, on a backend with any number of threads (strategies
/// `atomic` and `alto_atomic` excepted).
///
///   CpAprOptions options;
///   options.rank = 16;
///   auto const result = cp_apr(exec, X, options);
/// or, with what it does taken apart, so that a run can be watched, saved and continued:
///   auto problem = make_cp_apr_problem(exec, X, options);          // plans
///   auto state = cp_apr_start<double>(exec, X.dims, options);      // or restore(exec, snapshot)
///   auto const result = cp_apr(exec, problem, options, state, [&](auto const& state) {
///     save(snapshot(exec, state));
///     return true;                                                 // false stops
///   });

namespace sporades {

/// The model that a run ended with, and how it got there.
template <class Scalar, class MemorySpace>
struct CpAprResult {
  KruskalTensor<Scalar, MemorySpace> model;  // weights descending, columns of sum 1
  std::vector<CpAprIteration> iterations;    // those before a resumption included
  bool converged = false;
  CpAprStop stop = CpAprStop::iterations;
  std::map<std::string, KernelTime> kernels;  // where options.time_kernels
  std::vector<double> start_scores;  // the last log-likelihood of each start that has ended
  std::uint64_t seed = 0;            // of the start that gave the model

  bool is_stopped() const { return stop == CpAprStop::observer; }
  double log_likelihood() const {
    return iterations.empty() ? 0 : iterations.back().log_likelihood;
  }
};

namespace detail {

/// Whether one of the options that only method mu has is not at its default.
inline bool asks_for_updates(CpAprOptions const& options) {
  CpAprOptions const defaults;
  return options.strategy != defaults.strategy || options.pi != defaults.pi ||
         options.epsilon != defaults.epsilon;
}

/// Throws Error where an option is out of its range, or of another method.
inline void check_cp_apr(CpAprOptions const& options) {
  auto const is_positive = [](double x) { return x > 0 && std::isfinite(x); };
  expects(options.rank > 0 && options.rank < 65536, "cp_apr: rank ", options.rank,
          " is not in 1 to 65535");
  constexpr int most = 46336;  // (most + 1) most < 2^31: entries of a row's system
  expects(options.method != CpAprMethod::pdnr || options.rank <= most, "cp_apr: rank ",
          options.rank,
          ": method pdnr counts the entries of its systems in 32 bits and takes ranks to ", most,
          ", mu and pqnr take 65535");
  expects(options.iterations > 0, "cp_apr: ", options.iterations, " iterations: at least 1");
  expects(options.starts > 0, "cp_apr: ", options.starts, " starts: at least 1");
  expects(options.starts == 1 || options.init == CpAprInit::random, "cp_apr: ", options.starts,
          " starts: only random ones can be several, and init is another");
  expects(options.inner_iterations > 0, "cp_apr: ", options.inner_iterations,
          " inner iterations: at least 1");
  expects(options.tolerance >= 0 && std::isfinite(options.tolerance), "cp_apr: tolerance ",
          options.tolerance, " is not 0 or a positive number");
  expects(is_positive(options.kappa), "cp_apr: kappa ", options.kappa, " is not a positive number");
  expects(is_positive(options.kappa_tolerance), "cp_apr: kappa tolerance ", options.kappa_tolerance,
          " is not a positive number");
  expects(is_positive(options.epsilon), "cp_apr: epsilon ", options.epsilon,
          " is not a positive number");
  expects(options.method == CpAprMethod::mu || !asks_for_updates(options), "cp_apr: the method is ",
          to_string(options.method), ", and ", to_string(CpAprMethod::mu),
          " alone has strategies of Phi, a stored pi and epsilon; here strategy ",
          to_string(options.strategy), ", pi ", to_string(options.pi), " and epsilon ",
          options.epsilon);
}

/// Throws Error naming the first value that is negative, NaN or infinite. Fences exec.
template <class ExecutionSpace, class Tensor>
void check_counts(ExecutionSpace const& exec, Tensor const& X) {
  auto const values = X.values;
  Position first = X.nnz();
  Kokkos::parallel_reduce(
      "sporades::cp_apr::first_bad_count", Range<ExecutionSpace>(exec, 0, X.nnz()),
      KOKKOS_LAMBDA(Position p, Position & least) {
        bool const is_count = values(p) >= 0 && values(p) - values(p) == 0;
        if (!is_count && p < least) least = p;
      },
      Kokkos::Min<Position>(first));
  if (first >= X.nnz()) return;
  typename Tensor::Scalar value;
  Kokkos::View<typename Tensor::Scalar, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const host(
      &value);
  Kokkos::deep_copy(exec, host, Kokkos::subview(X.values, first));
  fence(exec, "sporades::cp_apr::first_bad_count");
  fail("cp_apr: value ", first, " of X (counted from 0) is ", value,
       ": counts are finite and at least 0");
}

/// The power of two at or below the least of these values that is above 0, within two bounds: at
/// most 1, so that whole numbers stay as they are, and at least 2^-64 of the largest, so that
/// nothing divided by it overflows. Fences exec.
template <class ExecutionSpace, class Values>
double unit_of_counts(ExecutionSpace const& exec, Values const& values, double largest) {
  using Scalar = typename Values::non_const_value_type;
  Scalar least = 0;
  Kokkos::parallel_reduce(
      "sporades::cp_apr::least_count", Range<ExecutionSpace>(exec, 0, values.extent(0)),
      KOKKOS_LAMBDA(Position p, Scalar & smallest) {
        if (values(p) > 0 && values(p) < smallest) smallest = values(p);
      },
      Kokkos::Min<Scalar>(least));
  int const exponent = std::max({std::ilogb(least), std::ilogb(largest) - 64, -1022});
  return std::ldexp(1.0, std::min(exponent, 0));
}

/// X with its values times the factor; X itself for a factor of 1.
template <class ExecutionSpace, class Tensor>
Tensor scaled(ExecutionSpace const& exec, Tensor const& X, double factor) {
  using Scalar = typename Tensor::Scalar;
  if (factor == 1) return X;
  Tensor Y = X;
  Y.values = uninitialized<decltype(Y.values)>(exec, "sporades::cp_apr::counts", X.nnz());
  Kokkos::parallel_for("sporades::cp_apr::scale_counts", Range<ExecutionSpace>(exec, 0, X.nnz()),
                       Scale<Scalar, typename Tensor::MemorySpace>{X.values, Y.values, factor});
  return Y;
}

}  // namespace detail

/// Builds what Phi wants for every mode. X in any order, values of equal coordinates are added; if
/// it is handed over and its order changes, its memory is given back early.
/// Where the least count above 0 is below 1, all counts are taken in units of the power of two at
/// or below it, so that tolerance and epsilon mean for these counts what they mean for whole
/// numbers: counts times 2^-k have the same model with weights times 2^-k. What comes out is in
/// units of X all the same, except the KKT violation.
/// Fences exec. Throws Error for options out of range, and where X has no nonzeros, an index past
/// its mode, is all zero, or holds a value that is negative, NaN or infinite (saying where).
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprProblem<Scalar, Index, MemorySpace> make_cp_apr_problem(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> X,
    CpAprOptions const& options) {
  detail::check_cp_apr(options);
  expects(X.nnz() > 0, "cp_apr: X (", to_string(X.dims), ") has no nonzeros: nothing to fit");
  check_coordinates(exec, X, "cp_apr");
  detail::check_counts(exec, X);
  auto const counts = sum_duplicates(exec, hand_over(X)).tensor;
  double const largest = static_cast<double>(detail::max_abs(exec, counts.values));
  expects(largest > 0, "cp_apr: all counts of X are 0: nothing to fit");
  expects(std::isfinite(largest), "cp_apr: a sum of counts of equal coordinates overflows");
  CpAprProblem<Scalar, Index, MemorySpace> problem{counts.dims, counts, {}, {}};
  problem.unit = detail::unit_of_counts(exec, counts.values, largest);
  double const nnz = static_cast<double>(counts.nnz());
  problem.density = nnz;
  for (std::uint64_t dim : counts.dims) problem.density /= static_cast<double>(dim);
  using Limits = std::numeric_limits<Scalar>;
  problem.least_epsilon =
      std::max<double>(4 * nnz * (largest / problem.unit) / Limits::max(), Limits::min());
  auto const in_units = detail::scaled(exec, counts, 1 / problem.unit);
  int const columns = static_cast<int>(padded_columns(static_cast<std::size_t>(options.rank)));
  if (options.method == CpAprMethod::mu) {
    problem.plan = make_phi_plan(exec, in_units, {options.strategy, columns, options.pi});
    // The log-likelihood gathers a row of every mode for each count: close together in this order.
    auto const& linear = problem.plan.products.alto;
    if (linear.order() > 0)
      problem.counts = detail::scaled(exec, to_coo(exec, linear), problem.unit);
  } else {
    for (int n = 0; n < counts.order(); ++n)
      problem.rows.push_back(detail::make_row_subproblems(
          exec, sorted(exec, in_units, detail::mttkrp_mode_order(counts.dims, n)), n,
          options.rank));
  }
  return problem;
}

/// Continues from the state, which is changed, until a stopping rule holds; observer(state) is
/// called after each iteration and stops the run by returning false. Fences exec. A state that has
/// met the rule already is left as it is. Throws Error if the state does not fit the problem and
/// options, RunError where numbers overflow, Stopped where options.stop says so.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprResult<Scalar, MemorySpace> cp_apr(
    ExecutionSpace const& exec, CpAprProblem<Scalar, Index, MemorySpace>& problem,
    CpAprOptions const& options, CpAprState<Scalar, MemorySpace>& state,
    typename CpAprState<Scalar, MemorySpace>::Observer const& observer = {}) {
  detail::check_cp_apr(options);
  expects(problem.rows.empty() == (options.method == CpAprMethod::mu),
          "cp_apr: the problem was made for ", problem.rows.empty() ? "" : "another method than ",
          "method mu, and the method is ", to_string(options.method));
  detail::check_apr_state(problem.dims, options, state);
  detail::KernelTimes times(options.time_kernels);
  detail::CpAprSolver<ExecutionSpace, Scalar, Index> solver(exec, problem, options, state, times);
  auto const has_converged = [&] {
    if (state.iterations.empty()) return false;
    auto const& last = state.iterations.back();
    return last.unchanged && last.kkt_violation < options.tolerance &&
           last.zero_model_nonzeros == 0;
  };
  CpAprStop stop = CpAprStop::iterations;
  while (!has_converged() && state.iteration() < options.iterations) {
    solver.iterate();
    if (observer && !observer(state)) {
      stop = CpAprStop::observer;
      break;
    }
  }
  bool const converged = has_converged();
  if (converged) stop = CpAprStop::converged;
  CpAprResult<Scalar, MemorySpace> result{detail::arranged(exec, state.weights, state.factors),
                                          state.iterations,
                                          converged,
                                          stop,
                                          times.by_label(),
                                          {},
                                          options.seed};
  result.start_scores = {result.log_likelihood()};
  return result;
}

/// From starts.state, and from random starts of other seeds (seed_of_start) until there are
/// options.starts. The result of the highest log-likelihood is returned, the first of equal ones;
/// the observer is called for one start after another, and stops them all. Fences exec. Throws as
/// cp_apr.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprResult<Scalar, MemorySpace> cp_apr_of_starts(
    ExecutionSpace const& exec, CpAprProblem<Scalar, Index, MemorySpace>& problem,
    CpAprOptions const& options, Starts<CpAprState<Scalar, MemorySpace>>& starts,
    typename CpAprState<Scalar, MemorySpace>::Observer const& observer = {}) {
  using State = CpAprState<Scalar, MemorySpace>;
  return detail::run_starts(
      options, starts,
      [&](CpAprOptions const& one) { return cp_apr_start<Scalar>(exec, problem.dims, one); },
      [&](CpAprOptions const& one, State& state) {
        return cp_apr(exec, problem, one, state, observer);
      },
      [](State const& state) { return state.iterations.back().log_likelihood; });
}

/// The whole of it, from one or several random starts.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CpAprResult<Scalar, MemorySpace> cp_apr(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
    CpAprOptions const& options,
    typename CpAprState<Scalar, MemorySpace>::Observer const& observer = {}) {
  auto problem = make_cp_apr_problem(exec, X, options);
  Starts<CpAprState<Scalar, MemorySpace>> starts;
  starts.state = cp_apr_start<Scalar>(exec, X.dims, options);
  return cp_apr_of_starts(exec, problem, options, starts, observer);
}

}  // namespace sporades

#include <sporades/eti/cp_apr.hpp>
