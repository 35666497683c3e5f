// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <limits>
#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/algorithms/detail/cp_apr/distributed_counts.hpp>
#include <sporades/algorithms/detail/cp_apr/entries.hpp>
#include <sporades/algorithms/detail/decompose.hpp>
#include <sporades/core/detail/check_types.hpp>
#include <sporades/core/detail/dense.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/detail/region.hpp>
#include <sporades/formats/detail/sort_parts.hpp>
#include <sporades/kernels/detail/coo_windows.hpp>
#include <sporades/kernels/phi.hpp>

namespace sporades {

template <class Scalar, class Index, class MemorySpace>
std::uint64_t CpAprProblem<Scalar, Index, MemorySpace>::storage_bytes() const {
  std::uint64_t bytes = counts.storage_bytes() + plan.storage_bytes();
  for (auto const& mode : rows) {
    bytes += mode.storage_bytes();
    bool const is_counts = mode.X.values.data() == counts.values.data();
    if (!is_counts) bytes += mode.X.storage_bytes();
  }
  return bytes + (share ? share->bytes() : 0);
}

namespace detail {

/// Whether one of the options that only method mu has is not at its default.
inline bool asks_for_updates(CpAprOptions const& options) {
  CpAprOptions const defaults;
  return options.strategy != defaults.strategy || options.pi != defaults.pi ||
         options.epsilon != defaults.epsilon;
}

/// What CP-APR alone has of what all processes of a call give alike.
inline NamedOptions named_options(CpAprOptions const& options) {
  return NamedOptions()
      .add("rank", options.rank)
      .add("inner_iterations", options.inner_iterations)
      .add("method", options.method)
      .add("kappa", options.kappa)
      .add("kappa_tolerance", options.kappa_tolerance)
      .add("epsilon", options.epsilon)
      .add("strategy", options.strategy)
      .add("pi", options.pi);
}

/// Throws Error where an option is out of its range, or of another method.
inline void check_cp_apr(CpAprOptions const& options) {
  auto const is_positive = [](double x) { return x > 0 && std::isfinite(x); };
  check_rank("cp_apr", options.rank);
  constexpr int most = 46336;  // (most + 1) most < 2^31: entries of a row's system
  expects(options.method != CpAprMethod::pdnr || options.rank <= most, "cp_apr: rank ",
          options.rank,
          ": method pdnr counts the entries of its systems in 32 bits and takes ranks to ", most,
          ", mu and pqnr take 65535");
  check_run("cp_apr", options);
  expects(options.inner_iterations > 0, "cp_apr: ", options.inner_iterations,
          " inner iterations: at least 1");
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
  fail("cp_apr: value ", first, " of X (counted from 0) is ", entry_at(exec, X.values, first),
       ": counts are finite and at least 0");
}

/// The least of these values that is above 0; the largest number where none is. Fences exec.
template <class ExecutionSpace, class Values>
double least_count(ExecutionSpace const& exec, Values const& values) {
  using Scalar = typename Values::non_const_value_type;
  Scalar least = 0;
  Kokkos::parallel_reduce(
      "sporades::cp_apr::least_count", Range<ExecutionSpace>(exec, 0, values.extent(0)),
      KOKKOS_LAMBDA(Position p, Scalar & smallest) {
        if (values(p) > 0 && values(p) < smallest) smallest = values(p);
      },
      Kokkos::Min<Scalar>(least));
  return static_cast<double>(least);
}

/// How many of these values are at least 1e-4 of `largest`. Fences exec.
template <class ExecutionSpace, class Values>
std::uint64_t large_counts(ExecutionSpace const& exec, Values const& values, double largest) {
  std::uint64_t large = 0;
  double const least = 1e-4 * largest;
  Kokkos::parallel_reduce(
      "sporades::cp_apr::large_counts", Range<ExecutionSpace>(exec, 0, values.extent(0)),
      KOKKOS_LAMBDA(Position p, std::uint64_t & sum) {
        if (static_cast<double>(values(p)) >= least) ++sum;
      },
      large);
  return large;
}

/// The power of two at or below the least count above 0, within two bounds: at most 1, so that
/// whole numbers stay as they are, and at least 2^-64 of the largest, so that nothing divided by it
/// overflows.
inline double unit_of_counts(double least, double largest) {
  int const exponent = std::max({std::ilogb(least), binary_exponent(largest) - 64, -1022});
  return std::ldexp(1.0, std::min(exponent, 0));
}

/// What follows from the counts' number, the least and the largest of them; each coordinate once.
/// Throws Error where there is nothing to fit.
template <class Problem>
void describe_counts(Dims const& dims, Position nnz, double least, double largest,
                     Problem& problem) {
  expects(largest > 0, "cp_apr: all counts of X are 0: nothing to fit");
  expects(std::isfinite(largest), "cp_apr: a sum of counts of equal coordinates overflows");
  problem.dims = dims;
  problem.nnz = nnz;
  problem.unit = unit_of_counts(least, largest);
  auto const count = static_cast<double>(nnz);
  problem.density = count;
  for (std::uint64_t dim : dims) problem.density /= static_cast<double>(dim);
  using Limits = std::numeric_limits<typename Problem::Scalar>;
  problem.least_epsilon =
      std::max<double>(4 * count * (largest / problem.unit) / Limits::max(), Limits::min());
}

/// X with its values times the factor, in out-of-core memory of a host if is_out_of_core says so; X
/// itself for a factor of 1.
template <class ExecutionSpace, class Tensor>
OutOfCoreTensor<Tensor> scaled(ExecutionSpace const& exec, Tensor const& X, double factor,
                               bool is_out_of_core) {
  using Scalar = typename Tensor::Scalar;
  if (factor == 1) return {X, {}};
  OutOfCoreTensor<Tensor> Y{X, {}};
  auto& values = Y.tensor.values;
  values = is_out_of_core
               ? allocate_out_of_core_values<typename Tensor::Values>(exec, X.nnz(), Y.memory)
               : uninitialized<typename Tensor::Values>(exec, "sporades::cp_apr::counts", X.nnz());
  launch_items(exec, "sporades::cp_apr::scale_counts", X.nnz(),
               Scale<Scalar, typename Tensor::MemorySpace>{X.values, values, factor});
  return Y;
}

/// The counts for the log-likelihood, in out-of-core memory if is_out_of_core says so or exec
/// cannot access them.
template <class ExecutionSpace, class Tensor, class Problem>
void keep_counts(ExecutionSpace const& exec, OutOfCoreTensor<Tensor> const& counts,
                 bool is_out_of_core, Problem& problem) {
  if constexpr (std::is_same_v<typename Tensor::MemorySpace, typename Problem::MemorySpace>) {
    problem.counts = counts.tensor;
    problem.out_of_core = counts.memory;
    is_out_of_core = is_out_of_core && !counts.memory;
  } else {
    is_out_of_core = true;
  }
  if (!is_out_of_core) return;
  auto const out_of_core = to_out_of_core(exec, counts.tensor);
  problem.counts = out_of_core.tensor;
  problem.out_of_core = out_of_core.memory;
}

/// What method mu needs: the plan of Phi for the counts in the problem's unit. Fences exec.
template <class ExecutionSpace, class Tensor, class Problem>
void build_updates(ExecutionSpace const& exec, OutOfCoreTensor<Tensor> const& counts,
                   Tensor const& in_units, CpAprOptions const& options, Problem& problem) {
  int const columns = static_cast<int>(padded_columns(static_cast<std::size_t>(options.rank)));
  PhiOptions products{options.strategy, columns, options.pi, options.streaming};
  auto& memory = products.streaming.memory;  // what the counts leave of it, or an eighth
  if (memory > 0 && !products.streaming.always)
    memory = std::max(
        {memory - std::min(memory, counts.tensor.storage_bytes()), memory / 8, std::uint64_t{1}});
  problem.plan = make_phi_plan(exec, in_units, products);
  keep_counts(exec, counts, count_out_of_core(problem.plan.products.formats) > 0, problem);
  // The log-likelihood gathers a row of every mode for each count: close together in this order.
  auto const& linear = problem.plan.products;
  if (!linear.formats.template any<AltoTensor>()) return;
  problem.counts = scaled(exec, to_coo(exec, linear), problem.unit, false).tensor;
  problem.out_of_core = {};
}

/// What the others need: an order of the counts in the problem's unit for each mode. Fences exec.
template <class ExecutionSpace, class Builder, class Tensor, class Problem>
void build_rows(ExecutionSpace const& exec, Builder const& builder,
                OutOfCoreTensor<Tensor> const& counts, Tensor const& in_units,
                CpAprOptions const& options, Problem& problem) {
  std::uint64_t const one = in_units.storage_bytes(), memory = options.streaming.memory;
  std::uint64_t const bytes = one * (in_units.dims.size() + 1);
  bool const is_out_of_core =
      options.streaming.always || (memory > 0 && bytes > memory) ||
      !std::is_same_v<typename Tensor::MemorySpace, typename Problem::MemorySpace>;
  keep_counts(exec, counts, is_out_of_core, problem);
  std::uint64_t const room = problem.plan.products.work.carry.windows.window_bytes(bytes);
  Position const window = is_out_of_core ? std::max<Position>(1, room / (one / in_units.nnz())) : 0;
  for (int n = 0; n < in_units.order(); ++n) {
    auto const modes = mttkrp_mode_order(in_units.dims, n);
    auto const list = sorted_by_parts(
        builder, in_units, modes,
        is_out_of_core ? out_of_core_part_bytes<ExecutionSpace>(bytes, options.streaming) : 0);
    problem.rows.push_back(
        make_row_subproblems(exec, list.tensor, n, options.rank, 0, window, list.memory));
  }
}

/// Counts on several processes are cut where blocks of the log-likelihood end; where blocks are
/// many, where a group of 64 of them does.
template <class ExecutionSpace, class Tensor>
Position unit_of_cuts(Communicator const& processes, Position nnz) {
  using Model = CooModel<typename Tensor::Scalar, typename Tensor::Index,
                         typename ExecutionSpace::memory_space>;
  Position const unit = LogLikelihoodLanes<ExecutionSpace, Model>::block;
  return nnz / (64 * unit) >= 16 * static_cast<Position>(processes.size()) ? 64 * unit : unit;
}

/// make_cp_apr_problem. X: the nonzeros that the process brings.
template <class ExecutionSpace, class Scalar, class Index, class GivenSpace>
CpAprProblem<Scalar, Index, WorkSpace<ExecutionSpace, GivenSpace>> build_apr_problem(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, GivenSpace> X, CpAprOptions const& options) {
  using Tensor = CooTensor<Scalar, Index, GivenSpace>;
  using MemorySpace = WorkSpace<ExecutionSpace, GivenSpace>;
  Region const region("sporades::make_cp_apr_problem");
  check_cp_apr(options);
  auto const builder = builder_of<GivenSpace>(exec);
  expect_same_dims(processes, X, "cp_apr");
  Position const given = exclusive_scan_of_all(processes, X.nnz()).back();
  expects(given > 0, "cp_apr: X (", to_string(X.dims), ") has no nonzeros: nothing to fit");
  check_coordinates(builder, X, "cp_apr");
  check_counts(builder, X);
  auto const part_bytes = part_bytes_of<ExecutionSpace>(processes, X, options.streaming);
  auto summed = summed_evenly(processes, builder, hand_over(X), part_bytes, [&](Position nnz) {
    return unit_of_cuts<ExecutionSpace, Tensor>(processes, nnz);
  });
  auto& counts = summed.tensor;
  double const largest = largest_value(processes, builder, counts.values);
  double const least =
      -largest_of_all(processes, "least values", -least_count(builder, counts.values));
  CpAprProblem<Scalar, Index, MemorySpace> problem;
  problem.processes = processes;
  describe_counts(counts.dims, exclusive_scan_of_all(processes, counts.nnz()).back(), least,
                  largest, problem);
  for (auto const here :
       all_gather(processes, "large counts", large_counts(builder, counts.values, largest)))
    problem.large_counts += here;
  auto in_units = scaled(builder, counts, 1 / problem.unit, part_bytes > 0);
  problem.plan.products.work.carry.windows.options = options.streaming;
  if (processes.size() > 1) {
    if constexpr (std::is_same_v<GivenSpace, MemorySpace>)
      share_counts(processes, exec, hand_over(counts), hand_over(in_units.tensor), options,
                   problem);
    return problem;
  }
  if (options.method == CpAprMethod::mu)
    build_updates(exec, summed, in_units.tensor, options, problem);
  else
    build_rows(exec, builder, summed, in_units.tensor, options, problem);
  bool const is_out_of_core = problem.rows.empty()
                                  ? count_out_of_core(problem.plan.products.formats) > 0
                                  : problem.rows.front().out_of_core != nullptr;
  if (!is_out_of_core) problem.shared = in_units.memory;  // else it has copies
  limit_windows(problem.plan, options.streaming);         // the counts' share included
  return problem;
}

}  // namespace detail
}  // namespace sporades
