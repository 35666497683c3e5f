// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/cp_apr/cp_apr_method.hpp>
#include <sporades/algorithms/detail/memory/fit.hpp>
#include <sporades/core/detail/dense/workspace_bytes.hpp>
#include <sporades/kernels/detail/phi/phi_memory.hpp>

namespace sporades::detail {

/// The memory of solve_rows for so many windows at once.
template <class ExecutionSpace, class Scalar, class Index, class Method>
double row_workspace_bytes(ExecutionSpace const& exec, CooShape const& X, int R, int streams) {
  using Nonzeros = RowNonzeros<Scalar, Index, typename ExecutionSpace::memory_space>;
  using Objective = RowObjective<Nonzeros>;
  using Short = SolveShortRows<ExecutionSpace, Objective, Method>;
  typename Short::Kernel kernel{};
  kernel.objective.R = R;
  kernel.objective.lanes = row_lanes<ExecutionSpace>;
  auto const launch = row_launch(exec, kernel);
  // Long rows are longer than a segment, and have at most twice as many segments as fit the
  // nonzeros.
  auto const longs = static_cast<std::size_t>(
      X.nnz / static_cast<double>(default_segment_length<ExecutionSpace>(X.count(), R)));
  RowMemory<ExecutionSpace, typename Short::Kernel> const parts(kernel, launch, longs, 2 * longs);
  std::size_t const doubles = parts.size + static_cast<std::size_t>(streams - 1) * parts.vectors;
  return static_cast<double>(doubles * sizeof(double) + 8 * longs);
}

/// make_row_subproblems on a mode: what it holds beside the nonzeros.
template <class ExecutionSpace>
double row_subproblem_bytes(CooShape const& X, int n, int R) {
  double const longs =
      std::floor(X.nnz / static_cast<double>(default_segment_length<ExecutionSpace>(X.count(), R)));
  return 8 * (static_cast<double>(X.dims[n]) + 1) + 8 * (4 * longs + 1);
}

/// From cp_apr_start to the model, with make_cp_apr_problem of X between them. What is streamed by
/// methods pdnr and pqnr is in so many windows at once as there are streams.
template <class ExecutionSpace, class Tensor>
MemoryNeed run_need(ExecutionSpace const& exec, CooShape const& shape, Tensor const& X,
                    CpAprOptions const& options, bool is_streamed) {
  using Scalar = typename Tensor::Scalar;
  using Index = typename Tensor::Index;
  check_cp_apr(options);
  auto const builder = builder_of<typename Tensor::MemorySpace>(exec);
  auto const& dims = shape.dims;
  int const R = options.rank, P = static_cast<int>(padded_columns(static_cast<std::size_t>(R)));
  double const factors = factors_bytes<Scalar>(dims, R), marks = factors / sizeof(Scalar);
  double const workspace =
      most_of(dims, [&](auto dim) { return column_workspace_bytes<ExecutionSpace>(dim, P); });
  bool const is_by_rows = options.method != CpAprMethod::mu;
  MemoryCount count;
  count.hold(factors + marks);  // a byte an entry marks what to raise
  if (is_streamed && !is_by_rows) {
    FiberCountBound possible(shape);
    count_out_of_core_plan<Scalar, ExecutionSpace>(count, shape, {MttkrpStrategy::automatic, P},
                                                   possible);
  } else if (!is_streamed) {
    count.hold(shape.bytes());
    count_sum_duplicates(builder, count, shape, may_repeat(builder, X));
    double const largest = static_cast<double>(max_abs(builder, X.values));
    bool const in_units = unit_of_counts(least_count(builder, X.values), largest) != 1;
    if (in_units) count.hold(shape.value_bytes());
    FiberCountEstimate<std::decay_t<decltype(builder)>, Tensor> tuples(builder, X);
    if (!is_by_rows &&
        count_phi_plan<Scalar>(exec, count, shape, {options.strategy, P, options.pi, {}}, tuples))
      count.pass(shape.bytes() + (in_units ? shape.value_bytes() : 0));
  }
  for (int n = 0; n < shape.order() && is_by_rows; ++n) {
    if (!is_streamed) count.make(sorted_bytes(exec, shape.unordered(), {n}));
    count.hold(row_subproblem_bytes<ExecutionSpace>(shape, n, R));
  }
  if (options.starts > 1) count.hold(2 * factors + marks);  // the best state and its model
  // CpAprSolver, with Phi, weights, rows and what the log-likelihood takes.
  if (is_by_rows) {
    int const streams = is_streamed && is_gpu<ExecutionSpace> ? options.streaming.streams : 1;
    double rows =
        row_workspace_bytes<ExecutionSpace, Scalar, Index, QuasiNewton>(exec, shape, R, streams);
    if (options.method == CpAprMethod::pdnr)
      rows = std::max(rows, row_workspace_bytes<ExecutionSpace, Scalar, Index, DampedNewton>(
                                exec, shape, R, streams));
    count.hold(rows + (sizeof(double) + sizeof(int)) * longest(dims) + 24);
  }
  auto const blocks = static_cast<std::uint64_t>(std::ceil(shape.nnz / 2048));
  double const likelihood =
      8.0 * static_cast<double>(64 * blocks + scratch_of_sum_blocks(blocks, 64));
  count.hold(matrix_bytes<Scalar>(longest(dims), R) + workspace + std::max(likelihood, workspace) +
             8.0 * (64 + (static_cast<double>(dims.size()) + 2) * P));
  count.hold(factors + (8.0 + sizeof(Scalar)) * R);  // the model
  return {count.held(), with_small_views(count.peak()), 8.0 * R};
}

inline bool can_stream(bool, CooShape const& X, CpAprOptions const& options) {
  if (options.method != CpAprMethod::mu) return true;
  bool const pulls =
      options.strategy == PhiStrategy::automatic || options.strategy == PhiStrategy::pull;
  return pulls && options.pi == Pi::on_the_fly && fits_packed_words(X);
}

inline void set_streaming(bool, CooShape const&, CpAprOptions& options, double bytes) {
  options.streaming.always = true;
  options.streaming.memory = static_cast<std::uint64_t>(bytes);
}

inline std::string lighten(bool, CooShape const&, CpAprOptions const&, CpAprOptions&, bool) {
  return "";
}

}  // namespace sporades::detail

#include <sporades/eti/cp_apr_memory.hpp>
