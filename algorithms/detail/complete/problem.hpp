// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/algorithms/complete.hpp>
#include <sporades/algorithms/detail/decompose.hpp>
#include <sporades/core/detail/dense.hpp>
#include <sporades/formats/split_coo.hpp>
#include <sporades/kernels/mttkrp_all_modes.hpp>
#include <sporades/kernels/normal_equations.hpp>

namespace sporades::detail {

/// Columns of the factors: see CompleteState.
inline int complete_columns(CompleteOptions const& options, std::size_t order) {
  return options.rank + (options.offsets ? static_cast<int>(order) : 0);
}

/// Of a mode.
inline double smoothness_of(CompleteOptions const& options, std::size_t n) {
  auto const& all = options.penalty.smoothness;
  return n < all.size() ? all[n] : 0;
}

inline int differences_of(CompletePenalty const& penalty, std::size_t n) {
  return n < penalty.differences.size() ? penalty.differences[n] : 1;
}

inline double lambda_of(CompleteOptions const& options, std::size_t n) {
  auto const& all = options.penalty.lambda;
  return all.size() == 1 ? all[0] : all[n];
}

/// Throws Error where options are out of their range.
inline void check_complete(CompleteOptions const& options, Dims const& dims) {
  check_rank("complete", options.rank);
  check_run("complete", options);
  auto const& penalty = options.penalty;
  auto const check = [](char const* name, double number) {
    expects(number >= 0 && std::isfinite(number), "complete: ", name, " ", number,
            " is not 0 or a positive number");
  };
  for (double const number : penalty.lambda) check("the penalty", number);
  expects(penalty.lambda.size() == 1 || penalty.lambda.size() == dims.size(),
          "complete: ", penalty.lambda.size(), " penalties for order ", dims.size(),
          ": one, or one of each mode");
  check("the penalty of offsets", penalty.offsets);
  for (double const number : penalty.smoothness) check("smoothness", number);
  expects(penalty.power >= 0 && penalty.power <= 1, "complete: the power of counts ", penalty.power,
          " is not in 0 to 1");
  expects(penalty.power == 0 || options.offsets,
          "complete: without offsets the power of counts is 0, not ", penalty.power);
  for (int const d : penalty.differences)
    expects(d == 1 || d == 2, "complete: differences ", d, " are neither 1 nor 2");
  auto const modes = std::max(penalty.smoothness.size(), penalty.differences.size());
  expects(modes <= dims.size(), "complete: smoothness of ", modes, " modes for order ",
          dims.size());
  expects(options.holdout >= 0 && options.holdout < 1, "complete: ", options.holdout,
          " of the entries held out: it is 0, or below 1");
  expects(options.patience > 0, "complete: patience ", options.patience, ": at least 1");
  expects(may_be_by_rows(options.strategy), "complete: the strategy is sorted or fibers, not ",
          to_string(options.strategy));
  expects(!options.streaming.always && options.streaming.memory == 0,
          "complete: nothing is streamed");
  int const columns = complete_columns(options, dims.size());
  expects(columns <= most_normal_rank, "complete: ", columns, " columns are over ",
          most_normal_rank);
}

/// "1.2,1.2,0.01", as the command takes penalties.
inline std::string list_of(std::vector<double> const& numbers) {
  std::string text;
  for (double const number : numbers) text += concatenate(text.empty() ? "" : ",", number);
  return text;
}

/// "1:50,3:0.5:2", modes from 1, of those that are smooth; "none" where none is.
inline std::string smooth_modes(CompletePenalty const& penalty) {
  std::string text;
  for (std::size_t n = 0; n < penalty.smoothness.size(); ++n)
    if (penalty.smoothness[n] > 0)
      text += concatenate(text.empty() ? "" : ",", n + 1, ":", penalty.smoothness[n],
                          differences_of(penalty, n) == 2 ? ":2" : "");
  return text.empty() ? "none" : text;
}

inline NamedOptions named_options(CompleteOptions const& options) {
  return NamedOptions()
      .add("rank", options.rank)
      .add("offsets", options.offsets)
      .add("penalty", list_of(options.penalty.lambda))
      .add("offset_penalty", options.penalty.offsets)
      .add("power", options.penalty.power)
      .add("smooth", smooth_modes(options.penalty))
      .add("holdout", options.holdout)
      .add("patience", options.patience)
      .add("strategy", options.strategy);
}

/// What its products are planned for: the columns of systems.
inline MttkrpAllModesOptions products_of(CompleteOptions const& options, std::size_t order) {
  MttkrpAllModesOptions products{{options.strategy, 0}, false};
  plan_for_rows(products.products, complete_columns(options, order));
  return products;
}

/// to[p] = from[p] - mean
template <class Values>
struct LessMean {
  Values from, to;
  double mean;

