// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/row_chunks.hpp>
#include <sporades/kernels/detail/ttm_chain/chunks.hpp>
#include <sporades/kernels/detail/ttm_chain/kronecker.hpp>
#include <sporades/kernels/ttm_chain_plan.hpp>

namespace sporades::detail {

/// One work item of strategy `fused` on CPUs: a chunk of consecutive nonzeros x all columns. The
/// outer products x_p (b o c) of the two last modes' factor rows are added up in registers, a tile
/// of Height x Width at a time, over a run of nonzeros that agree in all modes before; the sum
/// times the Kronecker product of these modes' rows goes to the output row. There are no
/// intermediate products.
template <class Scalar, class Index, class MemorySpace, int Height, int Width>
struct ChainPackedWalk {
  using T = Tile<Scalar, Width>;
  using Words = EitherWidth<MemorySpace>;
  using Word = typename Words::Word;
  static constexpr int capacity = max_order - 1;
  static constexpr Position longest_run = 1024;  // stays in first-level cache for all tiles

  Words words;
  RawVector<Scalar const, MemorySpace> values;   // nnz
  RawVector<Position const, MemorySpace> marks;  // place of the row of every mark_distance-th
  Position mark_distance;
  int modes;                                                              // N - 1, two at least
  Kokkos::Array<RawMatrix<Scalar const, MemorySpace>, capacity> factors;  // with their padding
  Kokkos::Array<int, capacity> ranks, shift;
  Kokkos::Array<Word, capacity> mask;
  ChainRows<Scalar, Index, MemorySpace> out;
  ChainChunks<Scalar, MemorySpace> chunks;

  KOKKOS_FORCEINLINE_FUNCTION bool opens_row(Position p) const { return words(p) & words.flag(); }
  KOKKOS_FORCEINLINE_FUNCTION std::size_t index(Word word, int m) const {
    return static_cast<std::size_t>(word >> shift[m] & mask[m]);
  }

