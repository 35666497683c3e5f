// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/nonzeros/packed.hpp>
#include <sporades/kernels/detail/ttm_chain/chunks.hpp>

namespace sporades::detail {

/// One work item of strategy `fused` on CPUs: a chunk of consecutive nonzeros x all columns. The
/// outer products x_p (b o c) of the two last modes' factor rows are added up in registers, a tile
/// of Height x Width at a time, over a run of nonzeros that agree in all modes before; the sum
/// times the Kronecker product of these modes' rows goes to the output row. There are no
/// intermediate products.
template <class Scalar, class Index, class MemorySpace, int Height, int Width>
struct ChainPackedWalk {
  using T = Tile<Scalar, Width>;
  using Nonzeros = PackedNonzeros<Scalar, Index, MemorySpace, EitherWidth<MemorySpace>, any_number>;
  using Word = typename Nonzeros::Word;
  static constexpr Position longest_run = 1024;  // stays in first-level cache for all tiles

  Nonzeros nonzeros;                             // two other modes at least; factors padded
  Kokkos::Array<int, Nonzeros::capacity> ranks;  // of the other modes
  ChainRows<Scalar, Index, MemorySpace> out;
  ChainChunks<Scalar, MemorySpace> chunks;

  KOKKOS_FUNCTION void operator()(Position chunk) const {
    auto const& words = nonzeros.words;
    Position const nnz = nonzeros.size();
    Position const begin = chunks.begin(chunk), end = chunks.end(chunk, nnz);
    bool const continues = end < nnz && !nonzeros.opens_row(end);
    Position const open_row = continues ? nonzeros.mark(end) : ~Position{0};
    Position const first_row = nonzeros.mark(begin);
    Position row = first_row;
    ChunkState state{chunk, !nonzeros.opens_row(begin), true};
    Scalar* to = out.target(state, row, row == open_row);
    bool fresh = true;
    Word const flag = words.flag();
    Word const path_mask = nonzeros.path_mask(nonzeros.others - 2) | flag;
    Position p = begin;
    while (p < end) {
      Word const path = words(p) & path_mask & ~flag;  // a flag ends the run before it
      Position const most = p + longest_run < end ? p + longest_run : end;
      Position stop = p + 1;
      while (stop < most && (words(stop) & path_mask) == path) ++stop;
      add_run(chunk, to, fresh, path, p, stop);
      fresh = false;
      p = stop;
      if (p < end && nonzeros.opens_row(p)) {
        ++row;
        state.first = false;
        to = out.target(state, row, row == open_row);
        fresh = true;
      }
    }
    out.finish(state, first_row, row, continues);
  }

  KOKKOS_FORCEINLINE_FUNCTION void add_run(Position chunk, Scalar* to, bool fresh, Word path,
                                           Position begin, Position stop) const {
    std::size_t upper = 1;
    Scalar const* const coefficient = upper_product(chunks.scratch(chunk), path, upper);
    int const b_mode = nonzeros.others - 2, c_mode = nonzeros.others - 1;
    auto const& B = nonzeros.factors[b_mode];
    auto const& C = nonzeros.factors[c_mode];
    int const rows = ranks[b_mode];
    for (int h = 0; h < rows; h += Height)
      for (std::size_t w = 0; w < C.extent(1); w += Width) {
        T sum[Height];
        for (int k = 0; k < Height; ++k) sum[k].fill(Scalar(0));
        for (Position p = begin; p < stop; ++p) {
          auto const entry = nonzeros.fetch(p);
          T term = load_tile<Scalar, Width>(&C(nonzeros.index(entry, c_mode), w));
          term.multiply(entry.value);
          Scalar const* const b = &B(nonzeros.index(entry, b_mode), h);
          for (int k = 0; k < Height; ++k) sum[k].add_product(b[k], term);
        }
        int const height = rows - h < Height ? rows - h : Height;
        for (std::size_t u = 0; u < upper; ++u)
          for (int k = 0; k < height; ++k) {
            T product = sum[k];
            product.multiply(coefficient[u]);
            add_tile(to + (u * rows + h + k) * C.extent(1) + w, fresh, product);
          }
      }
  }

  /// The Kronecker product of the factor rows of all modes but the last two; its length.
  KOKKOS_FORCEINLINE_FUNCTION Scalar const* upper_product(Scalar* scratch, Word path,
                                                          std::size_t& length) const {
    scratch[0] = 1;
    for (int m = nonzeros.others - 3; m >= 0; --m) {  // from behind, so that it grows in place
      Scalar const* const row = &nonzeros.factors[m](nonzeros.index(path, m), 0);
      for (int j = ranks[m] - 1; j >= 0; --j)
        for (std::size_t k = 0; k < length; ++k) scratch[j * length + k] = row[j] * scratch[k];
      length *= static_cast<std::size_t>(ranks[m]);
    }
    return scratch;
  }
};

/// Strategy `fused` of order 3 and up. Y: rows of X x columns of X's modes.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void ttm_chain_fused(ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& X,
                     Factors<Scalar, MemorySpace> const& A, TtmChainColumns const& columns,
                     Matrix<Scalar, MemorySpace> const& Y,
                     TtmChainBuffers<Scalar, Index, MemorySpace>& buffers) {
  if (X.nnz() == 0) return;
  int const modes = X.order() - 1;
  auto padded = A;
  for (int m : X.modes) padded[m] = with_padding(A[m]);
  auto const work = begin_chain(exec, X.nnz(), columns, Y, buffers);
  auto const tile_of = [](std::size_t columns) { return columns % 8 == 0 ? 8 : 4; };
  with_constant<4, 8>(tile_of(padded_columns(columns.ranks[modes - 2])), [&](auto height) {
    with_constant<4, 8>(tile_of(columns.tile()), [&](auto width) {
      ChainPackedWalk<Scalar, Index, MemorySpace, height(), width()> walk{};
      walk.nonzeros = packed_nonzeros(X, padded);
      for (int k = 0; k < modes; ++k) walk.ranks[k] = columns.ranks[k];
      walk.out = work.rows;
      walk.chunks = work.chunks;
      launch_items(exec, "sporades::ttm_chain::fused", work.count, walk);
    });
  });
  finish_chain(exec, work, Y, buffers);
}

}  // namespace sporades::detail
