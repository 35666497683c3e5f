// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/coo_tensor.hpp>
#include <sporades/formats/detail/storage_words.hpp>

namespace sporades {

/// High-order CSR (Yang, Li & Li, TKDD 2019, section 5.2): the tensor unfolded to a matrix in
/// compressed sparse rows, with a row for each mode-n fiber, empty ones included, and a column for
/// each index of mode n. A row's number is its fiber's place in a row-major array over row_modes:
/// the last of them is the fastest.
template <class ScalarType, class IndexType = std::uint32_t,
          class MemorySpaceType = Kokkos::HostSpace>
struct HocsrTensor {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  Dims dims;                                   // I_0 ... I_{N-1}
  std::vector<int> row_modes;                  // n + 1, ..., N - 1, 0, ..., n - 1
  int mode = 0;                                // n
  Kokkos::View<Position*, MemorySpace> begin;  // rows + 1: row r has nonzeros begin(r) to
                                               // begin(r + 1) - 1
  Kokkos::View<Index*, MemorySpace> index;     // nnz: in mode n, ascending in a row
  Kokkos::View<Scalar*, MemorySpace> values;   // nnz

  int order() const { return static_cast<int>(dims.size()); }
  Position nnz() const { return values.extent(0); }
  Position rows() const { return begin.extent(0) - 1; }

  /// rows() + 2 nnz, where rows() is the product of the lengths of row_modes.
  std::uint64_t storage_words() const { return detail::hocsr_words(rows(), nnz()); }
  std::uint64_t storage_bytes() const {
    return begin.extent(0) * sizeof(Position) + nnz() * (sizeof(Index) + sizeof(Scalar));
  }
};

/// X by the fibers of mode n. X may be in any order. Nonzeros of equal coordinates stay separate,
/// in X's order. X's indices are trusted; check_coordinates checks them. Takes the time of the sort
/// and a pass over all rows. Fences exec.
/// Throws Error, with the numbers, if
/// - n is not in [0, N),
/// - the rows are more than 64 bits can number, or
/// - `begin` takes more memory than is free where exec computes.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
HocsrTensor<Scalar, Index, MemorySpace> make_hocsr(ExecutionSpace const& exec,
                                                   CooTensor<Scalar, Index, MemorySpace> const& X,
                                                   int n);

/// The nonzeros in coordinate format, row by row. Exact. Enqueued on exec, does not fence.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             HocsrTensor<Scalar, Index, MemorySpace> const& X);

}  // namespace sporades

#include <sporades/formats/detail/hocsr_tensor.hpp>
