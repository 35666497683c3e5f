// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/loss_value.hpp>
#include <sporades/kernels/mttkrp_all_modes.hpp>

/// The gradient of the loss L (loss_value.hpp) by each factor matrix:
///   V_n = ( D_(n) (A_{N-1} ⊙ ... ⊙ A_{n+1} ⊙ A_{n-1} ⊙ ... ⊙ A_0) + Z_n ) diag(weights)
///   d_p = df/dm(x_p, m_p) - P'(m_p)                              at the entries, 0 elsewhere
/// P(m) = 0 where absent entries are missing, and where they are zeros P(m) = f(0, m) = c_0 + c_1 m
/// + c_2 m^2 + c_3 m^3. Z_n is the sum over all cells of P'(m), in closed form:
///   Z_n(i, r) = c_1 prod_{m != n} sum_j A_m(j, r)
///             + 2 c_2 sum_s A_n(i, s) weights(s) prod_{m != n} sum_j A_m(j, s) A_m(j, r) + ...
/// Cost: the model's values, (N + 1) R nnz flops, and MTTKRP on all modes, N^2 R nnz flops at most;
/// nnz values of f and df/dm; of the closed form the cost of loss_value twice.
/// Hong, Kolda & Duersch, SIAM Review 62(1), 2020, Theorem 3.

namespace sporades {

/// What gradients of one tensor need, made once, so that a call allocates only in its first round.
/// X is not copied: its Views must stay as they are. Beside the formats it takes 8 bytes and a
/// Scalar a nonzero, for values of the model and derivatives.
template <class ScalarType, class IndexType, class MemorySpaceType>
struct LossGradientPlan {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  CooTensor<Scalar, Index, MemorySpace> X;
  MttkrpAllModesPlan<Scalar, Index, MemorySpace> products;  // of D
  detail::LossWork<Scalar, MemorySpace> work;

  int order() const { return X.order(); }
  /// Bytes of X, the formats and the buffers.
  std::uint64_t storage_bytes() const {
    return X.storage_bytes() + products.storage_bytes() + work.bytes();
  }
};

/// Builds the formats for gradients of a CooTensor X, in any order. options: of MTTKRP, whose plan
/// is made to be `updatable`, so that nothing is streamed. On one process. Fences exec. Throws as
/// make_mttkrp_all_modes_plan.
template <class ExecutionSpace, class Tensor>
auto make_loss_gradient_plan(ExecutionSpace const& exec, Tensor const& X,
                             MttkrpAllModesOptions const& options = {});

/// The loss L, as loss_value gives it, and its gradient: V[n](i, r) = dL / dA_n(i, r).
/// - model: a KruskalTensor of X's dims. Its weights are constants.
/// - loss, absent: see loss_value.
/// - V: N matrices, I_n x R, as the factors, overwritten. They alias neither a factor nor one
///   another.
///
/// d_p is computed in double and rounded to X's scalar type. The same bits on every run and number
/// of threads, if those of the plan's MTTKRP strategies are. Fences exec once, for the loss; the
/// products that follow are enqueued. Throws Error as loss_value does, and where the shapes
/// disagree; V is not written then.
///   auto plan = make_loss_gradient_plan(exec, X);
///   double const L = loss_gradient(exec, plan, model, PoissonLoss{}, AbsentEntries::zero, V);
template <class ExecutionSpace, class Plan, class Model, class Loss,
          class Output = detail::FactorsOf<Plan>>
double loss_gradient(ExecutionSpace const& exec, Plan& plan, Model const& model, Loss const& loss,
                     AbsentEntries absent, Output const& V);

/// loss_value of the plan's X, by the plan's buffers: allocates in the first call alone. Its bits
/// are those of loss_gradient. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Model,
          class Loss>
double loss_value(ExecutionSpace const& exec, LossGradientPlan<Scalar, Index, MemorySpace>& plan,
                  Model const& model, Loss const& loss, AbsentEntries absent);

}  // namespace sporades

#include <sporades/kernels/detail/loss/run_loss_gradient.hpp>
