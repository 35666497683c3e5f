// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/coo_tensor.hpp>
#include <sporades/formats/detail/storage_words.hpp>

namespace sporades {

/// Compressed fibers based on buckets (Yang, Li & Li, TKDD 2019, section 5.3): each mode-n fiber
/// that is not empty is a bucket of indices and values. Bucket b holds the nonzeros begin(b) to
/// begin(b + 1) - 1; the paper stores their number instead, as Tn. The number of a fiber is its
/// place in a row-major array over other_modes, from 0: the last of them is the fastest.
template <class ScalarType, class IndexType = std::uint32_t,
          class MemorySpaceType = Kokkos::HostSpace>
struct CfbTensor {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  Dims dims;                                         // I_0 ... I_{N-1}
  std::vector<int> other_modes;                      // n + 1, ..., N - 1, 0, ..., n - 1
  int mode = 0;                                      // n
  Kokkos::View<std::uint64_t*, MemorySpace> number;  // buckets: the fiber's number, ascending
  Kokkos::View<Position*, MemorySpace> begin;        // buckets + 1
  Kokkos::View<Index*, MemorySpace> index;           // nnz: in mode n, ascending in a bucket
  Kokkos::View<Scalar*, MemorySpace> values;         // nnz

  int order() const { return static_cast<int>(dims.size()); }
  Position nnz() const { return values.extent(0); }
  Position buckets() const { return number.extent(0); }

  /// 2 buckets + 2 nnz
  std::uint64_t storage_words() const { return detail::cfb_words(buckets(), nnz()); }
  std::uint64_t storage_bytes() const {
    return number.extent(0) * sizeof(std::uint64_t) + begin.extent(0) * sizeof(Position) +
           nnz() * (sizeof(Index) + sizeof(Scalar));
  }
};

/// X by the fibers of mode n. X may be in any order. Nonzeros of equal coordinates stay separate,
/// in X's order. X's indices are trusted; check_coordinates checks them. Fences exec.
/// Throws Error, with the numbers, unless n is in [0, N) and 64 bits can number the fibers.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CfbTensor<Scalar, Index, MemorySpace> make_cfb(ExecutionSpace const& exec,
                                               CooTensor<Scalar, Index, MemorySpace> const& X,
                                               int n);

/// The nonzeros in coordinate format, bucket by bucket. Exact. Enqueued on exec, does not fence.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             CfbTensor<Scalar, Index, MemorySpace> const& X);

}  // namespace sporades

#include <sporades/formats/detail/cfb_tensor.hpp>
