// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/coo_tensor.hpp>
#include <vector>

/// Other shapes of a tensor in coordinate format: parts of it, modes in another order, fewer modes,
/// several tensors as one. All functions trust X's indices; check_coordinates checks them. X must
/// be in the memory space of exec: see copy_to. Names are those of Tensor Toolbox, pyttb and NumPy.

namespace sporades {

/// The nonzeros whose index in mode n is in [begin, end), in the order that they have. Indices
/// count from begin, so that the mode has the length end - begin. Two passes over the indices of
/// mode n. Fences exec. Throws Error unless n is in [0, N) and begin <= end <= I_n.
///   auto const year = slice(exec, X, 3, 24, 36);  // months 24 to 35
///   auto const month = squeeze(exec, slice(exec, X, 3, 24, 25));
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> slice(ExecutionSpace const& exec,
                                            CooTensor<Scalar, Index, MemorySpace> const& X, int n,
                                            std::uint64_t begin, std::uint64_t end);

/// X with its modes in another order: mode k of the result is mode modes[k] of X. The nonzeros keep
/// their order, and the result shares their values. Copies the indices. Fences exec. Throws Error
/// unless modes is a permutation of 0 ... N-1.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> permute_modes(ExecutionSpace const& exec,
                                                    CooTensor<Scalar, Index, MemorySpace> const& X,
                                                    std::vector<int> const& modes);

/// X without its modes of length 1, except the first where all are. The nonzeros keep their order,
/// and the result shares their values. Copies the indices. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> squeeze(ExecutionSpace const& exec,
                                              CooTensor<Scalar, Index, MemorySpace> const& X);

/// The tensors side by side along mode n, whose length is the sum of theirs: the nonzeros of the
/// first, then those of the second with indices past the first's length, and so on. One copy of
/// all. Fences exec. Throws Error if there are none, n is not in [0, N), other modes disagree, or
/// the mode gets too long for the indices.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> concatenate(
    ExecutionSpace const& exec, std::vector<CooTensor<Scalar, Index, MemorySpace>> const& tensors,
    int n);

}  // namespace sporades

#include <sporades/formats/detail/shape_coo.hpp>
