// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/coo_tensor.hpp>
#include <sporades/formats/sort_coo.hpp>

namespace sporades {

/// One COO tensor and N permutations: orders[n](p) is the nonzero that comes p-th when the tensor
/// is sorted by mode n. Less memory than N sorted copies, at the price of gathered reads.
/// (GenTen calls this MTTKRP's "perm" method.)
template <class ScalarType, class IndexType = std::uint32_t,
          class MemorySpaceType = Kokkos::HostSpace>
struct PermutedTensor {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  CooTensor<Scalar, Index, MemorySpace> tensor;
  std::vector<Kokkos::View<Position*, MemorySpace>> orders;  // per mode: nnz

  int order() const { return tensor.order(); }
  Position nnz() const { return tensor.nnz(); }
  std::uint64_t storage_bytes() const {
    return tensor.storage_bytes() + orders.size() * nnz() * sizeof(Position);
  }
};

/// Sorts X once a mode, ties by the other modes in rising order. Shares X's Views. Fences exec.
/// X's indices are trusted: check_coordinates checks them.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
PermutedTensor<Scalar, Index, MemorySpace> make_permuted(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X) {
  PermutedTensor<Scalar, Index, MemorySpace> result{X, {}};
  for (int n = 0; n < X.order(); ++n) {
    std::vector<int> modes{n};
    for (int m = 0; m < X.order(); ++m)
      if (m != n) modes.push_back(m);
    result.orders.push_back(detail::sort_permutation(exec, X, modes));
  }
  return result;
}

/// The tensor as it was given. Exact.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const&,
                                             PermutedTensor<Scalar, Index, MemorySpace> const& X) {
  return X.tensor;
}

}  // namespace sporades
