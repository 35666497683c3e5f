// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/nonzeros/packed.hpp>
#include <sporades/kernels/detail/packed_windows.hpp>
#include <sporades/kernels/detail/row_walk.hpp>
#include <sporades/kernels/detail/ttm_chain/chunks.hpp>
#include <sporades/kernels/ttm_chain_plan.hpp>

/// Strategy `fused` of ttm_chain on GPUs: a walk over rows as MTTKRP's, whose terms are Kronecker
/// products. Neighbouring threads take neighbouring tiles of Y's columns, so that a nonzero is
/// loaded once for all of them.

namespace sporades::detail {

/// One of the other modes as the walks of `fused` see it.
template <class Scalar, class MemorySpace>
struct ChainMode {
  Matrix<Scalar, MemorySpace> factor;
  int rank, shift, bits;  // bits: of its indices in a word, from `shift` on
};

/// The other modes, in the order of the columns: two at least. Before those of a tensor of order 1
/// or 2 stand modes of length 1, whose factor is the number 1.
template <class Scalar, class Index, class MemorySpace>
std::vector<ChainMode<Scalar, MemorySpace>> chain_modes(
    PackedTensor<Scalar, Index, MemorySpace> const& X, Factors<Scalar, MemorySpace> const& A,
    TtmChainColumns const& columns, TtmChainBuffers<Scalar, Index, MemorySpace> const& buffers) {
  std::vector<ChainMode<Scalar, MemorySpace>> modes;
  int const others = X.order() - 1;
  for (int k = others; k < 2; ++k)
    modes.push_back({buffers.one, 1, packed_bits(X.dims, X.row_mode) - 1, 0});
  for (int k = 0; k < others; ++k) {
    int const m = X.modes[k];
    modes.push_back({A[m], columns.ranks[k], X.shifts[k], index_bits(X.dims[m])});
  }
  return modes;
}

/// A tile of columns of Y_(n): an entry of the factor row of each mode except the last, and a tile
/// of the last one's.
template <class TileType, int capacity>
struct KroneckerColumns {
  using T = typename TileType::T;

  TileType tile;                         // of the last mode's factor row
  Kokkos::Array<int, capacity> entries;  // of the other modes' rows
};

/// Packed nonzeros with the terms x_p (a_0 o ... o a_{K-1}), where a_k is the factor row of the
/// k-th of the other modes. The columns' order is that of TtmChainColumns.
template <class ScalarType, class Index, class MemorySpace, class Words, int Others>
struct KroneckerNonzeros : PackedNonzeros<ScalarType, Index, MemorySpace, Words, Others> {
  using Base = PackedNonzeros<ScalarType, Index, MemorySpace, Words, Others>;
  using Scalar = ScalarType;
  using Entry = typename Base::Entry;

  Kokkos::Array<int, Base::capacity> ranks;
  std::size_t width;  // of the last factor's rows, padding included

  KOKKOS_FORCEINLINE_FUNCTION CountedRows<Index> rows(Position p) const {
    return {static_cast<Index>(this->mark(p))};
  }

  template <class TileType>
  KOKKOS_FORCEINLINE_FUNCTION auto term_columns(TileType const& tile) const {
    std::size_t rest = tile.first / width;
    KroneckerColumns<TileType, Base::capacity> columns{{tile.first - rest * width, tile.columns},
                                                       {}};
    for (int m = this->modes() - 2; m >= 0; --m) {
      columns.entries[m] = static_cast<int>(rest % static_cast<std::size_t>(ranks[m]));
      rest /= static_cast<std::size_t>(ranks[m]);
    }
    return columns;
  }

  /// product *= the entries of modes first to last - 1, of which none is the last mode.
  template <class Columns, class At>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(typename Columns::T& product, At const& at,
                                            Columns const& columns, int first, int last) const {
    product.multiply(entries(Scalar(1), at, columns, first, last));
  }
  /// x_p times the entries of modes first and up, and the tile.
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto term(Entry const& entry, Columns const& columns,
                                        int first) const {
    int const last = this->modes() - 1;
    typename Columns::T product = columns.tile.load(this->factors[last], this->index(entry, last));
    product.multiply(entries(entry.value, entry, columns, first, last));
    return product;
  }

 private:
  template <class Columns, class At>
  KOKKOS_FORCEINLINE_FUNCTION Scalar entries(Scalar product, At const& at, Columns const& columns,
                                             int first, int last) const {
    for (int m = first; m < last; ++m)
      product *= this->factors[m](this->index(at, m), columns.entries[m]);
    return product;
  }
};

/// Adds up the terms of X, or of a window of it, to the rows that `rows` says.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void walk_fused_on_gpus(ExecutionSpace const& exec,
                        PackedTensor<Scalar, Index, MemorySpace> const& X,
                        SortedRows<Scalar, Index, MemorySpace> const& rows,
                        std::vector<ChainMode<Scalar, MemorySpace>> const& others,
                        TtmChainColumns const& columns) {
  constexpr int width = 16 / sizeof(Scalar);
  auto const modes = static_cast<int>(others.size());
  auto const walk = [&](auto unrolled, auto words) {
    KroneckerNonzeros<Scalar, Index, MemorySpace, decltype(words), unrolled()> nonzeros;
    nonzeros.words = words;
    nonzeros.values = X.values;
    nonzeros.row_names = X.rows;
    nonzeros.marks = X.marks;
    nonzeros.others = modes;
    nonzeros.split = modes - 1;
    for (int k = 0; k < modes; ++k) {
      nonzeros.factors[k] = others[k].factor;
      nonzeros.ranks[k] = others[k].rank;
      nonzeros.shift[k] = others[k].shift;
      nonzeros.mask[k] = static_cast<typename decltype(words)::Word>(low_bits(others[k].bits));
    }
    nonzeros.width = columns.tile();
    constexpr int split = unrolled() == any_number ? any_number : unrolled() - 1;
    using Walk = RowWalk<decltype(nonzeros), std::decay_t<decltype(rows.sums)>, width,
                         Access::packed, split, batch<ExecutionSpace>>;
    Position const tiles = columns.count() / width;
    launch_items(exec, "sporades::ttm_chain::fused", rows.chunks * tiles,
                 Walk{{}, nonzeros, rows.sums, WalkShape{rows.length, 0, columns.count(), tiles}});
  };
  auto const with_words = [&](auto unrolled) {
    if (X.wide.extent(0) == 0)
      walk(unrolled, OneWidth<std::uint32_t, MemorySpace>{X.narrow});
    else
      walk(unrolled, OneWidth<std::uint64_t, MemorySpace>{X.wide});
  };
  if constexpr (sizeof(Index) == 4)
    if (with_constant<2, 3>(modes, with_words)) return;
  with_words(std::integral_constant<int, any_number>{});
}

}  // namespace sporades::detail
