// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/mttkrp/alto.hpp>
#include <sporades/kernels/detail/phi/fused.hpp>
#include <sporades/kernels/detail/phi/pull.hpp>

namespace sporades::detail {

/// What AltoWalk does on hosts, for GPUs: a part of the nonzeros x a tile of columns an item, with
/// the loads of a batch of terms under way together.
template <class Nonzeros, int Width, Access access>
struct PartWalk {
  using Scalar = typename Nonzeros::Scalar;
  using Columns = TileColumns<Scalar, Width, access>;
  static constexpr int batch = 4;

  Nonzeros nonzeros;
  RawVector<AltoPart const, typename Nonzeros::Memory> parts;
  RawMatrix<Scalar, typename Nonzeros::Memory> rows;  // buffer rows of all parts x columns
  WalkShape shape;

  KOKKOS_FUNCTION void operator()(Position item) const {
    auto const tile = shape.template tile<Columns>(item);
    AltoPart const part = parts(shape.chunk(item));
    typename Columns::T zero;
    zero.fill(Scalar(0));
    for (Position i = 0; i < part.row_count; ++i) tile.store(rows, part.buffer_row + i, zero);
    Position const offset = part.buffer_row - part.row;  // may wrap around, and back
    for (Position p = part.begin; p < part.end; p += batch) {
      typename Nonzeros::Entry entry[batch];  // past the part's end its last nonzero stands in
      typename Columns::T term[batch];
      for (int k = 0; k < batch; ++k)
        entry[k] = nonzeros.fetch(p + k < part.end ? p + k : part.end - 1);
      for (int k = 0; k < batch; ++k) term[k] = nonzeros.term(entry[k], tile);
      for (int k = 0; k < batch && p + k < part.end; ++k) {
        auto sum = tile.load(rows, offset + entry[k].row);
        sum.add(term[k]);
        tile.store(rows, offset + entry[k].row, sum);
      }
    }
  }
};

/// Whether strategy `coo_alto_pull` reads its nonzeros once.
template <class ExecutionSpace, class Scalar>
bool parts_take_one_pass(std::size_t columns) {
  return !is_gpu<ExecutionSpace> && coo_takes_one_pass<ExecutionSpace, Scalar>(columns);
}

/// Strategy `coo_alto_pull`, a baseline that `automatic` never takes: coordinates in the linear
/// order of ALTO, in its balanced parts. Each part adds w_p pi_p into its own buffer rows, and each
/// row of V then pulls its sum from them, in the order of the parts: the same bits on any number of
/// threads. One pass over the nonzeros where a row is one tile on a host, else two, the first of
/// which leaves w_p in `weights`. partition: of mode n, with parts unless X is empty.
/// Anderson et al. 2021, section 5.4; Helal et al., ICS 2021, section 4.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void phi_coo_alto_pull(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                       AltoPartition<MemorySpace> const& partition,
                       PhiOperands<Scalar, MemorySpace> const& operands,
                       Vector<Scalar, MemorySpace> const& weights,
                       CarryBuffers<Scalar, Index, MemorySpace>& buffers) {
  auto const& V = operands.V;
  if (X.nnz() == 0) return fill_view(exec, V, Scalar(0));
  char const* const label = "sporades::phi::coo_alto_pull";
  std::size_t const R = V.extent(1);
  auto nonzeros = coo_nonzeros<any_number>(X, operands.A, operands.n);
  auto const rows = buffers.buffer_rows(exec, partition.buffer_rows, R);
  if (parts_take_one_pass<ExecutionSpace, Scalar>(R)) {
    if constexpr (!is_gpu<ExecutionSpace>)
      with_coo_width(R, [&](auto width) {
        walk_parts<width(), Access::whole>(
            exec, label, nonzeros, partition, rows, {1, 0, R, 1},
            WeighedRowTerms<Scalar, MemorySpace>{operands.B, operands.least()});
      });
  } else {
    weigh_nonzeros(exec, nonzeros, operands, weights);
    nonzeros.values = weights;
    for_column_tiles<ExecutionSpace, Scalar, TileWidths::coarse>(
        R, all_rows_aligned(operands.A, operands.n, rows),
        [&](auto width, auto access, std::size_t first, Position tiles) {
          WalkShape const shape{1, first, R, tiles};
          if constexpr (is_gpu<ExecutionSpace>)
            launch_items(exec, label, partition.parts.extent(0) * tiles,
                         PartWalk<std::decay_t<decltype(nonzeros)>, width(), access()>{
                             nonzeros, partition.parts, rows, shape});
          else
            walk_parts<width(), access()>(exec, label, nonzeros, partition, rows, shape,
                                          ProductTerms{});
        });
  }
  pull_rows(exec, "sporades::phi::coo_alto_pull_rows", partition, rows, V);
}

}  // namespace sporades::detail
