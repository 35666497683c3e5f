// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/check_types.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <sporades/formats/kruskal_tensor.hpp>
#include <sporades/formats/tucker_tensor.hpp>

/// The values of a model at coordinates,
///   m_p = sum_r weights(r) prod_n A_n(i_n, r)                       of a KruskalTensor,
///   m_p = sum_{j_0 ... j_{N-1}} G(j_0, ..., j_{N-1}) prod_n A_n(i_n, j_n)  of a TuckerTensor:
/// predictions at places that are held out, residuals at the nonzeros, derivatives of losses.

namespace sporades {

/// values(p) = m_p of the model, a KruskalTensor or a TuckerTensor, at these coordinates:
///   - those of a CooTensor, whose dims and values are not looked at; or
///   - coordinates as make_coo takes them: a View of N x nnz, columns_of(table), or a list of N
///     Views of nnz, of any integer type, layout and memory space. They are copied.
/// values: a View of nnz without gaps, float or double, in the memory space of the model. It may be
/// the values of the CooTensor. Each is computed in double by one thread: the same bits on every
/// run and number of threads. (N + 1) R nnz flops of a KruskalTensor; of a TuckerTensor about
/// 2 R_0 ... R_{N-1} nnz, and less where neighbours agree in their first indices, in the order of
/// X.sorted_modes where there is one. One pass more checks the coordinates. Fences exec. Throws
/// Error if the shapes disagree or an index is past its factor's rows; the message names the first
/// such coordinates.
///   model_values(exec, X, model, residuals);  // then X.values(p) - residuals(p)
template <class ExecutionSpace, class Coordinates, class Model, class Output>
void model_values(ExecutionSpace const& exec, Coordinates const& coordinates, Model const& model,
                  Output const& values);

/// model_values in a new View, of the model's scalar type and in its memory space. Fences exec.
/// Throws as model_values does.
template <class ExecutionSpace, class Coordinates, class Model>
detail::VectorOf<Model> model_values(ExecutionSpace const& exec, Coordinates const& coordinates,
                                     Model const& model);

}  // namespace sporades

#include <sporades/kernels/detail/run_model_values.hpp>
