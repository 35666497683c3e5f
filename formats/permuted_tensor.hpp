// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/coo_tensor.hpp>
#include <sporades/formats/detail/storage_words.hpp>

namespace sporades {

/// One tensor in coordinate format and a permutation a mode: orders[n](p) is the nonzero that is at
/// place p when the tensor is sorted by mode n. Takes less memory than N sorted copies, but
/// nonzeros are gathered. (MTTKRP on it is what GenTen calls the "perm" method.)
template <class ScalarType, class IndexType = std::uint32_t,
          class MemorySpaceType = Kokkos::HostSpace>
struct PermutedTensor {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  CooTensor<Scalar, Index, MemorySpace> tensor;
  std::vector<Kokkos::View<Position*, MemorySpace>> orders;  // one a mode: nnz

  int order() const { return tensor.order(); }
  Position nnz() const { return tensor.nnz(); }

  /// (2 N + 1) nnz.
  std::uint64_t storage_words() const { return detail::permuted_words(order(), nnz()); }
  std::uint64_t storage_bytes() const {
    return tensor.storage_bytes() + orders.size() * nnz() * sizeof(Position);
  }
};

/// Sorts X by each mode n, nonzeros of one row by the other modes in ascending order. Shares X's
/// Views. X's indices are trusted; check_coordinates checks them. Enqueued on exec, does not fence.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
PermutedTensor<Scalar, Index, MemorySpace> make_permuted(
    ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X);

/// The tensor in coordinate format, in the order in which it was given. Exact. Shares its Views:
/// nothing is enqueued.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             PermutedTensor<Scalar, Index, MemorySpace> const& X);

}  // namespace sporades

#include <sporades/formats/detail/permuted_tensor.hpp>
