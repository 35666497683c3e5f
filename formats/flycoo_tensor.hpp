// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <numeric>
#include <sporades/formats/coo_tensor.hpp>

namespace sporades {

/// How a FlycooTensor is divided for products.
struct FlycooOptions {
  /// Partitions of the rows of a mode (κ), 1 to 65536. They decide in which order terms are added.
  /// 0: on GPUs one for each 2048 threads that the GPU runs at once, which is one a multiprocessor
  /// of most; on hosts one for 8192 nonzeros, and 512 at most.
  int partitions = 0;
  /// Nonzeros that a team works on at once (P), 1 to 64. On GPUs as many of them as its 256 threads
  /// have room for, each of which takes 16 bytes of a row. 0: 16 on GPUs, 1 on hosts.
  int parallel = 0;
};

/// Records are in whole units of 16 bits on hosts. GPUs load 32 bits at least, from multiples of
/// that.
template <class MemorySpace>
using FlycooUnit = std::conditional_t<std::is_same_v<MemorySpace, Kokkos::HostSpace>, std::uint16_t,
                                      std::uint32_t>;

/// How a record, all that is stored of one nonzero, holds its value and indices: the value, then
/// the index of each mode in as many bits as the mode's length needs, in whole units. In units of
/// 32 bits there are two at least of them for the indices: most tensors need as many.
struct FlycooLayout {
  int units = 0;               // of a record
  std::vector<int> first_bit;  // per mode: of its index, counted from the record's beginning
  std::vector<int> bits;       // per mode

  FlycooLayout() = default;
  FlycooLayout(Dims const& dims, int value_bits, int unit_bits);
  /// The bits of all indices.
  int index_bits() const { return std::accumulate(bits.begin(), bits.end(), 0); }
};

/// What a FlycooTensor holds for one mode.
template <class MemorySpace>
struct FlycooMode {
  Kokkos::View<Position*, MemorySpace> partitions;  // κ + 1: first nonzeros of each, and the end
  Position rows = 0;                                // that have nonzeros
  Kokkos::View<Position*, MemorySpace> pieces;      // first nonzeros of each, and the end
  bool shares_rows = false;                         // some piece ends inside a row
  Kokkos::View<std::uint32_t*, MemorySpace> next;   // remap ids: the place of each nonzero in the
                                                    // order of the next mode, side by side
};

/// FLYCOO: one copy of the nonzeros, which lies in the order of one mode and is moved to the order
/// of the next one, mode 0 after mode N - 1, after each product.
///
/// The rows of each mode are divided into κ partitions of about equally many nonzeros: by falling
/// number of nonzeros, each row to the partition that has fewest (Algorithm 1 of the paper, whose
/// section 3.4 speaks of a cyclic choice, which is the same only for equal rows). The fullest
/// partition has at most 4/3 times the nonzeros of the best possible division (Graham 1969). In the
/// order of a mode, the nonzeros of a partition are neighbours, and so are those of a row; those of
/// a row are in the order of the mode before.
///
/// A piece is what is summed in one go: on hosts a partition, or an equal part of one which a row
/// makes longer than 4/3 of the mean; on GPUs 128 or 256 nonzeros that begin at a multiple of four.
/// A team works on P pieces.
///
/// Wijeratne, Kannan, Prasanna: Sparse MTTKRP acceleration for tensor decomposition on GPU, CF
/// 2024.
template <class ScalarType, class IndexType = std::uint32_t,
          class MemorySpaceType = Kokkos::HostSpace>
struct FlycooTensor {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;
  using Unit = FlycooUnit<MemorySpace>;
  using Records = Kokkos::View<Unit*, MemorySpace>;

  Dims dims;
  FlycooLayout layout;
  int mode = 0;      // in whose order the nonzeros are
  int parallel = 1;  // P
  int id_bits = 0;   // of a remap id
  Position count = 0;
  Records records;                             // nnz; and some units more, which are not used
  Records spare;                               // room for the order of the next mode
  std::vector<FlycooMode<MemorySpace>> modes;  // one a mode

  int order() const { return static_cast<int>(dims.size()); }
  Position nnz() const { return count; }

  /// What the paper counts (section 3.5.1), in bits:
  ///   nnz (N ceil(log2 nnz) + sum over modes of ceil(log2 I_n) + the bits of a value).
  std::uint64_t storage_bits() const;
  /// Both of its buffers as the paper has them: N indices, N remap ids and a value a nonzero,
  /// twice.
  std::uint64_t storage_words() const { return 2 * (2 * dims.size() + 1) * count; }
  /// With both buffers of Algorithm 5: records in whole units, twice, and N remap ids.
  std::uint64_t storage_bytes() const;
};

/// X's nonzeros in the order of mode 0. Takes about the time of 2 N sorts by one mode, and 24 bytes
/// for each row of the longest mode. The memory of an X that is handed over (hand_over) is given
/// back on the way. Fences exec. X's indices are trusted; check_coordinates checks them. Throws
/// Error if an option is out of its range.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
FlycooTensor<Scalar, Index, MemorySpace> make_flycoo(ExecutionSpace const& exec,
                                                     CooTensor<Scalar, Index, MemorySpace> X,
                                                     FlycooOptions const& options = {});

/// Moves the nonzeros to the order of the next mode (Algorithm 3). Enqueued on exec.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void remap(ExecutionSpace const& exec, FlycooTensor<Scalar, Index, MemorySpace>& X);

/// The nonzeros in coordinate format, in the order that they have now. Exact. Enqueued on exec,
/// does not fence.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             FlycooTensor<Scalar, Index, MemorySpace> const& X);

}  // namespace sporades

#include <sporades/formats/detail/flycoo_tensor.hpp>
