// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense/async_copy.hpp>
#include <sporades/core/detail/dense/blocks.hpp>
#include <sporades/core/detail/dense/gram_warps.hpp>

namespace sporades::detail {

/// A = V S, or A += V S, on GPUs that multiply doubles by matrix instructions. A team takes 8 parts
/// columns of S and, again and again, as many rows of V as its warps have. It brings S to scratch
/// memory, in double and in the order in which lanes read it, once or chunk by chunk. A warp copies
/// pieces of its rows of V to scratch memory, some pieces ahead of the one that it multiplies. Lane
/// 4 g + k of a warp multiplies rows g, g + 8, ... and of each four packs of a row the k-th, of
/// which an instruction takes one entry of each lane: the order of an entry's sum depends on R
/// alone. Times on an H200, 2026-11-26, those of cuBLAS in brackets, milliseconds:
///   16 million rows, square S of 16, 24, 32, 64: 1.15 (1.82), 1.77 (2.05), 2.28 (2.23), 5.11
///     (4.50); in float of 32 and 64: 1.40 (1.87), 4.04 (4.22)
///   1 million rows, S of 128: 1.24 (0.74); in float 1.10 (0.88)
///   160,000 rows, S of 1024 x 32: 0.46 (0.34); in float 0.36 (0.50)
template <class ExecutionSpace, class Scalar, class Factor, int parts>
struct MultiplyWarps {
  static constexpr int warps = 4, threads = 32 * warps;
  static constexpr int columns = 8 * parts;  // of S and A
  static constexpr int warp_rows = 16, team_rows = warps * warp_rows;
  static constexpr int pack = 16 / sizeof(Scalar);
  // A piece of V: 128 bytes of each of a warp's rows, a line of the caches. With 64 bytes, 16
  // million rows of 32 columns take 1.2 times as long (H200).
  static constexpr int packs = 8, step = packs * pack, piece = warp_rows * packs;
  static constexpr int stages = 3;  // pieces that a warp has room for
  static constexpr int pieces_bytes = warps * stages * piece * 16;
  static constexpr int chunk = 2048 / columns;  // rows of S in scratch memory, 16 KiB
  static_assert(chunk % step == 0, "A piece must lie in a chunk.");
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, TeamBounds<ExecutionSpace, threads, 4>>;
  using Member = typename Policy::member_type;
  using Memory = typename ExecutionSpace::memory_space;
  template <class Entry>
  using Const = Kokkos::View<Entry const**, Kokkos::LayoutRight, Memory>;
  using Pair = Pack<double, 2>;
  using PackOfV = Pack<Scalar>;

  Const<Scalar> V;           // I x R
  Const<Factor> S;           // R x Q
  Matrix<Scalar, Memory> A;  // I x Q
  bool adds;                 // to what A holds
  bool packed;               // all rows of V and A begin at multiples of 16 bytes

  KOKKOS_INLINE_FUNCTION std::uint64_t panels() const {
    return (A.extent(1) + columns - 1) / columns;
  }
  /// Teams that take all of a GPU a few times; a multiple of panels().
  std::uint64_t teams(ExecutionSpace const& exec) const {
    std::uint64_t const tiles = (A.extent(0) + team_rows - 1) / team_rows;
    std::uint64_t const most = static_cast<std::uint64_t>(exec.concurrency()) / threads / panels();
    return panels() * std::min(tiles, std::max<std::uint64_t>(1, most));
  }

  /// Scratch memory of a team: pieces of V, and S or a chunk of it.
  KOKKOS_INLINE_FUNCTION int scratch_bytes() const {
    int const rows = (static_cast<int>(S.extent(0)) + step - 1) / step * step;
    return pieces_bytes + (rows < chunk ? rows : chunk) * columns * 8;
  }

  KOKKOS_FUNCTION void operator()(Member const& team) const {
    auto* const scratch =
        static_cast<char*>(team.team_scratch(0).get_shmem_aligned(scratch_bytes(), 16));
    auto* const chunk_of_S = reinterpret_cast<Pair*>(scratch + pieces_bytes);
    auto const lanes = VectorLanes::of_items(32);
    int const warp = team.team_rank() / 32;
    auto* const pieces = reinterpret_cast<PackOfV*>(scratch) + warp * stages * piece;
    auto const inner = static_cast<int>(V.extent(1));
    std::uint64_t const rank = team.league_rank(), first = rank % panels() * columns;
    std::uint64_t const stride = team.league_size() / panels() * team_rows;
    std::uint64_t begin = rank / panels() * team_rows;
    std::uint64_t row = begin + warp * warp_rows;

    std::uint64_t next_row = row;  // of the piece to be copied next
    int next_k = 0, next_stage = 0, stage = 0;
    auto const copy_next = [&] {
      copy_piece(lanes, next_row, next_k, pieces + next_stage * piece);
      next_k += step;
      if (next_k >= inner) {
        next_k = 0;
        next_row += stride;
      }
      next_stage = next_stage + 1 < stages ? next_stage + 1 : 0;
    };
    for (int s = 1; s < stages; ++s) copy_next();
    for (bool is_first = true; begin < A.extent(0); begin += stride, row += stride) {
      double sums[parts][4] = {};
      for (int k = 0; k < inner; k += step) {
        if (k % chunk == 0 && (is_first || inner > chunk)) bring(team, k, first, chunk_of_S);
        copy_next();
        wait_for_batches<stages - 1>();
        multiply(lanes, pieces + stage * piece, chunk_of_S + k % chunk * (columns / 2), sums);
        wait_for_lanes();
        stage = stage + 1 < stages ? stage + 1 : 0;
      }
      is_first = false;
      store(lanes, row + lanes.mine() / 4, first, sums);
    }
    wait_for_batches<0>();
  }

