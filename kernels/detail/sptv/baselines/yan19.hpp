// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/bits.hpp>
#include <sporades/formats/hocfs_tensor.hpp>
#include <sporades/kernels/detail/sptv/segments.hpp>

/// The kernels of Yang, Li & Li, TKDD 2019, for GPUs as the paper draws them, and the same loops
/// for hosts. `hocoo`, `cfb` and `hocfs` are our own on the same formats. Departures from the
/// paper:
/// - Algorithm 3 keeps the products in registers instead of storing them in the tensor's values,
///   and adds up what warps share by carries, so that the bits are the same on every run.
/// - A block of algorithm 6 takes all fibers of its slice in turn, where the paper launches as many
///   blocks a slice as the one with most fibers needs, most of which have nothing to do.
/// - ELL slices are read down their columns, so that neighbouring threads read neighbouring
///   entries, as section 7.3 says of ELL; the code of figure 10 reads them row by row.

namespace sporades::detail {

/// Algorithm 3: an item is a nonzero, whose warp is a chunk of 32.
template <class Nonzeros, class Sums, class Columns>
struct WarpSegments {
  static constexpr Position length = 32;
  using Scalar = typename Nonzeros::Scalar;

  Nonzeros nonzeros;
  Sums out;
  Columns columns;

  KOKKOS_FUNCTION void operator()(Position p) const {
    auto const lanes = VectorLanes::of_items(static_cast<int>(length));
    int const lane = lanes.mine();
    Position const count = nonzeros.size(), chunk = p / length;
    bool const is_there = p < count;
    std::uint32_t const heads = lanes.which(is_there && nonzeros.opens_row(p));
    std::uint32_t const mine = heads & (~0u >> (31 - lane));  // up to this lane
    int const start = mine == 0 ? 0 : highest_one(mine);
    Scalar sum = is_there ? nonzeros.terms(p) : Scalar(0);
    for (int distance = 1; distance < static_cast<int>(length); distance *= 2) {
      Scalar const before = lanes.of(lane >= distance ? lane - distance : lane, sum);
      if (lane - distance >= start) sum += before;
    }
    bool const is_last = lane == static_cast<int>(length) - 1 || p + 1 == count;
    bool const next_opens = !is_last && (heads >> (lane + 1) & 1) != 0;
    if (!is_there || !(is_last || next_opens)) return;
    bool const is_shared = (heads & 1) == 0;
    Position const before = nonzeros.places(chunk);  // fibers that begin before the chunk
    ChunkState const state{chunk, is_shared, start == 0};
    typename Columns::T tile;
    tile.fill(Scalar(0));
    tile.set(0, sum);
    Position const row = before + static_cast<Position>(count_ones(mine)) - 1;
    if (is_last)
      out.finish(state, columns, is_shared ? before - 1 : before, row, tile,
                 p + 1 < count && !nonzeros.opens_row(p + 1));
    else
      out.close(state, columns, row, tile);
  }
};

/// Algorithm 3 on GPUs. Chunks and carries are those of sum_segments, which hosts take.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void sum_segments_by_warps(ExecutionSpace const& exec,
                           SegmentNonzeros<Scalar, Index, MemorySpace> const& nonzeros,
                           Vector<Scalar, MemorySpace> const& y,
                           CarryBuffers<Scalar, Position, MemorySpace>& carry) {
  if constexpr (!is_gpu<ExecutionSpace>) {
    sum_segments(exec, nonzeros, y, carry);
  } else {
    using Columns = TileColumns<Scalar, 1, Access::guarded>;
    if (nonzeros.size() == 0) return;
    Matrix<Scalar, MemorySpace> const V(y.data(), y.extent(0), 1);
    Position const chunks = chunks_of(nonzeros.size(), nonzeros.length);
    carry.reserve(exec, chunks, 1);
    auto const sums = row_sums(V, carry, chunks);
    using Kernel = WarpSegments<SegmentNonzeros<Scalar, Index, MemorySpace>,
                                std::decay_t<decltype(sums)>, Columns>;
    launch_items(exec, "sporades::sptv::hocoo_warps", chunks * Kernel::length,
                 Kernel{nonzeros, sums, Columns{0, 1}});
    reduce_carries(exec, V, carry, chunks);
  }
}

