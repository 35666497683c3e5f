// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/out_of_core_memory.hpp>
#include <sporades/formats/coo_tensor.hpp>

namespace sporades {

/// Nonzeros sorted by one mode, the row mode. The indices of all other modes stand side by side in
/// one word a nonzero, of 32 bits if they fit, else of 64. The highest bit of a word is set at the
/// first nonzero of a row (the flag of F-COO: Liu et al., CLUSTER 2017). The index of the row is
/// stored once a row. A nonzero takes 4 or 8 bytes and its value; in coordinate format it takes N
/// indices and its value.
template <class ScalarType, class IndexType = std::uint32_t,
          class MemorySpaceType = Kokkos::HostSpace>
struct PackedTensor {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  static constexpr Position mark_distance = 128;  // nonzeros from one mark to the next

  Dims dims;
  int row_mode = 0;
  std::vector<int> modes;                            // the others, highest bits of a word first
  std::vector<int> shifts;                           // lowest bit in a word of each of `modes`
  Kokkos::View<std::uint32_t*, MemorySpace> narrow;  // nnz words if 32 bits are enough, else empty
  Kokkos::View<std::uint64_t*, MemorySpace> wide;    // nnz words if they are not, else empty
  Kokkos::View<Scalar*, MemorySpace> values;         // nnz
  Kokkos::View<Index*, MemorySpace> rows;            // non-empty rows, ascending
  Kokkos::View<Position*, MemorySpace> marks;        // place in `rows` of every mark_distance-th
                                                     // nonzero
  detail::OutOfCoreMemory
      out_of_core;  // where words and values are in out-of-core memory: holds it; else empty

  int order() const { return static_cast<int>(dims.size()); }
  Position nnz() const { return values.extent(0); }

  std::uint64_t storage_bytes() const {
    return nnz() * sizeof(Scalar) + narrow.extent(0) * 4 + wide.extent(0) * 8 +
           rows.extent(0) * sizeof(Index) + marks.extent(0) * sizeof(Position);
  }
};

/// X packed for products on row_mode; the nonzeros keep their order. The indices in a word follow
/// X.sorted_modes. So the words of a row ascend if X is sorted by all its modes, and fibers are
/// runs of words that differ in the lowest index only.
/// Shares X's values if they begin at a multiple of 16 bytes, which kernels need; else copies them.
/// X's indices are trusted; check_coordinates checks them. Fences exec.
/// Throws Error unless X.sorted_modes begins with row_mode and the indices of the other modes take
/// at most 63 bits.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
PackedTensor<Scalar, Index, MemorySpace> make_packed(ExecutionSpace const& exec,
                                                     CooTensor<Scalar, Index, MemorySpace> const& X,
                                                     int row_mode);

/// The nonzeros in coordinate format, in the same order. Exact. Enqueued on exec, does not fence.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(
    ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& packed);

}  // namespace sporades

#include <sporades/formats/detail/packed_tensor.hpp>
