// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// NVIDIA's cuSOLVER. These functions are there where has_cusolver (kokkos.hpp) is true of an
/// execution space: nothing else may call them. Scalar: float or double.

namespace sporades::detail {

/// How many numbers of work space cusolver_svd asks for; negative where cuSOLVER takes no matrix of
/// that size, as it counts in 32 bits.
template <class Scalar>
int cusolver_svd_work(int m, int n);

/// A = U diag(s) V^T by cuSOLVER's gesvd, which works on m >= n. All are on the GPU, by columns,
/// and have no padding. A: m x n, overwritten. s: n values, descending. U: m x n. Vt: n x n. work:
/// as many numbers as cusolver_svd_work says. info: one number; it becomes 0, or tells how many
/// superdiagonals the iteration has left. stream: of CUDA; the call may return before its work is
/// done. Throws RunError where cuSOLVER refuses.
template <class Scalar>
void cusolver_svd(void* stream, int m, int n, Scalar* A, Scalar* s, Scalar* U, Scalar* Vt,
                  Scalar* work, int* info);

}  // namespace sporades::detail
