// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/launch.hpp>
#include <sporades/kernels/detail/mttkrp/column_copies.hpp>
#include <sporades/kernels/detail/nonzeros/alto.hpp>
#include <sporades/kernels/detail/row_walk.hpp>

namespace sporades::detail {

/// On hosts, one work item: a part of the nonzeros x a tile of columns. Each term is added to its
/// row among the part's buffer rows, a copy of the output rows that its nonzeros may belong to.
template <class Nonzeros, int Width, Access access, class Terms = ProductTerms>
struct AltoWalk {
  using Scalar = typename Nonzeros::Scalar;
  using Columns = TileColumns<Scalar, Width, access>;

  Nonzeros const& nonzeros;
  AltoPart const* parts;
  RawMatrix<Scalar, typename Nonzeros::Memory> const& rows;  // buffer rows of all parts x columns
  WalkShape shape;
  Terms const& terms;

  KOKKOS_FUNCTION void operator()(Position item) const {
    auto const tile = shape.template tile<Columns>(item);
    AltoPart const part = parts[shape.chunk(item)];
    typename Columns::T zero;
    zero.fill(Scalar(0));
    for (Position i = 0; i < part.row_count; ++i) tile.store(rows, part.buffer_row + i, zero);
    Position const offset = part.buffer_row - part.row;  // may wrap around, and back
    auto const local = nonzeros;                         // which stores cannot change
    auto const target = rows;
    auto const made = terms;
    for (Position p = part.begin; p < part.end; ++p) {
      auto const entry = local.fetch(p);
      auto const term = made(local, tile, entry);
      auto sum = tile.load(target, offset + entry.row);
      sum.add(term);
      tile.store(target, offset + entry.row, sum);
    }
  }
};

/// V(row) <- the sum of the parts' buffer rows for it, in the order of the parts, after what V(row)
/// was if it adds.
template <class Scalar, class MemorySpace>
struct PullRows {
  using Partition = AltoPartition<MemorySpace>;

  RawVector<AltoPart const, MemorySpace> parts;
  RawVector<Position const, MemorySpace> begins;
  RawVector<std::uint32_t const, MemorySpace> touched;
  RawMatrix<Scalar const, MemorySpace> rows;  // buffer rows of all parts x columns
  RawMatrix<Scalar, MemorySpace> V;
  bool adds;

