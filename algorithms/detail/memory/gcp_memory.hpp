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
  LossPolynomial c{0, 1, 0, 0};  // of the tangent at m = 0
  if (is_closed(options))
    c = with_loss(options.loss, [&](auto const& loss) {
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

/// What passes over all cells take: see CellWork. wants_sums: for gradients, else for the loss.
template <class ExecutionSpace>
double cell_work_bytes(Dims const& dims, int rank, bool wants_sums) {
  auto const R = static_cast<std::size_t>(rank);
  MemoryCount count;
  double inner = 0, products = 0, sums = 0, values = 0;
  for (std::size_t n = 0; n < (wants_sums ? dims.size() : 1); ++n) {
    std::uint64_t others = 1, longest = 1;
    for (std::size_t k = 0; k < dims.size(); ++k) {
      if (k == n) continue;
      others *= dims[k];
      longest = std::max<std::uint64_t>(longest, dims[k]);
    }
    std::uint64_t const rows = dims[n], of_part = cells_of_part<ExecutionSpace>(rows, others, R),
                        parts = quotient_up(others, of_part), items = rows * parts;
    auto const grow = [&](double& room, std::uint64_t doubles) {
      count.grow(room, 8.0 * static_cast<double>(doubles));
    };
    grow(inner, R * (longest + CellPass<double>::at_once));
    grow(products, items * R);
    if (wants_sums) grow(sums, items * R + scratch_of_sum_blocks(parts, rows * R));
    if (n == 0) grow(values, items + scratch_of_sum_blocks(items, 1));
  }
  return count.peak();
}

/// What draws of so many cells and entries take: see LossSamples.
template <class ExecutionSpace, class Scalar, class Index>
double drawn_bytes(CooShape const& X, Position cells, Position entries, int rank) {
  Position const all = cells + entries;
  auto const blocks = static_cast<std::uint64_t>(LossBlocks::count(all));
  constexpr std::uint64_t sums = 3 * LossBlocks::lanes;
  double trees = 0;
  auto const R = static_cast<std::size_t>(rank);
  for (auto const dim : X.dims)
    trees += 8.0 * static_cast<double>(SumTree::size(dim, R) + SumTree::group_sums(dim, R));
  return shape_of<Scalar, Index>(X.dims, all).bytes() + 3 * 8.0 * static_cast<double>(all) +
         4.0 * static_cast<double>(cells) + trees +
         8.0 * static_cast<double>(blocks * sums + scratch_of_sum_blocks(blocks, sums) +
                                   SampleNumbers{R}.size());
}

/// The draws of a run, with what is passed while it takes gradients of them, which it then holds.
/// Returns what the sums of products hold.
template <class Scalar, class Index, class ExecutionSpace, class Loss>
void count_draws(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                 GcpOptionsOf<Loss> const& options) {
  int const R = options.rank;
  Position const cells = drawn_cells(options, X.count()), entries = options.tuning.nonzeros;
  count.hold(drawn_bytes<ExecutionSpace, Scalar, Index>(
      X, std::max(cells, compared_cells(X.count())), entries, R));
  if (descends(method_of(options, GcpZeros::samples))) {
    count.hold(carry_bytes<Scalar>(std::max<Position>(2, chunks_of(cells + entries, 2)),
                                   static_cast<std::size_t>(R)));
    count.pass(sort_bytes(exec, cells + entries).peak);
  } else {
    auto const slopes = shape_of<Scalar, Index>(X.dims, cells);
    MemoryCount own;
    own.hold(slopes.bytes());
    count_sum_duplicates(exec, own, slopes, true);
    FiberCountBound tuples(slopes);
    auto products = products_of(options);
    products.products.updatable = false;
    count_all_modes_plan<Scalar>(exec, own, slopes, products, tuples);
    count.hold(own.peak());
  }
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
  auto const zeros = choose_zeros(exec, shape.dims, shape.count(), options).zeros;
  auto const method = method_of(options, zeros);
  MemoryCount count;
  count.hold(factors);
  count.hold(shape.bytes());
  if (options.absent == AbsentEntries::zero)
    count_sum_duplicates(builder, count, shape, may_repeat(builder, X));
  count.hold(shape.bytes());  // the plan keeps X, and what it is built of is released
  if (options.tuning.nonzeros == 0)
    count_all_modes_plan<Scalar>(exec, count, shape, products_of(options), tuples);
  count.hold(loss_work_bytes<ExecutionSpace, Scalar>(shape, options));
  count.pass(8 * shape.nnz);  // the values of the random start
  if (zeros == GcpZeros::samples)
    count_draws<Scalar, typename Tensor::Index>(exec, count, shape, options);
  double const pairs = descends(method) ? 2 * factors : 2 * (options.tuning.history + 1) * factors;
  if (options.starts > 1 || has_gcp_race(options))
    count.hold(2 * factors + pairs);  // the best state and its model
  // GcpSolver: a gradient, and where variables are roots their squares; of L-BFGS the direction,
  // the next variables and their gradient, and pairs; of others what epochs may bring back.
  bool const is_bounded = has_bound(options) && !has_roots(options) && !descends(method);
  bool const may_undo = has_epochs(method, zeros) || is_concave_at_zero(options);
  double vectors = 1 + (has_roots(options) ? 1 : 0);
  vectors += descends(method) ? 3 : 3 + (may_undo ? 1 : 0);
  if (zeros == GcpZeros::samples && !descends(method)) vectors += 1;  // the tangent's gradient
  count.hold(vectors * factors + pairs + dot_bytes(factors / sizeof(Scalar)) +
             (is_bounded ? factors / sizeof(Scalar) : 0));
  bool const is_exact = zeros == GcpZeros::enumeration;
  if (is_exact || (zeros == GcpZeros::samples && dense_size(shape.dims) <= most_cells_at_end))
    count.pass(cell_work_bytes<ExecutionSpace>(shape.dims, options.rank, is_exact));
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