  KOKKOS_FUNCTION void operator()(std::uint64_t p) const {
    to(p) = static_cast<typename Values::non_const_value_type>(static_cast<double>(from(p)) - mean);
  }
};

/// X with values of its own, less the mean. Enqueued on exec.
template <class ExecutionSpace, class Tensor>
Tensor less_mean(ExecutionSpace const& exec, Tensor X, double mean) {
  using Values = decltype(X.values);
  auto const values = uninitialized<Values>(exec, "sporades::complete::values", X.nnz());
  launch_items(exec, "sporades::complete::less_mean", X.nnz(),
               LessMean<Values>{X.values, values, mean});
  X.values = values;
  return X;
}

/// The mean of values, in double and in an order that their number gives. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
double mean_of(ExecutionSpace const& exec, Vector<Scalar, MemorySpace> const& values) {
  Kokkos::View<double*, MemorySpace> const sum(Kokkos::view_alloc(exec, "sporades::complete::mean"),
                                               1);
  Workspace<MemorySpace> workspace;
  column_sums(exec, Matrix<Scalar, MemorySpace>(values.data(), values.extent(0), 1), sum,
              workspace);
  return to_vector(exec, sum)[0] / static_cast<double>(values.extent(0));
}

/// Throws Error where values of that magnitude leave no room for products of coefficients.
template <class Scalar>
void check_magnitude(double largest) {
  int const most = std::numeric_limits<Scalar>::max_exponent / 3;  // of the 3rd power
  expects(largest == 0 || std::abs(std::ilogb(largest)) <= most, "complete: values of up to ",
          largest, " are too ", largest < 1 ? "small" : "large", " for ",
          sizeof(Scalar) == 4 ? "float" : "double", ": multiply them by a number");
}

/// make_complete_problem.
template <class ExecutionSpace, class Scalar, class Index, class GivenSpace>
CompleteProblem<Scalar, Index, WorkSpace<ExecutionSpace, GivenSpace>> build_complete_problem(
    Communicator const& processes, ExecutionSpace const& exec,
    CooTensor<Scalar, Index, GivenSpace> X, CompleteOptions const& options) {
  using MemorySpace = WorkSpace<ExecutionSpace, GivenSpace>;
  Region const region("sporades::make_complete_problem");
  check_complete(options, X.dims);
  expects(processes.size() == 1, "complete: ", processes.size(), " processes: it works on one");
  CompleteProblem<Scalar, Index, MemorySpace> problem;
  if constexpr (std::is_same_v<GivenSpace, MemorySpace>) {
    expect_decomposable(processes, exec, X, "complete");
    check_magnitude<Scalar>(largest_value(processes, exec, X.values));
    problem.dims = X.dims;
    if (options.holdout > 0) {
      auto parts = run_split(exec, X, options.holdout, holdout_seed(options.seed), -1);
      X = hand_over(parts.train);
      problem.held = hand_over(parts.test);
      expects(X.nnz() > 0 && problem.held.nnz() > 0, "complete: ", options.holdout,
              " of the entries held out leaves ", X.nnz(), " to learn from and ",
              problem.held.nnz(), " to judge by");
    }
    problem.nnz = X.nnz();
    problem.rank = options.rank;
    problem.offsets = options.offsets;
    if (options.offsets) {
      problem.mean = mean_of(exec, X.values);
      X = less_mean(exec, hand_over(X), problem.mean);
      if (problem.held.nnz() > 0) problem.held = less_mean(exec, problem.held, problem.mean);
    }
    problem.norm_squared = norm_squared_across(processes, exec, {0, X.nnz()}, X.values);
    problem.products = build_all_modes_plan(processes, exec, hand_over(X),
                                            products_of(options, problem.dims.size()));
  } else {
    fail("complete: X is where exec cannot access it, and nothing is streamed: copy it first");
  }
  return problem;
}

}  // namespace sporades::detail
