// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <sporades/core/names.hpp>
#include <sporades/formats/coo_tensor.hpp>
#include <sporades/formats/detail/storage_words.hpp>

namespace sporades {

/// How the slices of a HocfsTensor are stored.
enum class HocfsSlices {
  /// What was fastest in measurements: `csr`.
  automatic,
  /// Compressed sparse rows.
  csr,
  /// ELLPACK where a slice is full enough, else `csr`: every fiber takes as many entries as the
  /// slice's longest, and the slice is stored column by column.
  ell
};

namespace detail {
template <>
struct Names<HocfsSlices> {
  static constexpr char const* kind = "format of slices";
  static constexpr char const* list[] = {"automatic", "csr", "ell"};
};
}  // namespace detail

/// High-order compressed format based on slices (Yang, Li & Li, TKDD 2019, section 5.4, algorithms
/// 1 and 2): the sub-tensors that are not empty, level by level in the order n + 1, ..., N - 1, 0,
/// ..., n - 1 of the modes, down to matrices, the slices. A row of a slice is a mode-n fiber that
/// is not empty.
/// - A node of level l has an index in mode mode_order[l]. Its children, if it is node f, are the
///   nodes first_child[l](f) to first_child[l](f + 1) - 1 of level l + 1.
/// - The slices are the nodes of level N - 3. The fibers of slice s are
///   first_fiber(s) to first_fiber(s + 1) - 1. If there are nonzeros, a tensor of order 2 is one
///   slice, and one of order 1 is one slice of one fiber.
/// - The fibers are the nodes of the last level. Fiber f has entries begin(f) to begin(f + 1) - 1.
///   They are those of a CSR slice. In an ELL slice of R fibers that begins with fiber f and entry
///   p, entry k of fiber f + r is entry p + k R + r, for each k below the length of the longest
///   fiber. The entries past a fiber's own have index no_index and value 0.
template <class ScalarType, class IndexType = std::uint32_t,
          class MemorySpaceType = Kokkos::HostSpace>
struct HocfsTensor {
  using Scalar = ScalarType;
  using Index = IndexType;
  using MemorySpace = MemorySpaceType;
  using Indices = Kokkos::View<Index*, MemorySpace>;
  using Positions = Kokkos::View<Position*, MemorySpace>;

  static constexpr Index no_index = std::numeric_limits<Index>::max();
  enum : std::uint8_t { csr, ell };  // the entries of formats

  Dims dims;                                         // I_0 ... I_{N-1}
  std::vector<int> mode_order;                       // n + 1, ..., N - 1, 0, ..., n - 1, n
  std::vector<Indices> indices;                      // levels 0 to N - 2: nodes
  std::vector<Positions> first_child;                // levels 0 to N - 3: nodes + 1
  Positions first_fiber;                             // slices + 1; first_child's last, if N > 2
  Positions begin;                                   // fibers + 1
  Indices index;                                     // entries: in mode n, ascending in a fiber
  Kokkos::View<Scalar*, MemorySpace> values;         // entries
  Kokkos::View<std::uint8_t*, MemorySpace> formats;  // slices: csr or ell
  Position ell_slices = 0;                           // how many of formats are ell
  Position nonzeros = 0;                             // entries without the padding

  int order() const { return static_cast<int>(dims.size()); }
  int mode() const { return mode_order.back(); }
  Position nnz() const { return nonzeros; }
  Position slices() const { return formats.extent(0); }
  Position fibers() const { return begin.extent(0) - 1; }
  /// Nonzeros and padding.
  Position entries() const { return values.extent(0); }

  /// 2 nodes, those of all levels together, + 2 nnz: of order 3, 2 slices + 2 fibers + 2 nnz.
  std::uint64_t storage_words() const {
    Position nodes = 0;
    for (auto const& level : indices) nodes += level.extent(0);
    return detail::hocfs_words(nodes, nnz());
  }
  std::uint64_t storage_bytes() const {
    std::uint64_t bytes = entries() * (sizeof(Index) + sizeof(Scalar)) + formats.extent(0);
    bytes += begin.extent(0) * sizeof(Position);
    for (auto const& level : indices) bytes += level.extent(0) * sizeof(Index);
    for (auto const& level : first_child) bytes += level.extent(0) * sizeof(Position);
    if (first_child.empty()) bytes += first_fiber.extent(0) * sizeof(Position);
    return bytes;
  }
};

/// X for products on mode n. X may be in any order. Nonzeros of equal coordinates stay separate, in
/// X's order. X's indices are trusted; check_coordinates checks them. Takes the time of the sort
/// and one pass over the coordinates a level. Fences exec.
/// least_fill: with `ell`, the slices whose fill is at least this are ELL. The fill of a slice is
/// the share of nonzeros in its fibers times the length of the longest. 0: all; 1: those without
/// padding. A vector (N = 1) stays in CSR.
/// Throws Error, with the numbers, if
/// - n is not in [0, N),
/// - least_fill is not from 0 to 1, or
/// - `ell` is asked for, and mode n is so long that no_index is an index of it, or the padded
///   entries take more memory than is free where exec computes.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
HocfsTensor<Scalar, Index, MemorySpace> make_hocfs(ExecutionSpace const& exec,
                                                   CooTensor<Scalar, Index, MemorySpace> const& X,
                                                   int n,
                                                   HocfsSlices slices = HocfsSlices::automatic,
                                                   double least_fill = 0);

/// The nonzeros in coordinate format, fiber by fiber, without the padding. Exact. Enqueued on exec,
/// does not fence.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
CooTensor<Scalar, Index, MemorySpace> to_coo(ExecutionSpace const& exec,
                                             HocfsTensor<Scalar, Index, MemorySpace> const& X);

}  // namespace sporades

#include <sporades/formats/detail/hocfs_tensor.hpp>
