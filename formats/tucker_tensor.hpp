// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/matrix.hpp>

namespace sporades {

/// Tucker tensor: M = G x_0 A_0 x_1 A_1 ... x_{N-1} A_{N-1}, where x_n is the product with mode n.
/// The core G: R_0 x ... x R_{N-1} is dense, and stored with the first index fastest, as Tensor
/// Toolbox stores it: G(j_0, ..., j_{N-1}) = core(j_0 + R_0 (j_1 + R_1 (j_2 + ...))).
template <class ScalarType, class MemorySpaceType = Kokkos::HostSpace>
struct TuckerTensor {
  using Scalar = ScalarType;
  using MemorySpace = MemorySpaceType;

  Vector<Scalar, MemorySpace> core;      // R_0 ... R_{N-1}
  Factors<Scalar, MemorySpace> factors;  // A[n]: I_n x R_n

  int order() const { return static_cast<int>(factors.size()); }
  Dims dims() const {
    Dims lengths;
    for (auto const& A : factors) lengths.push_back(A.extent(0));
    return lengths;
  }
  std::vector<int> ranks() const {
    std::vector<int> columns;
    for (auto const& A : factors) columns.push_back(static_cast<int>(A.extent(1)));
    return columns;
  }
};

/// The model in the memory space of exec; the same Views where it is there already. Fences exec
/// where it copies.
template <class ExecutionSpace, class Scalar, class MemorySpace>
TuckerTensor<Scalar, typename ExecutionSpace::memory_space> copy_to(
    ExecutionSpace const& exec, TuckerTensor<Scalar, MemorySpace> const& model) {
  if constexpr (std::is_same_v<typename ExecutionSpace::memory_space, MemorySpace>)
    return model;
  else
    return {detail::copy_vector(exec, "sporades::tucker::core", model.core),
            detail::copy_matrices(exec, model.factors)};
}

namespace detail {

/// Entries of a core of these ranks. Throws Error if their number overflows 64 bits.
inline std::uint64_t core_size(std::vector<int> const& ranks) {
  std::uint64_t size = 1;
  for (int rank : ranks)
    size = checked_product(size, static_cast<std::uint64_t>(rank), "TuckerTensor: core");
  return size;
}

}  // namespace detail
}  // namespace sporades
