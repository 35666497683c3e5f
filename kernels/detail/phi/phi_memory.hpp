// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/mttkrp/mttkrp_memory.hpp>
#include <sporades/kernels/phi.hpp>

/// What plans for Phi hold.

namespace sporades::detail {

/// make_phi_plan of counts that are kept, and that `count` holds; returns whether an order of the
/// counts along a curve takes their place.
template <class Scalar, class ExecutionSpace, class Tuples>
bool count_phi_plan(ExecutionSpace const& exec, MemoryCount& count, CooShape const& counts,
                    PhiOptions const& options, Tuples& tuples) {
  auto X = counts;
  X.is_kept = true;
  bool const is_stored = options.pi == Pi::stored, is_linear_coo = is_coo_alto(options.strategy);
  bool const is_coo = is_linear_coo || options.strategy == PhiStrategy::atomic;
  if (is_stored || is_coo) {
    int const lists = is_stored && !is_coo ? X.order() : 1;
    if (options.updatable) count.hold(X.value_bytes() + lists * numbers_bytes(X.nnz));
    if (is_stored) count.hold(matrix_bytes<Scalar>(X.nnz, options.rank));
    if (is_linear_coo) {  // a linear order becomes coordinates; for pulls its parts stay
      double rows = 0;
      for (int n = 0; n < X.order() && options.strategy == PhiStrategy::coo_alto_pull; ++n)
        rows = std::max(rows, most_buffer_rows(X, n));
      auto const alto = alto_bytes(exec, X, rows);
      count.make(alto);
      count.hold(X.bytes() + matrix_bytes<Scalar>(rows, options.rank));
      count.release(alto.kept - (rows > 0 ? alto_part_bytes(X, rows) : 0));
    } else if (!is_coo) {
      for (int n = 0; n < X.order(); ++n) count.make(sorted_bytes(exec, X.unordered(), {n}));
      count.hold(chunk_carry_bytes<ExecutionSpace, Scalar>(X.count(), options.rank));
    }
    if (coo_takes_two_passes<ExecutionSpace, Scalar>(options)) count.hold(X.value_bytes());
    return false;
  }
  MttkrpOptions products{MttkrpStrategy::automatic, options.rank};
  products.updatable = options.updatable;
  products.streaming = options.streaming;
  if (is_linear(options.strategy))
    products.strategy = linear_products<ExecutionSpace>(options.strategy);
  if (options.strategy == PhiStrategy::pull) products.rows.order = RowOrder::lexicographic;
  auto const layout = decide_layout<ExecutionSpace>(X, products, {trees::phi_layout_on_hosts});
  count_mttkrp_plan<Scalar>(exec, count, X, products, layout, tuples);
  bool const is_alto = layout.is_linear();
  auto const columns = padded_columns(static_cast<std::size_t>(options.rank));
  if ((is_gpu<ExecutionSpace> && is_alto) || !rows_are_one_tile<ExecutionSpace, Scalar>(columns))
    count.hold(X.value_bytes());
  return is_alto;
}

}  // namespace sporades::detail
