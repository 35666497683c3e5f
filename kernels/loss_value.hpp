// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/check_types.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <sporades/formats/kruskal_tensor.hpp>
#include <sporades/kernels/loss.hpp>

/// The loss of a tensor X under a Kruskal model M, which generalised CP makes small:
///   L = sum over entries p of f(x_p, m_p)                      where absent entries are missing,
///   L = sum over entries p of (f(x_p, m_p) - f(0, m_p)) + sum over all cells of f(0, m)
///                                                              where they are zeros,
///   m_p = sum_r weights(r) prod_n A_n(i_n, r)
/// The sum over all cells is a closed form where f(0, m) = c_0 + c_1 m + c_2 m^2 + c_3 m^3:
///   sum of m   = sum_r weights(r) prod_n sum_i A_n(i, r)
///   sum of m^2 = sum_rs weights(r) weights(s) prod_n sum_i A_n(i, r) A_n(i, s)
/// and so on. Both are exact: nothing is sampled. Zeros of other losses: loss_enumeration.hpp and
/// loss_samples.hpp.
/// Cost: (N + 1) R nnz flops, and nnz values of f; of the closed form R I_n flops a mode for m,
/// 2 R^2 I_n for m^2 and 2 R^3 I_n for m^3.
/// Hong, Kolda & Duersch, SIAM Review 62(1), 2020.

namespace sporades {

/// L of a CooTensor X, in any order, under a KruskalTensor.
/// - loss: one of loss.hpp, or one of your own.
/// - absent: with `missing`, a coordinate may come several times, as several observations; with
///   `zero` each is to come once (see sum_duplicates).
///
/// m_p and f are computed in double. Sums are taken in double and in an order that the shapes
/// alone give: the same bits on every run and number of threads. Of f(0, m) of degree 3, products
/// of two columns are rounded to X's scalar type. NaN or infinity where f is, as where m_p is below
/// the loss's bound. Allocates its buffers. Fences exec. Throws Error where
/// - the shapes disagree, or an index is past its mode,
/// - the loss does not allow an entry: the message names the first,
/// - absent entries are zeros, and the loss does not allow 0, or f(0, m) is no such polynomial, or
///   is one of degree 3 and the rank is above 128.
template <class ExecutionSpace, class Tensor, class Model, class Loss>
double loss_value(ExecutionSpace const& exec, Tensor const& X, Model const& model, Loss const& loss,
                  AbsentEntries absent);

}  // namespace sporades

#include <sporades/kernels/detail/loss/run_loss_value.hpp>
