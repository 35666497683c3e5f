// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/complete/complete_method.hpp>
#include <sporades/algorithms/detail/memory/fit.hpp>
#include <sporades/core/detail/dense/workspace_bytes.hpp>
#include <sporades/kernels/detail/mttkrp_all_modes/all_modes_memory.hpp>

namespace sporades::detail {

/// From complete_start, or a given start, to the model, with make_complete_problem of X between
/// them.
template <class ExecutionSpace, class Tensor>
MemoryNeed run_need(ExecutionSpace const& exec, CooShape const& shape, Tensor const& X,
                    CompleteOptions const& options, bool) {
  using Scalar = typename Tensor::Scalar;
  check_complete(options, shape.dims);
  std::size_t const N = shape.dims.size();
  int const columns = complete_columns(options, N);
  double const factors = factors_bytes<Scalar>(shape.dims, columns);
  double const model = factors_bytes<Scalar>(shape.dims, columns + (options.offsets ? 1 : 0));
  auto const builder = builder_of<typename Tensor::MemorySpace>(exec);
  FiberCountEstimate<std::decay_t<decltype(builder)>, Tensor> tuples(builder, X);
  MemoryCount count;
  count.hold(factors);
  count.hold(shape.bytes());
  auto learned = shape;
  if (options.holdout > 0) {
    // The numbers that are drawn differ from the mean by less than six standard deviations, except
    // where most of the cells have several values, which are drawn together.
    double const spread = 6 * std::sqrt(shape.nnz * options.holdout * (1 - options.holdout)) + 1;
    learned.nnz = std::min(shape.nnz, (1 - options.holdout) * shape.nnz + spread);
    auto held = shape;
    held.nnz = std::min(shape.nnz, options.holdout * shape.nnz + spread);
    count.hold(held.bytes());
    if (options.offsets) count.pass(held.value_bytes());
    count.pass(learned.bytes());  // the part, while X is still there
    count.release(shape.bytes());
    count.hold(learned.bytes());
  }
  if (options.offsets) count.pass(learned.value_bytes());  // less the mean
  count.pass(dot_bytes(learned.nnz));
  count_all_modes_plan<Scalar>(exec, count, learned, products_of(options, N), tuples);
  double const state = (options.holdout > 0 ? 2 : 1) * factors;
  if (options.starts > 1) count.hold(state + model);  // the best state and its model
  int const unknowns = options.rank + (options.offsets ? 1 : 0);
  // CompleteSolver. What its steps work with is one memory.
  double const work = std::max(
      {normal_solve_bytes(exec, unknowns, static_cast<std::uint64_t>(longest(shape.dims))),
       rows_at_once_bytes<ExecutionSpace, Scalar>(exec, learned.nnz, unknowns, longest(shape.dims),
                                                  normal_columns(columns)),
       column_workspace_bytes<ExecutionSpace>(shape.dims.back(), columns), dot_bytes(shape.nnz)});
  count.hold(matrix_bytes<Scalar>(longest(shape.dims), static_cast<int>(normal_columns(columns))) +
             (sizeof(Scalar) < 8 ? 0 : matrix_bytes<Scalar>(shape.dims.back(), columns)) + work +
             16.0 * columns);
  count.hold(state - factors);                            // those that are kept
  count.pass(learned.bytes());                            // of the residual nonzero by nonzero
  count.pass(model + most_of(shape.dims, [&](auto dim) {  // of columns' lengths
               return matrix_bytes<Scalar>(static_cast<double>(dim), columns + 1) +
                      column_workspace_bytes<ExecutionSpace>(dim, columns + 1);
             }));
  count.hold(2 * model + (8.0 + sizeof(Scalar)) * columns);  // the model
  return {count.held(), with_small_views(count.peak()), 8.0 * columns};
}

inline bool can_stream(bool, CooShape const&, CompleteOptions const&) {
  return false;
}
inline void set_streaming(bool, CooShape const&, CompleteOptions&, double) {}
inline std::string lighten(bool, CooShape const&, CompleteOptions const&, CompleteOptions&, bool) {
  return "";
}

}  // namespace sporades::detail

#include <sporades/eti/complete_memory.hpp>