  /// Where the pack p of a row of a piece is: so that lanes read rows without waiting in turn.
  static KOKKOS_FORCEINLINE_FUNCTION int place(int row, int p) {
    return row * packs + (p ^ row % 2 * 4);
  }

  /// Starts a copy of entries k to k + step - 1 of the warp's rows of V, 0 past the last row and
  /// column.
  KOKKOS_INLINE_FUNCTION void copy_piece(VectorLanes const& lanes, std::uint64_t row, int k,
                                         PackOfV* to) const {
    auto const R = static_cast<int>(V.extent(1));
    unrolled<piece / 32>([&](int u) {
      int const r = (32 * u + lanes.mine()) / packs, p = lanes.mine() % packs;
      int const at = k + p * pack, left = row + r < V.extent(0) && at < R ? R - at : 0;
      Scalar const* const from = V.data() + (left > 0 ? (row + r) * V.stride(0) + at : 0);
      Scalar* const there = to[place(r, p)].entry;
      if (packed)
        start_copy<16>(there, from, static_cast<int>(sizeof(Scalar)) * (left < pack ? left : pack));
      else
        for (int e = 0; e < pack; ++e)
          start_copy<sizeof(Scalar)>(there + e, from + (e < left ? e : 0),
                                     e < left ? static_cast<int>(sizeof(Scalar)) : 0);
    });
    end_batch();
  }

  /// Brings rows `row` on of S, up to a chunk, 0 past its last row and column. A lane reads two
  /// entries of a column at once; neighbouring lanes, neighbouring pairs.
  KOKKOS_INLINE_FUNCTION void bring(Member const& team, int row, std::uint64_t first,
                                    Pair* to) const {
    constexpr int at_once = 4;
    auto const R = static_cast<int>(V.extent(1));
    int const lane = team.team_rank() % 32, left = (R - row + step - 1) / step * step;
    int const packs_of_32 = (left < chunk ? left : chunk) * columns / 64;
    int const k_of_lane = row + lane % 4 * pack;
    std::uint64_t const j_of_lane = first + lane / 4;
    team.team_barrier();
    for (int begin = team.team_rank() / 32; begin < packs_of_32; begin += at_once * warps) {
      Factor pairs[at_once][2];
      unrolled<at_once>([&](int u) {
        int const of = begin + u * warps, half = of % (pack / 2), of_part = of / (pack / 2);
        int const k = k_of_lane + of_part / parts * 4 * pack + 2 * half;
        std::uint64_t const j = j_of_lane + of_part % parts * 8;
        Factor const* const from = S.data() + k * S.stride(0) + j;
        bool const is_column = of < packs_of_32 && j < S.extent(1);
        pairs[u][0] = is_column && k < R ? from[0] : Factor(0);
        pairs[u][1] = is_column && k + 1 < R ? from[S.stride(0)] : Factor(0);
      });
      unrolled<at_once>([&](int u) {
        int const of = begin + u * warps;
        if (of < packs_of_32)
          to[of * 32 + lane] = {static_cast<double>(pairs[u][0]), static_cast<double>(pairs[u][1])};
      });
    }
    team.team_barrier();
  }

  /// Adds the products of a piece.
  KOKKOS_INLINE_FUNCTION void multiply(VectorLanes const& lanes, PackOfV const* rows,
                                       Pair const* from, double (&sums)[parts][4]) const {
    int const n = lanes.mine() / 4, m = lanes.mine() % 4;
    unrolled<packs / 4>([&](int q) {
      PackOfV const upper = rows[place(n, 4 * q + m)], lower = rows[place(n + 8, 4 * q + m)];
      unrolled<pack / 2>([&](int half) {
        Pair s[parts];
        unrolled<parts>(
            [&](int p) { s[p] = from[((q * parts + p) * (pack / 2) + half) * 32 + lanes.mine()]; });
        unrolled<2>([&](int e) {
          auto const v0 = static_cast<double>(upper.entry[2 * half + e]);
          auto const v1 = static_cast<double>(lower.entry[2 * half + e]);
          unrolled<parts>(
              [&](int p) { add_product_of_lanes(lanes, v0, v1, s[p].entry[e], sums[p]); });
        });
      });
    });
  }

  KOKKOS_INLINE_FUNCTION void store(VectorLanes const& lanes, std::uint64_t row,
                                    std::uint64_t first, double const (&sums)[parts][4]) const {
    unrolled<2>([&](int r) {
      std::uint64_t const i = row + 8 * r;
      if (i >= A.extent(0)) return;
      unrolled<parts>([&](int p) {
        std::uint64_t const j = first + 8 * p + lanes.mine() % 4 * 2;
        Scalar* const to = A.data() + i * A.stride(0) + j;
        double const* const sum = sums[p] + 2 * r;
        if (packed && j + 2 <= A.extent(1)) {
          auto* const pair = reinterpret_cast<Pack<Scalar, 2>*>(to);
          *pair =
              adds ? Pack<Scalar, 2>{added(pair->entry[0], sum[0]), added(pair->entry[1], sum[1])}
                   : Pack<Scalar, 2>{static_cast<Scalar>(sum[0]), static_cast<Scalar>(sum[1])};
        } else {
          for (int e = 0; e < 2; ++e)
            if (j + e < A.extent(1))
              to[e] = adds ? added(to[e], sum[e]) : static_cast<Scalar>(sum[e]);
        }
      });
    });
  }

  static KOKKOS_FORCEINLINE_FUNCTION Scalar added(Scalar to, double sum) {
    return static_cast<Scalar>(static_cast<double>(to) + sum);
  }
};

}  // namespace sporades::detail
