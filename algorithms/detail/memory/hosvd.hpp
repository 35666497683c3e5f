// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/hosvd.hpp>
#include <sporades/core/detail/dense/workspace_bytes.hpp>
#include <sporades/kernels/detail/mttkrp/mttkrp_memory.hpp>

namespace sporades::detail {

/// leading_singular_vectors, R of mode n: nothing stays held, and the vectors that do are counted
/// as factors.
template <class Scalar, class ExecutionSpace, class Tuples>
void count_singular_vectors(ExecutionSpace const& exec, MemoryCount& count, CooShape const& X,
                            int n, int R, Tuples& tuples) {
  double const before = count.held(), rows = static_cast<double>(X.dims[n]);
  std::vector<int> others;
  for (int m = 0; m < X.order(); ++m)
    if (m != n) others.push_back(m);
  double const fibers = tuples.of(others, others.size());
  auto const unfolded = X.with_dims({static_cast<std::uint64_t>(fibers), X.dims[n]});
  auto const list = sorted_bytes(exec, X.unordered(), others);
  count.make({unfolded.bytes(), std::max(list.peak, list.kept + 8 * X.nnz + unfolded.bytes())});
  int const k =
      static_cast<int>(padded_columns(std::min<std::size_t>(X.dims[n], std::max(R + 8, 32))));
  MttkrpOptions const options{MttkrpStrategy::sorted, k};
  FiberCountBound unfolded_tuples(unfolded);
  count_mttkrp_plan<Scalar>(exec, count, unfolded, options,
                            decide_layout<ExecutionSpace>(unfolded, options), unfolded_tuples);
  count.hold(matrix_bytes<Scalar>(k, k) + matrix_bytes<double>(k, k) +
             matrix_bytes<Scalar>(fibers + 3 * rows, k) +
             product_workspace_bytes<ExecutionSpace>(X.dims[n], k, k));
  count.hold_in_all(before);
}

}  // namespace sporades::detail