/// Algorithm 5: an item is a fiber.
template <class Terms, class MemorySpace>
struct SumFiberAlone {
  using Scalar = typename Terms::Scalar;

  Terms terms;
  RawVector<Position const, MemorySpace> begin;  // fibers + 1
  RawVector<Scalar, MemorySpace> y;              // fibers

  KOKKOS_FUNCTION void operator()(Position f) const {
    Scalar sum = 0;
    for (Position p = begin(f); p < begin(f + 1); ++p) sum += terms(p);
    y(f) = sum;
  }
};

/// Algorithm 6: a block takes a slice, a thread of it a fiber after another.
template <class ExecutionSpace, class Tensor>
struct SumSlice {
  static constexpr int threads = 256;
  using MemorySpace = typename Tensor::MemorySpace;
  using Scalar = typename Tensor::Scalar;
  using Terms = VectorTerms<Scalar, typename Tensor::Index, MemorySpace>;
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, TeamBounds<ExecutionSpace, threads, 1>>;
  /// Neighbouring fibers of an ELL slice that a thread takes: hosts read in order, too.
  static constexpr Position neighbours = is_gpu<ExecutionSpace> ? 1 : 64;

  SumFiberAlone<Terms, MemorySpace> fiber;
  RawVector<Position const, MemorySpace> first_fiber;  // slices + 1
  RawVector<std::uint8_t const, MemorySpace> formats;  // slices

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& member) const {
    sum(static_cast<Position>(member.league_rank()), static_cast<Position>(member.team_rank()),
        static_cast<Position>(member.team_size()));
  }
  /// On hosts.
  KOKKOS_FUNCTION void operator()(Position s) const { sum(s, 0, 1); }

  /// The fibers of slice s that are thread `mine` of `count`'s.
  KOKKOS_FORCEINLINE_FUNCTION void sum(Position s, Position mine, Position count) const {
    Position const first = first_fiber(s), last = first_fiber(s + 1);
    if (formats(s) == Tensor::csr) {
      for (Position f = first + mine; f < last; f += count) fiber(f);
      return;
    }
    Position const begin = fiber.begin(first), end = fiber.begin(last), rows = last - first;
    for (Position r = mine * neighbours; r < rows; r += count * neighbours)
      sum_columns(begin + r, end, rows, fiber.y.data() + first + r,
                  rows - r < neighbours ? rows - r : neighbours);
  }

  /// y[0] to y[n - 1] of neighbouring fibers of an ELL slice. p: the first one's first entry.
  KOKKOS_FORCEINLINE_FUNCTION void sum_columns(Position p, Position end, Position rows, Scalar* y,
                                               Position n) const {
    Scalar sums[neighbours] = {};
    for (bool has_entries = true; has_entries && p < end; p += rows) {
      has_entries = false;
      for (Position k = 0; k < n; ++k) {
        if (fiber.terms.index(p + k) == Tensor::no_index) continue;
        sums[k] += fiber.terms(p + k);
        has_entries = true;
      }
    }
    for (Position k = 0; k < n; ++k) y[k] = sums[k];
  }
};

template <class ExecutionSpace, class Tensor, class Terms>
void sum_slices(ExecutionSpace const& exec, Tensor const& X, Terms const& terms,
                Vector<typename Tensor::Scalar, typename Tensor::MemorySpace> const& y) {
  char const* const label = "sporades::sptv::hocfs_blocks";
  using Kernel = SumSlice<ExecutionSpace, Tensor>;
  if (X.slices() == 0) return;
  Kernel const kernel{{terms, X.begin, y}, X.first_fiber, X.formats};
  if constexpr (is_gpu<ExecutionSpace>)
    Kokkos::parallel_for(
        label, team_policy<typename Kernel::Policy>(exec, X.slices(), Kernel::threads), kernel);
  else
    launch_unequal_items(exec, label, X.slices(), kernel);
}

}  // namespace sporades::detail
