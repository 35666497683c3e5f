// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/permuted_tensor.hpp>
#include <sporades/formats/sort_coo.hpp>

namespace sporades {

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
PermutedTensor<Scalar, Index, MemorySpace> make_permuted(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X) {
  PermutedTensor<Scalar, Index, MemorySpace> result{X, {}};
  for (int n = 0; n < X.order(); ++n) {
    auto const modes = detail::with_other_modes({n}, X.order());
    result.orders.push_back(detail::sort_permutation(exec, X, modes));
  }
  return result;
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const&,
                                             PermutedTensor<Scalar, Index, MemorySpace> const& X) {
  return X.tensor;
}

// What is no CooTensor is refused.
template <class ExecutionSpace>
PermutedTensor<double, std::uint32_t, typename ExecutionSpace::memory_space> make_permuted(
    ExecutionSpace const&, detail::NotCoo) {
  return {};
}

}  // namespace sporades
