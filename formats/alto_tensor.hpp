// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/bits.hpp>
#include <sporades/formats/coo_tensor.hpp>

namespace sporades {

/// The place of each bit of each mode's index in a nonzero's linear index, which takes one or two
/// words. From the lowest bit of the linear index on: bit 0 of every mode, the shortest mode first,
/// then bit 1 of every mode that has one, and so on. The highest bits are therefore those of the
/// longest modes, and nonzeros that are close in this order are close in every mode.
/// Helal et al., ICS 2021, section 3.1.
struct AltoLayout {
  static constexpr int most_bits = 128;

  int bits = 0;                       // of a linear index
  std::vector<detail::BitMask> low;   // every mode: the places of its lowest bits in the low word
  std::vector<detail::BitMask> high;  // every mode: the places of its other bits in the high word
  std::vector<int> low_count;         // every mode: how many of its bits are in the low word

  AltoLayout() = default;
  /// Throws Error if the indices take more than 128 bits.
  explicit AltoLayout(Dims const& dims);

  bool has_two_words() const { return bits > 64; }
};

namespace detail {

/// Consecutive nonzeros of the linear order that one thread works on. It adds up their products in
/// a buffer of its own, which has one row for every row of the product in the interval that the
/// nonzeros span in one mode.
struct AltoPart {
  Position begin, end;  // nonzeros
  Position row;         // the first row of the interval
  Position row_count;   // rows of the interval, and of the buffer
  Position buffer_row;  // the first row of the part's buffer in the buffers of all parts
};

/// The parts that products on one mode are computed in, and for each block of rows the parts whose
/// buffers are added to it.
template <class MemorySpace>
struct AltoPartition {
  static constexpr Position block_rows = 64;

  Kokkos::View<AltoPart*, MemorySpace> parts;   // equally long; none where buffers would not pay
  Position buffer_rows = 0;                     // of all parts
  Kokkos::View<Position*, MemorySpace> begins;  // blocks of block_rows rows + 1
  Kokkos::View<std::uint32_t*, MemorySpace> touched;  // begins(b) to begins(b + 1) - 1: the parts
                                                      // whose intervals meet block b, ascending
};

}  // namespace detail

/// Adaptive linearized tensor order: the bits of each nonzero's coordinates are interleaved in one
/// linear index of one or two words, and the nonzeros are sorted by it. One copy serves products on
/// all modes. A nonzero takes 8 bytes and its value, or 16 and its value if the indices need more
/// than 64 bits. Helal et al., ICS 2021.
template <class ScalarType, class IndexType = std::uint32_t,
          class MemorySpaceType = Kokkos::HostSpace>
struct AltoTensor {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  Dims dims;
  AltoLayout layout;
  Kokkos::View<std::uint64_t*, MemorySpace> low;   // nnz
  Kokkos::View<std::uint64_t*, MemorySpace> high;  // nnz if there are two words, else empty
  Kokkos::View<Scalar*, MemorySpace> values;       // nnz
  std::vector<detail::AltoPartition<MemorySpace>> partitions;  // one a mode

  int order() const { return static_cast<int>(dims.size()); }
  Position nnz() const { return values.extent(0); }

  /// 2 nnz, or 3 nnz if there are two words.
  std::uint64_t storage_words() const { return nnz() + low.extent(0) + high.extent(0); }
  std::uint64_t storage_bytes() const {
    std::uint64_t bytes = nnz() * sizeof(Scalar) + 8 * (low.extent(0) + high.extent(0));
    for (auto const& mode : partitions)
      bytes += mode.parts.extent(0) * sizeof(detail::AltoPart) + 8 * mode.begins.extent(0) +
               4 * mode.touched.extent(0);
    return bytes;
  }
};

/// X in linear order. X may be in any order; nonzeros of equal coordinates stay separate. Takes
/// about the time of one sort. The memory of an X that is handed over (hand_over) is given back on
/// the way. Fences exec. X's indices are trusted; check_coordinates checks them.
/// Throws Error if the indices take more than 128 bits.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
AltoTensor<Scalar, Index, MemorySpace> make_alto(ExecutionSpace const& exec,
                                                 CooTensor<Scalar, Index, MemorySpace> X);

/// The nonzeros in coordinate format, in linear order. Exact. Enqueued on exec, does not fence.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             AltoTensor<Scalar, Index, MemorySpace> const& X);

}  // namespace sporades

#include <sporades/formats/detail/alto_tensor.hpp>
