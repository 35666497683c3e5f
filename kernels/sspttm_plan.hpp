// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/names.hpp>
#include <sporades/formats/hierarchical_tensor.hpp>
#include <sporades/kernels/detail/carry_buffers.hpp>
#include <sporades/kernels/streaming.hpp>

/// Plans of SspTTM (kernels/sspttm.hpp), and what they are made for.

namespace sporades {

/// How SspTTM sums blocks.
enum class SspttmStrategy {
  /// Chunks of blocks x tiles of their entries and of columns of U.
  automatic,
  /// A baseline, never chosen: Algorithm 5 of the paper, a thread a fiber of Z, on GPUs a block of
  /// threads. Does not stream.
  chunks
};

namespace detail {
template <>
struct Names<SspttmStrategy> {
  static constexpr char const* kind = "SspTTM strategy";
  static constexpr char const* list[] = {"automatic", "chunks"};
};
}  // namespace detail

/// What a plan of SspTTM is made for.
struct SspttmOptions {
  int rank = 16;  // columns that the buffers are made for; any other works and reallocates once
  Streaming streaming = {};  // where Y and its fibers take too much
  SspttmStrategy strategy = SspttmStrategy::automatic;
};

/// The fibers of mode n that Y's blocks form, known from Y's coordinates alone: built once, used
/// for any values in them; and the buffers, so that a product allocates nothing.
template <class ScalarType, class IndexType, class MemorySpaceType>
struct SspttmPlan {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  SspttmStrategy strategy = SspttmStrategy::automatic;
  Dims dims;                                // of Y
  std::vector<int> dense_modes;             // of Y
  Fibers<Index, MemorySpace> fibers;        // of blocks
  detail::Permutation<MemorySpace> blocks;  // item p is block blocks(p); empty where it is block p
  detail::CarryBuffers<Scalar, Position, MemorySpace> carry;
  detail::OutOfCoreMemory out_of_core =
      {};  // where the fibers are in out-of-core memory: holds it; else empty

  /// Bytes of the fibers, the permutation and the buffers.
  std::uint64_t storage_bytes() const {
    return fibers.storage_bytes() + blocks.extent(0) * sizeof(Position) + carry.bytes();
  }
};

}  // namespace sporades
