// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/coo_tensor.hpp>

/// Orders of the nonzeros of a tensor in coordinate format.
///
/// All functions trust X's indices; check_coordinates checks them. X must be in the memory space of
/// exec: see copy_to. Errors are thrown for lists in which a mode is not in [0, N) or comes twice.

namespace sporades {

/// X sorted lexicographically by these modes, slowest first. The sort is stable: nonzeros that
/// agree in all listed modes keep their order. The result shares X's Views if X.sorted_modes shows
/// that X has the order already; what it shows of a part of the order saves work, too. A radix
/// sort: on hosts about 24 bytes moved for every nonzero and 11 bits of its listed indices.
/// Enqueued on exec, does not fence. Throws Error for a bad list of modes.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> sorted(ExecutionSpace const& exec,
                                             CooTensor<Scalar, Index, MemorySpace> const& X,
                                             std::vector<int> const& modes);

/// True if the nonzeros are in lexicographic order by these modes, slowest first. Looks at the
/// coordinates, not at X.sorted_modes. Fences exec. Throws Error for a bad list of modes.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
bool is_sorted(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
               std::vector<int> const& modes);

/// A tensor that holds each coordinate once.
template <class Tensor>
struct SummedDuplicates {
  Tensor tensor;
  Position merged;  // nonzeros that were added to another
};

/// X sorted by modes 0 to N-1, with each coordinate once. Values of equal coordinates are added in
/// the order in which they came, so that the sum is the same on every backend and thread count, and
/// in double, so that only the sum itself is rounded to Scalar. Sums that are zero stay.
/// Takes X by value: pass hand_over(X), and X's memory is freed as soon as its nonzeros are sorted.
/// Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
SummedDuplicates<CooTensor<Scalar, Index, MemorySpace>> sum_duplicates(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> X);

}  // namespace sporades

#include <sporades/formats/detail/sort_coo.hpp>
