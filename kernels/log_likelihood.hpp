// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/check_types.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <sporades/formats/kruskal_tensor.hpp>

/// The log-likelihood of counts X under a Kruskal model M, each count Poisson with the model's
/// value as its mean:
///   L = sum over nonzeros p of x_p log m_p - sum of all entries of M,
///   m_p = sum_r weights(r) prod_n A_n(i_n, r)
/// What does not depend on the model, log x_p!, is left out, as in Tensor Toolbox.
/// Cost: (N + 1) R nnz flops and nnz logarithms; a nonzero reads an index a mode, one value and N
/// factor rows.
/// Chi & Kolda, SIAM J. Matrix Anal. Appl. 33(4), 2012.

namespace sporades {

/// What log_likelihood gives.
struct LogLikelihood {
  double value = 0;                  // -infinity where zero_model_nonzeros > 0
  Position zero_model_nonzeros = 0;  // with x_p > 0 and m_p exactly 0
};

/// The log-likelihood of a CooTensor X, values >= 0, in any order, under a KruskalTensor. Computed
/// in double and in an order given by the shapes alone: the same bits on every run and number of
/// threads. Allocates its buffers. Fences exec. Throws Error if the shapes disagree or an index is
/// past its mode.
template <class ExecutionSpace, class Tensor, class Model>
LogLikelihood log_likelihood(ExecutionSpace const& exec, Tensor const& X, Model const& model);

/// The cost of log_likelihood under a model of rank R, in flops and bytes (see Cost), without the
/// logarithms: (N + 1) R nnz flops; N indices and a value a nonzero, and all rows of the factors,
/// whose columns are summed.
template <class Scalar, class Index, class MemorySpace>
Cost log_likelihood_cost(CooTensor<Scalar, Index, MemorySpace> const& X, int R);

}  // namespace sporades

#include <sporades/kernels/detail/log_likelihood/run_log_likelihood.hpp>
