// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/mttkrp/alto.hpp>
#include <sporades/kernels/detail/mttkrp/packed.hpp>
#include <sporades/kernels/detail/phi/row_lanes.hpp>

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
    T term = nonzeros.product(entry.word, columns, split);
    Scalar const model = row.dot(term);
    term.multiply(entry.value / (model < epsilon ? epsilon : model));
    return term;
  }
};

/// The same for nonzeros in a linear order, each of which has a row of its own.
template <class Scalar, class MemorySpace>
struct WeighedAltoTerms {
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
bool for_one_tile(std::size_t columns, Run const& run) {
  bool found = false;
  for_each_constant(std::integer_sequence<int, 4, 8, 12, 16, 24, 32>{}, [&](auto width) {
    if (columns != static_cast<std::size_t>(width())) return;
    run(width);
    found = true;
  });
  return found;
}

/// Whether rows of that many columns are one tile, for Phi in one pass.
template <class ExecutionSpace, class Scalar>
bool rows_are_one_tile(std::size_t columns) {
  constexpr std::size_t lane = 16 / sizeof(Scalar);
  if (is_gpu<ExecutionSpace>) return columns > 0 && columns % lane == 0 && columns / lane <= 64;
  return for_one_tile(columns, [](auto) {});
}

/// Phi on the row mode of packed nonzeros in one pass; false where a row is not one tile (CPUs: 4,
/// 8, 12, 16, 24 or 32 columns; GPUs: up to 64 times 16 bytes, aligned).
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
bool phi_fused(ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& X,
               Factors<Scalar, MemorySpace> const& A, Matrix<Scalar, MemorySpace> const& B,
               Scalar epsilon, Matrix<Scalar, MemorySpace> const& V, int split,
               CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  std::size_t const R = V.extent(1);
  bool const every_row = X.rows.extent(0) == V.extent(0);
  if constexpr (is_gpu<ExecutionSpace>) {
    if (!rows_are_one_tile<ExecutionSpace, Scalar>(R) || !rows_are_aligned(B) ||
        !all_rows_aligned(A, X.row_mode, V))
      return false;
    static_cast<void>(split);
    for_packed_nonzeros<ExecutionSpace>(X, A, 0, [&](auto const& nonzeros, auto depth) {
      if constexpr (depth() == 0) phi_row_lanes(exec, nonzeros, B, epsilon, V, every_row, carry);
    });
    return true;
  } else {
    return for_one_tile(R, [&](auto width) {
      using T = Tile<Scalar, width()>;
      using Terms = WeighedTerms<T, Scalar, MemorySpace>;
      for_packed_nonzeros<ExecutionSpace>(X, A, split, [&](auto const& nonzeros, auto depth) {
        using Nonzeros = std::decay_t<decltype(nonzeros)>;
        sum_sorted_rows(
            exec, X.nnz(), every_row, V, carry,
            [&](auto const& run) {
              run(width, std::integral_constant<Access, Access::whole>{}, 0, 1);
            },
            [&](auto, auto access, auto const& sums, WalkShape const& shape, Position chunks) {
              using Sums = std::decay_t<decltype(sums)>;
              PackedWalk<Nonzeros, Sums, Scalar, width(), access(), depth(), 1, Terms> const walk{
                  nonzeros, sums, shape, Terms{B, epsilon}};
              launch_items(exec, "sporades::phi::pull", chunks, walk);
            });
      });
    });
  }
}

/// Phi on mode n of a list sorted by it in one pass, on GPUs; false as above.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
bool phi_fused(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
               Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& B,
               Scalar epsilon, Matrix<Scalar, MemorySpace> const& V,
               CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  if constexpr (is_gpu<ExecutionSpace>) {
    if (!rows_are_one_tile<ExecutionSpace, Scalar>(V.extent(1)) || !rows_are_aligned(B) ||
        !all_rows_aligned(A, n, V))
      return false;
    for_other_modes<Index>(X.order() - 1, [&](auto others) {
      phi_row_lanes(exec, coo_nonzeros<others()>(X, A, n, Identity{}), B, epsilon, V, false, carry);
    });
    return true;
  }
  return false;
}

/// Phi on mode n of a linear order in one pass, on hosts; false where rows are not one tile, their
/// strides more than that, or reuse is too low for the parts' buffer rows.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
bool phi_fused(ExecutionSpace const& exec, AltoTensor<Scalar, Index, MemorySpace> const& X,
               Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& B,
               Scalar epsilon, Matrix<Scalar, MemorySpace> const& V,
               CarryBuffers<Scalar, Index, MemorySpace>& buffers) {
  if constexpr (is_gpu<ExecutionSpace>) {
    return false;
  } else {
    std::size_t const R = V.extent(1);
    auto const& partition = X.partitions[n];
    if (partition.parts.extent(0) == 0 || X.nnz() == 0 || B.stride(0) != R ||
        !all_strides_are(R, A, n))
      return false;
    return for_one_tile(R, [&](auto) {
      auto const& own = buffers.buffer_rows(exec, partition.buffer_rows, R);
      for_alto_nonzeros(X, A, n, [&](auto const& nonzeros) {
        launch_alto_walk(exec, "sporades::phi::alto", nonzeros, partition, own, R, true,
                         WeighedAltoTerms<Scalar, MemorySpace>{B, epsilon});
      });
      launch_items(exec, "sporades::phi::pull_rows", V.extent(0),
                   PullRows<Scalar, MemorySpace>{partition.parts, partition.begins,
                                                 partition.touched, own, V});
    });
  }
}

}  // namespace sporades::detail
