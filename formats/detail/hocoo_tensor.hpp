// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/hocoo_tensor.hpp>
#include <sporades/formats/sort_coo.hpp>

namespace sporades {

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
HocooTensor<Scalar, Index, MemorySpace> make_hocoo(ExecutionSpace const& exec,
                                                   CooTensor<Scalar, Index, MemorySpace> const& X,
                                                   int n) {
  return {sorted(exec, X, detail::cyclic_modes(n, X.order(), "make_hocoo"))};
}

template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const&,
                                             HocooTensor<Scalar, Index, MemorySpace> const& X) {
  return X.tensor;
}

// What is no CooTensor is refused.
template <class ExecutionSpace>
HocooTensor<double, std::uint32_t, typename ExecutionSpace::memory_space> make_hocoo(
    ExecutionSpace const&, detail::NotCoo, int) {
  return {};
}

}  // namespace sporades
