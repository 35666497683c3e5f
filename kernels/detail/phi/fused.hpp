// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/mttkrp/alto.hpp>
#include <sporades/kernels/detail/nonzeros/coo.hpp>
#include <sporades/kernels/detail/nonzeros/packed.hpp>
#include <sporades/kernels/detail/phi/row_lanes.hpp>
#include <sporades/kernels/detail/sorted_rows.hpp>

/// Phi in one pass over the nonzeros: where a row of every matrix is one tile in registers, the
/// model's value and the sum of the weighed rows come from the same loads. The walks are MTTKRP's,
/// with other terms.

namespace sporades::detail {

/// x_p / max(model_p, epsilon) times pi_p, for packed nonzeros: of pi the modes past the run's.
template <class T, class Scalar, class MemorySpace>
struct WeighedTerms {
  RawMatrix<Scalar const, MemorySpace> B;  // I_n x R
  Scalar epsilon;
  T row = {};  // B's, times the factor rows of the modes that the run agrees in

  template <class Nonzeros, class Columns, class Index>
  KOKKOS_FORCEINLINE_FUNCTION void enter(Nonzeros const& nonzeros, Columns const& columns, Index i,
                                         typename Nonzeros::Word path, int split) {
    row = columns.load(B, i);
    nonzeros.multiply(row, path, columns, 0, split);
  }
  template <class Nonzeros, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(Nonzeros const& nonzeros, Columns const& columns,
                                           typename Nonzeros::Entry const& entry, int split) const {
    T term = nonzeros.product(entry, columns, split);
    Scalar const model = row.dot(term);
    term.multiply(entry.value / (model < epsilon ? epsilon : model));
    return term;
  }
};

/// x_p / max(model_p, epsilon) times pi_p, for nonzeros each of which names its row.
template <class Scalar, class MemorySpace>
struct WeighedRowTerms {
  RawMatrix<Scalar const, MemorySpace> B;  // I_n x R
  Scalar epsilon;

