// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/mttkrp/mttkrp_memory.hpp>
#include <sporades/kernels/phi.hpp>

/// What plans for Phi hold: as formats/detail/format_memory.hpp.

namespace sporades::detail {

/// make_phi_plan of counts that are kept; returns whether an order of the counts along a curve
/// takes their place.
template <class Scalar, class ExecutionSpace, class Tuples>
bool count_phi_plan(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                    PhiOptions const& options, Tuples& tuples) {
  int const columns = static_cast<int>(padded_columns(static_cast<std::size_t>(options.rank)));
  bool const is_stored = options.pi == Pi::stored;
  if (is_stored) count.hold(matrix_bytes<Scalar>(X.nnz, options.rank));
  if (options.strategy == PhiStrategy::atomic) return false;
  if (is_stored) {
    for (int n = 0; n < X.order(); ++n) {
      bool is_new = false;
      count_sorted(exec, count, X, mttkrp_mode_order(X.dims, n), is_new);
    }
    count.hold(X.value_bytes() +
               carry_bytes_of<ExecutionSpace, Scalar>(X.count(), options.rank, X.index_bytes));
    return false;
  }
  MttkrpOptions products{MttkrpStrategy::automatic, options.rank};
  products.streaming = options.streaming;
  if (is_linear(options.strategy)) products.strategy = MttkrpStrategy::alto;
  if (options.strategy == PhiStrategy::pull) products.order = RowOrder::lexicographic;
  auto const strategy = first_strategy<ExecutionSpace>(X, products, trees::phi_layout_on_hosts);
  count_mttkrp_plan<Scalar>(exec, count, X, false, products, strategy, tuples,
                            [&](int n) { return tuples.rows(n); });
  bool const is_alto = strategy == MttkrpStrategy::alto;
  if ((is_gpu<ExecutionSpace> && is_alto) ||
      !rows_are_one_tile<ExecutionSpace, Scalar>(static_cast<std::size_t>(columns)))
    count.hold(X.value_bytes());
  return is_alto;
}

}  // namespace sporades::detail