  KOKKOS_FUNCTION void operator()(Position chunk) const {
    Position const nnz = values.extent(0);
    Position const begin = chunks.begin(chunk), end = chunks.end(chunk, nnz);
    bool const continues = end < nnz && !opens_row(end);
    Position const open_row = continues ? marks(end / mark_distance) : ~Position{0};
    Position const first_row = marks(begin / mark_distance);
    Position row = first_row;
    ChunkState state{chunk, !opens_row(begin), true};
    Scalar* to = out.target(state, row, row == open_row);
    bool fresh = true;
    Word const flag = words.flag();
    Word const path_mask = ~(((mask[modes - 2] + 1) << shift[modes - 2]) - 1);
    Position p = begin;
    while (p < end) {
      Word const path = words(p) & path_mask & ~flag;  // a flag ends the run before it
      Position const most = p + longest_run < end ? p + longest_run : end;
      Position stop = p + 1;
      while (stop < most && (words(stop) & path_mask) == path) ++stop;
      add_run(chunk, to, fresh, path, p, stop);
      fresh = false;
      p = stop;
      if (p < end && opens_row(p)) {
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
    auto const& B = factors[modes - 2];
    auto const& C = factors[modes - 1];
    int const rows = ranks[modes - 2];
    for (int h = 0; h < rows; h += Height)
      for (std::size_t w = 0; w < C.extent(1); w += Width) {
        T sum[Height];
        for (int k = 0; k < Height; ++k) sum[k].fill(Scalar(0));
        for (Position p = begin; p < stop; ++p) {
          Word const word = words(p);
          T term = load_tile<Scalar, Width>(&C(index(word, modes - 1), w));
          term.multiply(values(p));
          Scalar const* const b = &B(index(word, modes - 2), h);
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

  /// The Kronecker product of the factor rows of all modes except the last two; its length.
  KOKKOS_FORCEINLINE_FUNCTION Scalar const* upper_product(Scalar* scratch, Word path,
                                                          std::size_t& length) const {
    scratch[0] = 1;
    for (int m = modes - 3; m >= 0; --m) {  // from behind, so that it grows in place
      Scalar const* const row = &factors[m](index(path, m), 0);
      for (int j = ranks[m] - 1; j >= 0; --j)
        for (std::size_t k = 0; k < length; ++k) scratch[j * length + k] = row[j] * scratch[k];
      length *= static_cast<std::size_t>(ranks[m]);
    }
    return scratch;
  }
};

/// The chunks of X, or of a window of it, on CPUs.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void walk_fused_on_hosts(ExecutionSpace const& exec,
                         PackedTensor<Scalar, Index, MemorySpace> const& X,
                         SortedRows<Scalar, Index, MemorySpace> const& rows,
                         std::vector<ChainMode<Scalar, MemorySpace>> const& others,
                         std::size_t tile, ChainChunks<Scalar, MemorySpace> const& chunks) {
  auto const modes = static_cast<int>(others.size());
  auto const tile_of = [](std::size_t columns) { return columns % 8 == 0 ? 8 : 4; };
  with_constant<4, 8>(tile_of(padded_columns(others[modes - 2].rank)), [&](auto height) {
    with_constant<4, 8>(tile_of(tile), [&](auto width) {
      ChainPackedWalk<Scalar, Index, MemorySpace, height(), width()> walk{};
      walk.words = {X.narrow.data(), X.wide.data()};
      walk.values = X.values;
      walk.marks = X.marks;
      walk.mark_distance = X.mark_distance;
      walk.modes = modes;
      using Word = typename decltype(walk)::Word;
      for (int k = 0; k < modes; ++k) {
        walk.factors[k] = with_padding(others[k].factor);
        walk.ranks[k] = others[k].rank;
        walk.shift[k] = others[k].shift;
        walk.mask[k] = static_cast<Word>(low_bits(others[k].bits));
      }
      walk.out = {rows.sums.V, rows.sums.rows, rows.sums.sums};
      walk.chunks = chunks;
      launch_items(exec, "sporades::ttm_chain::fused", rows.chunks, walk);
    });
  });
}

/// What a chain of products takes and gives beside the nonzeros, for the time of a call.
template <class Scalar, class MemorySpace>
struct ChainOperands {
  Factors<Scalar, MemorySpace> const& A;  // those that the nonzeros' indices are of
  TtmChainColumns const& columns;         // of X's modes
  Matrix<Scalar, MemorySpace> const& Y;   // rows of X x columns
  ChainShape const& shape;                // of the chunks
};

/// The chunks of X, or of a part of it.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void walk_fused(ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& X,
                SortedRows<Scalar, Index, MemorySpace> const& rows,
                ChainOperands<Scalar, MemorySpace> const& operands,
                TtmChainBuffers<Scalar, Index, MemorySpace> const& buffers) {
  auto const& [A, columns, Y, shape] = operands;
  auto const others = chain_modes(X, A, columns, buffers);
  if constexpr (is_gpu<ExecutionSpace>)
    walk_fused_on_gpus(exec, X, rows, others, columns);
  else
    walk_fused_on_hosts(exec, X, rows, others, columns.tile(),
                        {shape.length, buffers.scratch, shape.scratch});
}

/// Strategy `fused`. chunks: see row_chunks.hpp. Fences exec where X is out of core.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Chunks>
void ttm_chain_fused(ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& X,
                     Chunks const& chunks, ChainOperands<Scalar, MemorySpace> const& operands,
                     TtmChainBuffers<Scalar, Index, MemorySpace>& buffers) {
  reserve_chain(exec, operands.shape, operands.columns.count(), buffers);
  chunks.sum(exec, X, operands.Y, buffers.carry,
             [&](auto const& instance, auto const& part, auto const& rows) {
               walk_fused(instance, part, rows, operands, buffers);
             });
}

}  // namespace sporades::detail
