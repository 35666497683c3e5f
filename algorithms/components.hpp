// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/names.hpp>
#include <sporades/formats/kruskal_tensor.hpp>
#include <sporades/formats/tucker_tensor.hpp>
#include <vector>

/// What can be done with the components of a model without changing what it stands for: other
/// lengths, order and signs of columns, and some components alone. Names and meanings are those of
/// Tensor Toolbox and pyttb. Each function gives a new model of padded factors (see make_matrix),
/// shares nothing with the one it is given, and fences exec. Each is one pass over the factors, or
/// three where it measures columns; columns are measured in double, in an order that the shapes
/// alone give: the same bits on every run and number of threads.

namespace sporades {

/// The length of a column that becomes 1.
enum class ColumnNorm {
  one,  // the sum of the magnitudes
  two,  // the square root of the sum of the squares
  max   // the largest magnitude
};

namespace detail {
template <>
struct Names<ColumnNorm> {
  static constexpr char const* kind = "norm of a column";
  static constexpr char const* list[] = {"one", "two", "max"};
};
}  // namespace detail

/// As NormalizeOptions::weights_into: the weights stay weights.
inline constexpr int keep_weights = -1;
/// As NormalizeOptions::weights_into: the columns of each mode take the N-th root of the weights.
inline constexpr int spread_weights = -2;

/// How normalize makes columns and weights.
struct NormalizeOptions {
  ColumnNorm norm = ColumnNorm::two;
  int weights_into = keep_weights;  // a mode in [0, N), keep_weights or spread_weights
};

/// The model with columns of length 1 in each mode, and the lengths in the weights; columns of
/// zeros stay, and their weight becomes 0. Weights are made positive: where one is negative, the
/// column of mode 0 changes its sign. Then weights_into takes them to columns, and leaves weights
/// of 1. Throws Error if the shapes disagree or there is no such mode, RunError if a weight is past
/// the range of Scalar.
template <class ExecutionSpace, class Scalar, class MemorySpace>
KruskalTensor<Scalar, MemorySpace> normalize(ExecutionSpace const& exec,
                                             KruskalTensor<Scalar, MemorySpace> const& model,
                                             NormalizeOptions const& options = {});

/// The normalised model (of 2-norms, weights kept), its components by descending weight, equal ones
/// in the order in which they were. Throws as normalize.
template <class ExecutionSpace, class Scalar, class MemorySpace>
KruskalTensor<Scalar, MemorySpace> arrange(ExecutionSpace const& exec,
                                           KruskalTensor<Scalar, MemorySpace> const& model);

/// The model with its components in another order: component k of the result is component
/// permutation[k] of the model. Nothing is normalised. Throws Error if that is no permutation of
/// 0 ... R-1, or the shapes disagree.
template <class ExecutionSpace, class Scalar, class MemorySpace>
KruskalTensor<Scalar, MemorySpace> arrange(ExecutionSpace const& exec,
                                           KruskalTensor<Scalar, MemorySpace> const& model,
                                           std::vector<int> const& permutation);

/// The components of these numbers, in this order; a number may come several times. Throws Error if
/// one is not in [0, R), or the shapes disagree.
template <class ExecutionSpace, class Scalar, class MemorySpace>
KruskalTensor<Scalar, MemorySpace> extract(ExecutionSpace const& exec,
                                           KruskalTensor<Scalar, MemorySpace> const& model,
                                           std::vector<int> const& components);

/// The model with other signs of columns: in each component the entry of largest magnitude, the
/// first of equal ones, is positive in as many modes as can be. Two columns are flipped at once, so
/// that of an odd number of negative ones the last stays. Throws Error if the shapes disagree.
template <class ExecutionSpace, class Scalar, class MemorySpace>
KruskalTensor<Scalar, MemorySpace> fixsigns(ExecutionSpace const& exec,
                                            KruskalTensor<Scalar, MemorySpace> const& model);

/// The model with the signs of a reference: columns are flipped, two of a component at once, such
/// that their cosines with the columns of the reference's component of the same number have as
/// large a sum over the modes as can be. Components past those of the reference stay: see score,
/// whose permutation puts components side by side. Throws Error if dims disagree or the reference
/// has more components. Bro, Acar & Kolda, J. Chemometrics 22, 2008.
template <class ExecutionSpace, class Scalar, class MemorySpace>
KruskalTensor<Scalar, MemorySpace> fixsigns(ExecutionSpace const& exec,
                                            KruskalTensor<Scalar, MemorySpace> const& model,
                                            KruskalTensor<Scalar, MemorySpace> const& reference);

/// The model with each column's entry of largest magnitude positive, the first of equal ones; the
/// core's signs follow. Throws Error if the shapes disagree.
template <class ExecutionSpace, class Scalar, class MemorySpace>
TuckerTensor<Scalar, MemorySpace> fixsigns(ExecutionSpace const& exec,
                                           TuckerTensor<Scalar, MemorySpace> const& model);

}  // namespace sporades

#include <sporades/algorithms/detail/components.hpp>
