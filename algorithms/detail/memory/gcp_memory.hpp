// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/gcp/gcp_method.hpp>
#include <sporades/algorithms/detail/memory/fit.hpp>
#include <sporades/core/detail/dense/workspace_bytes.hpp>
#include <sporades/kernels/detail/mttkrp_all_modes/all_modes_memory.hpp>

namespace sporades::detail {

/// The buffers of a loss and its gradient: see LossWork.
template <class ExecutionSpace, class Scalar, class Loss>
double loss_work_bytes(CooShape const& X, GcpOptionsOf<Loss> const& options) {
  auto const c = with_loss(options.loss, [&](auto const& loss) {
    return polynomial_of_cells(loss, options.absent, options.rank, "gcp");
  });
  int const R = options.rank;
  LossNumbers const numbers(X.dims.size(), static_cast<std::size_t>(R), c);
  auto const blocks = static_cast<std::uint64_t>(LossBlocks::count(X.count()));
  double sums = 8.0 * static_cast<double>(blocks * LossBlocks::sums +
                                          scratch_of_sum_blocks(blocks, LossBlocks::sums));
  sums = std::max(sums, most_of(X.dims, [&](auto dim) {
                    return std::max(product_workspace_bytes<ExecutionSpace>(dim, R, R),
                                    column_workspace_bytes<ExecutionSpace>(dim, R));
                  }));
  double const cubes = c[3] != 0 ? matrix_bytes<Scalar>(longest(X.dims), R) : 0;
  return (8 + sizeof(Scalar)) * X.nnz + 8.0 * static_cast<double>(numbers.size()) + sums + cubes;
}

/// From gcp_start, or a given start, to the model, with make_gcp_problem of X between them.
template <class ExecutionSpace, class Tensor, class Loss>
MemoryNeed run_need(ExecutionSpace const& exec, CooShape const& shape, Tensor const& X,
                    GcpOptionsOf<Loss> const& options, bool) {
  using Scalar = typename Tensor::Scalar;
  check_gcp(options);
  auto const builder = builder_of<typename Tensor::MemorySpace>(exec);
  double const factors = factors_bytes<Scalar>(shape.dims, options.rank);
  FiberCountEstimate<std::decay_t<decltype(builder)>, Tensor> tuples(builder, X);
  MemoryCount count;
  count.hold(factors);
  count.hold(shape.bytes());
  if (options.absent == AbsentEntries::zero)
    count_sum_duplicates(builder, count, shape, may_repeat(builder, X));
  count.hold(shape.bytes());  // the plan keeps X, and what it is built of is released
  count_all_modes_plan<Scalar>(exec, count, shape, products_of(options), tuples);
  count.hold(loss_work_bytes<ExecutionSpace, Scalar>(shape, options));
  count.pass(8 * shape.nnz);  // the values of the random start
  double const pairs = 2 * (options.history + 1) * factors;
  if (options.starts > 1 || has_gcp_race(options))
    count.hold(2 * factors + pairs);  // the best state and its model
  // GcpSolver: gradients, the direction, the next variables, their squares, and pairs.
  bool const is_bounded = has_bound(options) && !has_roots(options);
  count.hold((has_roots(options) ? 5 : 4) * factors + pairs + dot_bytes(factors / sizeof(Scalar)) +
             (is_bounded ? factors / sizeof(Scalar) : 0));
  count.pass(most_of(shape.dims, [&](auto dim) {  // of columns' lengths
    return matrix_bytes<Scalar>(static_cast<double>(dim), options.rank) +
           column_workspace_bytes<ExecutionSpace>(dim, options.rank);
  }));
  count.hold(factors + (8.0 + sizeof(Scalar)) * options.rank);  // the model
  return {count.held(), with_small_views(count.peak()), 8.0 * options.rank};
}

template <class Loss>
bool can_stream(bool, CooShape const&, GcpOptionsOf<Loss> const&) {
  return false;
}

template <class Loss>
void set_streaming(bool, CooShape const&, GcpOptionsOf<Loss>&, double) {}

/// One copy of the nonzeros in place of one for each mode.
template <class Loss>
std::string lighten(bool on_gpu, CooShape const& X, GcpOptionsOf<Loss> const& asked,
                    GcpOptionsOf<Loss>& options, bool streams) {
  if (streams || asked.strategy != MttkrpStrategy::automatic) return "";
  MttkrpOptions products{options.strategy};
  auto const less = lighten(on_gpu, X, MttkrpOptions{}, products, false);
  options.strategy = products.strategy;
  return less;
}

}  // namespace sporades::detail

#include <sporades/eti/gcp_memory.hpp>
