// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/check_types.hpp>
#include <sporades/core/random.hpp>
#include <sporades/formats/coo_tensor.hpp>

/// Nonzeros to learn from, and nonzeros to test with.

namespace sporades {

/// A tensor in two parts.
template <class TensorType>
struct SplitTensor {
  TensorType train, test;
};

/// X's nonzeros in two tensors of its dims, each in X's order. A nonzero is one of `test` by
/// chance, with probability `fraction`, which its coordinates and the seed decide: nonzeros of
/// equal coordinates stay together, and another order of X, precision or backend parts it alike.
/// mode: whole slices of this mode are drawn, by its index alone, for a test with users or months
/// of which nothing was learned; -1: single nonzeros. One pass over X; allocates both parts. Fences
/// exec. Throws Error unless 0 <= fraction <= 1 and X has the mode.
///   auto const [train, test] = split(exec, X, 0.1);
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
SplitTensor<CooTensor<Scalar, Index, MemorySpace>> split(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X, double fraction,
    std::uint64_t seed = 1, int mode = -1);

}  // namespace sporades

#include <sporades/formats/detail/split_coo.hpp>
