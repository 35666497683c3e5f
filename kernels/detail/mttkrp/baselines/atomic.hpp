// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/nonzeros/coo.hpp>
#include <sporades/kernels/detail/row_walk.hpp>

namespace sporades::detail {

/// Strategy `atomic`, a baseline: what a COO tensor in any order allows, and most codes do. Runs of
/// equal rows are summed in registers and added atomically. Not deterministic. `automatic` takes it
/// only on a COO tensor that is not sorted by mode n, and never in a plan.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_atomic(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                   Factors<Scalar, MemorySpace> const& A, int n,
                   Matrix<Scalar, MemorySpace> const& V) {
  sum_rows_atomically(exec, "sporades::mttkrp::atomic", coo_nonzeros<any_number>(X, A, n), V,
                      all_rows_aligned(A, n, V));
}

}  // namespace sporades::detail
