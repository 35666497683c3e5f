// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/matrix.hpp>

namespace sporades {

/// Kruskal tensor, a model of rank R: M = sum_r weights(r) A_0(:,r) o ... o A_{N-1}(:,r), o: outer
/// product. Methods return descending weights, and columns of length 1 (cp_als) or sum 1 (cp_apr).
template <class ScalarType, class MemorySpaceType = Kokkos::HostSpace>
struct KruskalTensor {
  using Scalar = ScalarType;
  using MemorySpace = MemorySpaceType;

  Vector<Scalar, MemorySpace> weights;   // R; of cp_als and cp_apr >= 0, and 0 of dead components
  Factors<Scalar, MemorySpace> factors;  // A[n]: I_n x R; of cp_als with the signs of fixsigns

  int order() const { return static_cast<int>(factors.size()); }
  int rank() const { return static_cast<int>(weights.extent(0)); }
  Dims dims() const {
    Dims lengths;
    for (auto const& A : factors) lengths.push_back(A.extent(0));
    return lengths;
  }
};

/// The model in the memory space of exec; the same Views where it is there already. Fences exec
/// where it copies. (make_factor and copy_factor move one factor from and to other Views.)
template <class ExecutionSpace, class Scalar, class MemorySpace>
KruskalTensor<Scalar, typename ExecutionSpace::memory_space> copy_to(
    ExecutionSpace const& exec, KruskalTensor<Scalar, MemorySpace> const& model) {
  if constexpr (std::is_same_v<typename ExecutionSpace::memory_space, MemorySpace>)
    return model;
  else
    return {detail::copy_vector(exec, "sporades::kruskal::weights", model.weights),
            detail::copy_matrices(exec, model.factors)};
}

}  // namespace sporades