  KOKKOS_FUNCTION void operator()(Position row) const {
    Scalar* const sum = &V(row, 0);
    for (std::size_t r = 0; !adds && r < V.extent(1); ++r) sum[r] = 0;
    Position const block = row / Partition::block_rows;
    for (Position k = begins(block); k < begins(block + 1); ++k) {
      auto const& part = parts(touched(k));
      if (row - part.row >= part.row_count) continue;  // also where row < part.row
      Scalar const* const from = &rows(part.buffer_row + (row - part.row), 0);
#pragma omp simd
      for (std::size_t r = 0; r < V.extent(1); ++r) sum[r] += from[r];
    }
  }
};

/// The sums of all parts into their buffer rows, for some of the columns; on hosts.
template <int width, Access access, class ExecutionSpace, class Nonzeros, class Scalar,
          class MemorySpace, class Terms>
void walk_parts(ExecutionSpace const& exec, char const* label, Nonzeros const& nonzeros,
                AltoPartition<MemorySpace> const& partition,
                Matrix<Scalar, MemorySpace> const& rows, WalkShape const& shape,
                Terms const& terms) {
  RawMatrix<Scalar, MemorySpace> const target = rows;
  launch_unequal_items(exec, label, partition.parts.extent(0) * shape.tiles,
                       AltoWalk<Nonzeros, width, access, Terms>{nonzeros, partition.parts.data(),
                                                                target, shape, terms});
}

/// V's rows from the buffer rows of all parts: see PullRows.
template <class ExecutionSpace, class Scalar, class MemorySpace>
void pull_rows(ExecutionSpace const& exec, char const* label,
               AltoPartition<MemorySpace> const& partition, Matrix<Scalar, MemorySpace> const& rows,
               Matrix<Scalar, MemorySpace> const& V, bool adds = false) {
  launch_items(exec, label, V.extent(0),
               PullRows<Scalar, MemorySpace>{partition.parts, partition.begins, partition.touched,
                                             rows, V, adds});
}

/// MTTKRP's terms summed in buffer rows, in one tile a row where the rows of all matrices are
/// equally far apart and no longer than a tile.
template <class ExecutionSpace, class Nonzeros, class Scalar, class MemorySpace>
void sum_parts(ExecutionSpace const& exec, Nonzeros const& nonzeros,
               AltoPartition<MemorySpace> const& partition, Matrix<Scalar, MemorySpace> const& rows,
               std::size_t columns, bool equally_far) {
  char const* const label = "sporades::mttkrp::alto";
  // A multiplication a row is saved where rows are one tile: these and the extraction of bits share
  // one port of x86 processors.
  constexpr bool is_unrolled = Nonzeros::other_modes != any_number;
  if constexpr (is_unrolled) {
    bool const is_one_tile =
        equally_far && with_row_width(rows.stride(0), [&](auto width) {
          walk_parts<width(), Access::tight>(exec, label, nonzeros, partition, rows,
                                             {1, 0, columns, 1}, ProductTerms{});
        });
    if (is_one_tile) return;
  }
  auto const walk = [&](auto width, auto access, std::size_t first, Position tiles) {
    walk_parts<width(), access()>(exec, label, nonzeros, partition, rows,
                                  {1, first, columns, tiles}, ProductTerms{});
  };
  constexpr TileWidths widths = is_unrolled ? TileWidths::fine : TileWidths::medium;
  if (equally_far)  // padding is columns like others: few tiles, none of them guarded
    for_column_tiles<ExecutionSpace, Scalar, widths>(rows.stride(0), false, walk);
  else
    for_column_tiles<ExecutionSpace, Scalar, TileWidths::coarse>(columns, false, walk);
}

/// True if terms on mode n are added to rows atomically: on GPUs, and where rows are used too
/// seldom for parts to have rows of their own.
template <class ExecutionSpace, class Tensor>
bool needs_atomics(Tensor const& X, int n) {
  return X.nnz() > 0 && (is_gpu<ExecutionSpace> || X.partitions[n].parts.extent(0) == 0);
}

/// Throws Error if they are; `others` names strategies that need no atomics.
template <class ExecutionSpace, class Tensor>
void refuse_atomics(char const* function, Tensor const& X, int n, char const* others) {
  if (!needs_atomics<ExecutionSpace>(X, n)) return;
  fail(function, ": strategy alto needs atomics on mode ", n, ", ",
       is_gpu<ExecutionSpace> ? "as on every mode on GPUs" : "whose rows are used too seldom", " (",
       X.dims[n], " rows, ", X.nnz(), " nonzeros): alto-atomic allows them, ", others, " without");
}

/// The buffer rows of parts of the linear order, of so many columns; on hosts.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
Matrix<Scalar, MemorySpace> buffer_sums(ExecutionSpace const& exec,
                                        AltoTensor<Scalar, Index, MemorySpace> const& X,
                                        Factors<Scalar, MemorySpace> const& A, int n,
                                        std::size_t columns,
                                        CarryBuffers<Scalar, Index, MemorySpace>& buffers) {
  auto const& partition = X.partitions[n];
  auto const rows = buffers.buffer_rows(exec, partition.buffer_rows, columns);
  bool const equally_far = all_strides_are(rows.stride(0), A, n);
  with_alto_nonzeros(X, A, n, [&](auto const& nonzeros) {
    sum_parts(exec, nonzeros, partition, rows, columns, equally_far);
  });
  return rows;
}

/// V's rows from the buffer rows of parts of the linear order; on hosts.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void pull_parts(ExecutionSpace const& exec, AltoTensor<Scalar, Index, MemorySpace> const& X,
                MttkrpOperands<Scalar, MemorySpace> const& operands,
                CarryBuffers<Scalar, Index, MemorySpace>& buffers) {
  auto const& [A, n, V] = operands;
  auto const rows = buffer_sums(exec, X, A, n, V.extent(1), buffers);
  pull_rows(exec, "sporades::mttkrp::pull_rows", X.partitions[n], rows, V);
}

/// Strategies `alto` and `alto_atomic`: parts of the linear order add into buffer rows, and each
/// row pulls its sum from them, in order: the same bits on any number of threads. Where that
/// needs_atomics, terms are added to V: of `alto_atomic` only. On hosts, wide factors are copied
/// and gathered a few columns at a time where that pays, which changes no bits.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_alto(ExecutionSpace const& exec, AltoTensor<Scalar, Index, MemorySpace> const& X,
                 MttkrpOperands<Scalar, MemorySpace> const& operands,
                 CarryBuffers<Scalar, Index, MemorySpace>& buffers) {
  auto const& A = operands.A;
  auto const& V = operands.V;
  int const n = operands.n;
  if (X.nnz() == 0) {
    fill_view(exec, V, Scalar(0));
  } else if (needs_atomics<ExecutionSpace>(X, n)) {
    bool const aligned = all_rows_aligned(A, n, V);
    with_alto_nonzeros(X, A, n, [&](auto const& nonzeros) {
      sum_rows_atomically(exec, "sporades::mttkrp::alto_atomic", nonzeros, V, aligned);
    });
  } else if constexpr (!is_gpu<ExecutionSpace>) {
    std::size_t const width = copied_width<Scalar>(X.dims, X.nnz(), V.extent(1));
    if (width == 0) return pull_parts(exec, X, operands, buffers);
    in_column_copies(exec, operands, width, buffers,
                     [&](auto const& columns) { pull_parts(exec, X, columns, buffers); });
  }
}

}  // namespace sporades::detail