  template <class Nonzeros, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(Nonzeros const& nonzeros, Columns const& columns,
                                              typename Nonzeros::Entry const& entry) const {
    auto term = nonzeros.product(entry, columns);
    Scalar const model = columns.load(B, entry.row).dot(term);
    term.multiply(entry.value / (model < epsilon ? epsilon : model));
    return term;
  }
};

/// Calls run(width constant) where `columns` is one of the widths that Phi is compiled for on CPUs.
template <class Run>
bool with_phi_width(std::size_t columns, Run const& run) {
  return columns <= 32 && with_constant<4, 8, 12, 16, 24, 32>(static_cast<int>(columns), run);
}

/// Whether rows of that many columns are one tile, for Phi in one pass. CPUs: 4, 8, 12, 16, 24 or
/// 32 columns. GPUs: up to 64 times 16 bytes.
template <class ExecutionSpace, class Scalar>
bool rows_are_one_tile(std::size_t columns) {
  constexpr std::size_t lane = 16 / sizeof(Scalar);
  if (is_gpu<ExecutionSpace>) return columns > 0 && columns % lane == 0 && columns / lane <= 64;
  return with_phi_width(columns, [](auto) {});
}

/// Whether a GPU takes rows of these matrices in one pass.
template <class ExecutionSpace, class Scalar, class MemorySpace>
bool rows_fit_lanes(PhiOperands<Scalar, MemorySpace> const& operands) {
  auto const& [A, B, n, V, epsilon] = operands;
  return rows_are_one_tile<ExecutionSpace, Scalar>(V.extent(1)) && rows_are_aligned(B) &&
         all_rows_aligned(A, n, V);
}

/// The widths that rows of COO nonzeros are one tile of, on hosts: calls run(width constant) where
/// `columns` is one of them.
template <class Run>
bool with_coo_width(std::size_t columns, Run const& run) {
  return columns <= 32 && with_constant<8, 16, 32>(static_cast<int>(columns), run);
}

/// Whether Phi reads COO nonzeros once, where on GPUs rows are aligned.
template <class ExecutionSpace, class Scalar>
bool coo_takes_one_pass(std::size_t columns) {
  if (is_gpu<ExecutionSpace>) return rows_are_one_tile<ExecutionSpace, Scalar>(columns);
  return with_coo_width(columns, [](auto) {});
}

/// The sums of nonzeros each of which names its row, in one pass; false where a row is not one
/// tile, or on GPUs not `aligned`.
template <class ExecutionSpace, class Nonzeros, class Scalar, class MemorySpace, class Rows>
bool walk_weighed(ExecutionSpace const& exec, char const* label, Nonzeros const& nonzeros,
                  PhiOperands<Scalar, MemorySpace> const& operands, Rows const& rows,
                  [[maybe_unused]] bool aligned) {
  std::size_t const R = operands.B.extent(1);
  if constexpr (is_gpu<ExecutionSpace>) {
    if (!aligned || !rows_are_aligned(operands.B) || !rows_are_one_tile<ExecutionSpace, Scalar>(R))
      return false;
    walk_row_lanes(exec, label, nonzeros, operands, rows);
    return true;
  } else {
    return with_coo_width(R, [&](auto width) {
      using Terms = WeighedRowTerms<Scalar, MemorySpace>;
      using Walk = RowWalk<Nonzeros, decltype(rows.sums), width(), Access::whole, 0, 1, Terms>;
      launch_items(exec, label, rows.chunks,
                   Walk{Terms{operands.B, operands.least()}, nonzeros, rows.sums,
                        WalkShape{rows.length, 0, R, 1}});
    });
  }
}

/// Whether Phi takes one pass over packed nonzeros: rows are one tile, on GPUs aligned.
template <class ExecutionSpace, class Scalar, class MemorySpace>
bool packed_takes_one_pass(PhiOperands<Scalar, MemorySpace> const& operands) {
  if constexpr (is_gpu<ExecutionSpace>)
    return rows_fit_lanes<ExecutionSpace>(operands);
  else
    return rows_are_one_tile<ExecutionSpace, Scalar>(operands.V.extent(1));
}

/// The one pass of Phi over packed nonzeros in the order of their rows. split: as MTTKRP's.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void walk_packed_once(ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& X,
                      SortedRows<Scalar, Index, MemorySpace> const& rows,
                      PhiOperands<Scalar, MemorySpace> const& operands, int split) {
  auto const& A = operands.A;
  if constexpr (is_gpu<ExecutionSpace>) {
    with_packed_nonzeros<ExecutionSpace>(X, A, 0, [&](auto const& nonzeros, auto depth) {
      if constexpr (depth() == 0)
        walk_row_lanes(exec, "sporades::phi::pull", nonzeros, operands, rows);
    });
  } else {
    std::size_t const R = operands.B.extent(1);
    with_packed_nonzeros<ExecutionSpace>(X, A, split, [&](auto const& nonzeros, auto depth) {
      with_phi_width(R, [&](auto width) {
        using Terms = WeighedTerms<Tile<Scalar, width()>, Scalar, MemorySpace>;
        using Walk = RowWalk<std::decay_t<decltype(nonzeros)>, std::decay_t<decltype(rows.sums)>,
                             width(), Access::whole, depth(), 1, Terms>;
        launch_items(exec, "sporades::phi::pull", rows.chunks,
                     Walk{Terms{operands.B, operands.least()}, nonzeros, rows.sums,
                          WalkShape{rows.length, 0, R, 1}});
      });
    });
  }
}

/// Phi on mode n in one pass on a linear order. Returns false
/// - on GPUs,
/// - where rows are not one tile, or their strides are larger than that,
/// - where there are no nonzeros, or reuse is too low for the parts' buffer rows.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
bool phi_fused(ExecutionSpace const& exec, AltoTensor<Scalar, Index, MemorySpace> const& X,
               PhiOperands<Scalar, MemorySpace> const& operands,
               CarryBuffers<Scalar, Index, MemorySpace>& buffers) {
  if constexpr (is_gpu<ExecutionSpace>) {
    return false;
  } else {
    auto const& A = operands.A;
    int const n = operands.n;
    std::size_t const R = operands.V.extent(1);
    auto const& partition = X.partitions[n];
    if (partition.parts.extent(0) == 0 || X.nnz() == 0 || operands.B.stride(0) != R ||
        !all_strides_are(R, A, n) || !rows_are_one_tile<ExecutionSpace, Scalar>(R))
      return false;
    auto const rows = buffers.buffer_rows(exec, partition.buffer_rows, R);
    with_alto_nonzeros(X, A, n, [&](auto const& nonzeros) {
      with_phi_width(R, [&](auto width) {
        walk_parts<width(), Access::tight>(
            exec, "sporades::phi::alto", nonzeros, partition, rows, {1, 0, R, 1},
            WeighedRowTerms<Scalar, MemorySpace>{operands.B, operands.least()});
      });
    });
    pull_rows(exec, "sporades::phi::pull_rows", partition, rows, operands.V);
    return true;
  }
}

}  // namespace sporades::detail
