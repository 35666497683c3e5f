// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/names.hpp>
#include <sporades/formats/hierarchical_tensor.hpp>
#include <sporades/kernels/detail/carry_buffers.hpp>
#include <sporades/kernels/detail/value_lists.hpp>
#include <sporades/kernels/streaming.hpp>

/// Plans of SpTTM (kernels/spttm.hpp), and what they are made for.

namespace sporades {

/// How SpTTM sums fibers. `naive` to `scratch` are baselines that are never chosen, the algorithms
/// of Ma et al. 2018. `spmm_...` read a HierarchicalTensor as a sparse matrix in compressed rows, a
/// row a fiber (Ahmad, Cecka, Garland & Hall, TACO 2024).
enum class SpttmStrategy {
  /// In a plan on GPUs: `spmm_rows` where fibers are long and even, else `lanes`
  /// (SpttmPlan::choices). On hosts, and on a format: `lanes`, without a choice.
  automatic,
  /// A thread takes a fiber.
  naive,
  /// A thread takes a fiber and a column.
  fine_grained,
  /// As `fine_grained`; neighbouring threads take neighbouring columns.
  coalesced,
  /// A thread takes a fiber and a block of columns, and reads the nonzeros once a block.
  rank_blocked,
  /// As `coalesced`, with the fiber's row in shared memory.
  scratch,
  /// Chunks of nonzeros x tiles of columns in registers; on GPUs windows of 32 nonzeros that a warp
  /// sums together.
  lanes,
  /// A thread takes a fiber; on GPUs a group of lanes does, which loads nonzeros together and hands
  /// them from lane to lane. GE-SpMM of Huang, Dai, Wang & Yang, SC 2020.
  spmm_rows,
  /// Chunks that each hold as many nonzeros and ends of fibers together as any other, x tiles of
  /// columns. The merge path of Merrill & Garland, SC 2016, and of
  /// Yang, Buluç & Owens, Euro-Par 2018.
  spmm_nonzeros,
  /// KokkosSparse::spmv of Kokkos Kernels. Nothing is copied or converted: it reads the fibers with
  /// their 64-bit offsets, and U and Y by rows. For these Kokkos Kernels does not call cuSPARSE or
  /// rocSPARSE, but runs a kernel of its own on GPUs, too; perf/ measures cuSPARSE itself.
  /// - Its bits may depend on Kokkos Kernels and its version.
  /// - Before Kokkos Kernels 4.5 it fences exec.
  /// - It is compiled for 32-bit indices, fewer than 2^31 fibers and rows of U, the types of values
  ///   of the library, GPUs and Kokkos' default execution space of the host. Elsewhere a product
  ///   throws Error, as it does where Kokkos Kernels was installed without its sparse part.
  spmm_library
};

namespace detail {
template <>
struct Names<SpttmStrategy> {
  static constexpr char const* kind = "SpTTM strategy";
  static constexpr char const* list[] = {
      "automatic", "naive", "fine_grained", "coalesced",     "rank_blocked",
      "scratch",   "lanes", "spmm_rows",    "spmm_nonzeros", "spmm_library"};
};
}  // namespace detail

/// How the matrix of a product is laid out.
enum class TtmMatrix {
  /// I_n x R, as in Ma et al. and most sparse codes.
  mode_by_rank,
  /// R x I_n, as in Kolda & Bader, SIAM Review 51(3), 2009. It is transposed first: R I_n entries
  /// more are read and written.
  rank_by_mode
};

/// What a plan of SpTTM is made for.
struct SpttmOptions {
  SpttmStrategy strategy = SpttmStrategy::automatic;
  int rank = 16;  // columns that the plan is made for; any other works and reallocates buffers once
  Streaming streaming = {};  // where fibers of all modes take too much: `automatic` is `lanes` then
  bool updatable = false;    // as MttkrpOptions::updatable
};

/// What a plan does for one mode, and why.
struct SpttmChoice {
  SpttmStrategy strategy = SpttmStrategy::automatic;  // never `automatic` in a plan
  std::string reason;                                 // in plain words, with their numbers
};

/// X by the fibers of every mode, built once, and the buffers that the kernels need, so that a
/// product allocates nothing.
template <class ScalarType, class IndexType, class MemorySpaceType>
struct SpttmPlan {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;

  Dims dims;
  std::vector<SpttmChoice> choices;                                     // per mode
  std::vector<HierarchicalTensor<Scalar, Index, MemorySpace>> tensors;  // per mode
  detail::ValueLists<Scalar, MemorySpace> values;  // of the tensors, where they are updatable
  detail::CarryBuffers<Scalar, Position, MemorySpace> carry;
  Vector<Scalar, MemorySpace> transposed;  // room for a matrix that comes as R x I_n

  int order() const { return static_cast<int>(dims.size()); }
  Position nnz() const { return tensors.empty() ? 0 : tensors[0].nnz(); }

  /// Bytes of the tensors and the buffers.
  std::uint64_t storage_bytes() const;
};

}  // namespace sporades
