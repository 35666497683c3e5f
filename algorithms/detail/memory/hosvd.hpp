// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/hosvd.hpp>
#include <sporades/core/detail/dense/workspace_bytes.hpp>
#include <sporades/kernels/detail/mttkrp/mttkrp_memory.hpp>

namespace sporades::detail {

/// leading_singular_vectors: the vectors stay held.
template <class Scalar, class ExecutionSpace, class Tuples>
void count_singular_vectors(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                            int n, int R, Tuples& tuples) {
  auto const dim = X.dims[n];
  double const rows = static_cast<double>(dim), before = count.held();
  std::vector<int> others;
  for (int m = 0; m < X.order(); ++m)
    if (m != n) others.push_back(m);
  double const fibers = tuples.of(others, others.size());
  CooShape unfolded = X;
  unfolded.dims = {static_cast<std::uint64_t>(fibers), dim};
  unfolded.sorted_modes = {};
  auto const list = sorted_bytes(exec, X, others);
  count.make({unfolded.bytes(), std::max(list.peak, list.kept + 8 * X.nnz + unfolded.bytes())});
  int const k = static_cast<int>(padded_columns(static_cast<std::size_t>(
      std::min<std::uint64_t>(dim, static_cast<std::uint64_t>(std::max(R + 8, 32))))));
  MttkrpOptions const options{MttkrpStrategy::sorted, k};
  auto const rows_of = [&](int mode) { return mode == 0 ? fibers : std::min(rows, X.nnz); };
  count_mttkrp_plan<Scalar>(exec, count, {unfolded, true, rows_of}, options,
                            decide_layout<ExecutionSpace>(unfolded, options), tuples);
  count.hold(matrix_bytes<Scalar>(k, k) + matrix_bytes<double>(k, k) +
             matrix_bytes<Scalar>(fibers + 3 * rows, k) +
             product_workspace_bytes<ExecutionSpace>(dim, k, k) + matrix_bytes<Scalar>(rows, R));
  count.hold_in_all(before + matrix_bytes<Scalar>(rows, R));
}

}  // namespace sporades::detail
