// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/mttkrp/mttkrp_memory.hpp>
#include <sporades/kernels/phi.hpp>

/// What plans for Phi hold.

namespace sporades::detail {

/// Coordinates in the linear order, and for `coo_alto_pull` parts and buffers; make_alto's own copy
/// goes.
template <class Scalar, class ExecutionSpace>
void count_coo_alto(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                    PhiOptions const& options) {
  bool const is_pull = options.strategy == PhiStrategy::coo_alto_pull;
  double buffer_rows = 0;
  for (int n = 0; n < X.order() && is_pull; ++n)
    buffer_rows = std::max(buffer_rows, most_buffer_rows(X, n));
  auto const alto = alto_bytes(exec, X, false, buffer_rows);
  double const buffers = is_pull ? matrix_bytes<Scalar>(buffer_rows, options.rank) : 0;
  count.make({X.bytes() + buffers + (is_pull ? alto_part_bytes(X, buffer_rows) : 0),
              std::max(alto.peak, alto.kept + buffers + X.bytes())});
}

/// make_phi_plan of counts that are kept; returns whether an order of the counts along a curve
/// takes their place.
template <class Scalar, class ExecutionSpace, class Tuples>
bool count_phi_plan(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                    PhiOptions const& options, Tuples& tuples) {
  int const columns = static_cast<int>(padded_columns(static_cast<std::size_t>(options.rank)));
  bool const is_stored = options.pi == Pi::stored;
  bool const is_atomic = options.strategy == PhiStrategy::atomic;
  if (options.updatable && (is_stored || is_atomic || is_coo_alto(options.strategy))) {
    // Numbers in place of the values while it is built, which `atomic` keeps, and their lists.
    count.hold(X.value_bytes());
    count.hold((is_stored && !is_atomic ? X.order() : 1) * numbers_bytes(X.nnz));
    if (!is_atomic) count.release(X.value_bytes());
  }
  if (is_stored) count.hold(matrix_bytes<Scalar>(X.nnz, options.rank));
  double const weights =
      coo_takes_two_passes<ExecutionSpace, Scalar>(options) ? X.value_bytes() : 0;
  if (options.strategy == PhiStrategy::atomic) {
    count.hold(weights);
    return false;
  }
  if (is_coo_alto(options.strategy)) {
    count_coo_alto<Scalar>(exec, count, X, options);
    count.hold(weights);
    return false;
  }
  if (is_stored) {
    for (int n = 0; n < X.order(); ++n)
      count.make(sorted_bytes(exec, X, mttkrp_mode_order(X.dims, n)));
    count.hold(weights +
               carry_bytes_of<ExecutionSpace, Scalar>(X.count(), options.rank, X.index_bytes));
    return false;
  }
  MttkrpOptions products{MttkrpStrategy::automatic, options.rank};
  products.updatable = options.updatable;
  products.streaming = options.streaming;
  if (is_linear(options.strategy))
    products.strategy = linear_products<ExecutionSpace>(options.strategy);
  if (options.strategy == PhiStrategy::pull) products.rows.order = RowOrder::lexicographic;
  auto const layout = decide_layout<ExecutionSpace>(X, products, {trees::phi_layout_on_hosts});
  count_mttkrp_plan<Scalar>(exec, count, counted(X, false, tuples), products, layout, tuples);
  bool const is_alto = layout.is_linear();
  if ((is_gpu<ExecutionSpace> && is_alto) ||
      !rows_are_one_tile<ExecutionSpace, Scalar>(static_cast<std::size_t>(columns)))
    count.hold(X.value_bytes());
  return is_alto;
}

}  // namespace sporades::detail
