// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/loss_gradient.hpp>

/// The loss L of a tensor under a Kruskal model, and its gradient, where absent entries are zeros
/// and f(0, m) is any function of m (loss_value.hpp, loss_gradient.hpp):
///   L = sum over entries p of (f(x_p, m_p) - f(0, m_p)) + sum over all cells of f(0, m)
///   dL/dA_n(i, r) = weights(r) sum over cells (i_0, ..., i_{N-1}) with i_n = i of
///                   df/dm(x, m) prod_{k != n} A_k(i_k, r)
/// Every cell is computed, on the device, and none is stored: exact, for tensors of few cells.
/// Cost: with C = I_0 ... I_{N-1} cells, the loss takes 2 R C flops and C values of f. The gradient
/// takes a pass over all cells for each mode, 4 R N C flops and N C values of df/dm in all, and
/// what loss_gradient takes for the entries. A pass sums the rows of one mode: each sum belongs to
/// one thread, and nothing is added atomically.

namespace sporades {

/// When sums over all cells are refused.
struct EnumerationOptions {
  /// Tensors of more cells are refused. 0: 1e11 on GPUs, 1e9 on CPUs.
  double most_cells = 0;
};

/// L of a CooTensor X, in any order, that has each coordinate once, or of the plan of one.
/// - loss: one of loss.hpp that allows x = 0, or one of your own.
///
/// m and f are computed in double. Sums are taken in double and in an order that the shapes alone
/// give: the same bits on every run and number of threads. Allocates its buffers: 2 R doubles for
/// each row of a mode, or for each of 4096 parts of the cells (GPUs: 2^18) where these are more,
/// and R for each row of the longest mode. Fences exec. Throws Error where
/// - the tensor has more cells than the options allow: the message has their number and a rough
///   estimate of the time,
/// - the shapes disagree, or the loss does not allow 0 or an entry; see loss_value.
template <class ExecutionSpace, class Tensor, class Model, class Loss>
double enumerated_loss(ExecutionSpace const& exec, Tensor& X, Model const& model, Loss const& loss,
                       EnumerationOptions const& options = {});

/// enumerated_loss of the plan's X, with the same bits, and its gradient V[n](i, r) = dL / dA_n(i,
/// r). V: N matrices, I_n x R, overwritten; they alias neither a factor nor one another. The part
/// of all cells is summed in double, that of the entries as in loss_gradient. Allocates, fences and
/// throws as enumerated_loss does, and where the shapes of V disagree; V is not written then.
///   auto plan = make_loss_gradient_plan(exec, X);
///   double const L = enumerated_gradient(exec, plan, model, BernoulliOddsLoss{}, V);
template <class ExecutionSpace, class Plan, class Model, class Loss,
          class Output = detail::FactorsOf<Plan>>
double enumerated_gradient(ExecutionSpace const& exec, Plan& plan, Model const& model,
                           Loss const& loss, Output const& V,
                           EnumerationOptions const& options = {});

}  // namespace sporades

#include <sporades/kernels/detail/loss/run_loss_enumeration.hpp>
