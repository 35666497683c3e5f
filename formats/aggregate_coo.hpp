// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/names.hpp>
#include <sporades/formats/sort_coo.hpp>

/// One value for the nonzeros of a coordinate, as Tensor Toolbox and pyttb aggregate them.

namespace sporades {

/// What becomes the value of a coordinate that several nonzeros have.
enum class Aggregation {
  sum,   // as sum_duplicates
  mean,  // their sum by their number, in double
  last,  // that of the nonzero which came last
  max,   // the largest
  min    // the smallest
};

namespace detail {
template <>
struct Names<Aggregation> {
  static constexpr char const* kind = "aggregation of duplicates";
  static constexpr char const* list[] = {"sum", "mean", "last", "max", "min"};
};
}  // namespace detail

/// X sorted by modes 0 to N-1, with each coordinate once: its value is made of those of its
/// nonzeros, in the order in which they came, so that it is the same on every backend and thread
/// count. NaN is neither larger nor smaller than a number: a maximum or minimum may be the first of
/// its numbers where one of them is NaN. `merged` of the result counts the nonzeros that are gone.
/// Takes X by value, as sum_duplicates does: pass hand_over(X). Cost of a sort. Fences exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
SummedDuplicates<CooTensor<Scalar, Index, MemorySpace>> aggregate_duplicates(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> X, Aggregation aggregation);

}  // namespace sporades

#include <sporades/formats/detail/aggregate_coo.hpp>
