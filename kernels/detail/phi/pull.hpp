// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/nonzeros/alto.hpp>
#include <sporades/kernels/detail/nonzeros/packed.hpp>
#include <sporades/kernels/detail/phi/pi.hpp>
#include <sporades/kernels/detail/row_walk.hpp>

/// Phi in two passes: w_p = x_p / max(model_p, epsilon) of every nonzero, then sums of rows.

namespace sporades::detail {

/// weights(p) = w_p, of a run of nonzeros an item.
template <class ExecutionSpace, class Nonzeros, class Source>
struct WeighNonzeros {
  using Memory = typename ExecutionSpace::memory_space;
  using Scalar = typename Nonzeros::Scalar;
  static constexpr Position length = PackedTensor<Scalar>::mark_distance;

  Nonzeros nonzeros;
  Source source;
  RawVector<Scalar, Memory> weights;  // nnz
  RawMatrix<Scalar const, Memory> B;  // I_n x R
  Scalar epsilon;

  KOKKOS_FUNCTION void operator()(Position item) const {
    Position const begin = item * length;
    Position const end = begin + length < nonzeros.size() ? begin + length : nonzeros.size();
    auto rows = nonzeros.rows(begin);
    for (Position p = begin; p < end; ++p) {
      auto const entry = nonzeros.fetch(p);
      if (p > begin && nonzeros.leaves(rows, entry)) rows.enter(entry);
      weights(p) = phi_weight<ExecutionSpace>(
          nonzeros, source, entry, B.data() + rows.row * B.stride_0(), B.extent(1), epsilon);
    }
  }
};

/// weights(p) = x_p / max(sum_s B(i_n, s) pi_p(s), epsilon). Enqueued.
template <class ExecutionSpace, class Nonzeros, class Source, class Scalar, class MemorySpace>
void weigh_nonzeros(ExecutionSpace const& exec, Nonzeros const& nonzeros, Source const& source,
                    Vector<Scalar, MemorySpace> const& weights,
                    Matrix<Scalar, MemorySpace> const& B, Scalar epsilon) {
  using Kernel = WeighNonzeros<ExecutionSpace, Nonzeros, Source>;
  launch_items(exec, "sporades::phi::weigh", chunks_of(nonzeros.size(), Kernel::length),
               Kernel{nonzeros, source, weights, B, epsilon});
}

/// The same on mode n of any format, in the order of its nonzeros, with pi computed.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void weigh(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
           Factors<Scalar, MemorySpace> const& A, int n, Vector<Scalar, MemorySpace> const& weights,
           Matrix<Scalar, MemorySpace> const& B, Scalar epsilon) {
  weigh_nonzeros(exec, coo_nonzeros<any_number>(X, A, n), ComputedPi{}, weights, B, epsilon);
}
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void weigh(ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& X,
           Factors<Scalar, MemorySpace> const& A, int, Vector<Scalar, MemorySpace> const& weights,
           Matrix<Scalar, MemorySpace> const& B, Scalar epsilon) {
  weigh_nonzeros(exec, packed_nonzeros(X, A), ComputedPi{}, weights, B, epsilon);
}
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void weigh(ExecutionSpace const& exec, AltoTensor<Scalar, Index, MemorySpace> const& X,
           Factors<Scalar, MemorySpace> const& A, int n, Vector<Scalar, MemorySpace> const& weights,
           Matrix<Scalar, MemorySpace> const& B, Scalar epsilon) {
  if (X.layout.has_two_words())
    weigh_nonzeros(exec, alto_nonzeros<any_number, true>(X, A, n), ComputedPi{}, weights, B,
                   epsilon);
  else
    weigh_nonzeros(exec, alto_nonzeros<any_number, false>(X, A, n), ComputedPi{}, weights, B,
                   epsilon);
}

/// Nonzeros sorted by row whose terms are w_p times a row of the stored pi.
template <class ScalarType, class Index, class MemorySpace>
struct StoredTerms {
  using Scalar = ScalarType;
  using Row = Index;
  static constexpr bool has_words = false;
  struct Entry {
    Index row;
    Position place;
  };
  RawVector<Index const, MemorySpace> row_of;    // nnz
  RawVector<Scalar const, MemorySpace> weights;  // nnz
  RawMatrix<Scalar const, MemorySpace> pi;       // nnz x R

  KOKKOS_FORCEINLINE_FUNCTION Position size() const { return row_of.extent(0); }
  KOKKOS_FORCEINLINE_FUNCTION NamedRows<Index> rows(Position p) const { return {row_of(p)}; }
  KOKKOS_FORCEINLINE_FUNCTION bool leaves(NamedRows<Index> const& rows, Entry const& entry) const {
    return entry.row != rows.row;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool opens_row(Position p) const {
    return p == 0 || row_of(p) != row_of(p - 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION Entry fetch(Position p) const { return {row_of(p), p}; }
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto term(Entry const& entry, Columns const& columns) const {
    auto product = columns.load(pi, entry.place);
    product.multiply(weights(entry.place));
    return product;
  }
};

/// Strategy `pull` with pi stored, on nonzeros sorted by mode n: two passes over pi.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void phi_pull_stored(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
                     int n, Matrix<Scalar, MemorySpace> const& pi,
                     Vector<Scalar, MemorySpace> const& weights,
                     Matrix<Scalar, MemorySpace> const& B, Scalar epsilon,
                     Matrix<Scalar, MemorySpace> const& V,
                     CarryBuffers<Scalar, Index, MemorySpace>& carry) {
  auto const nonzeros = coo_rows(X, n);
  weigh_nonzeros(exec, nonzeros, StoredPi<Scalar, MemorySpace>{pi}, weights, B, epsilon);
  sum_sorted_rows<TileWidths::coarse>(
      exec, "sporades::phi::pull",
      StoredTerms<Scalar, Index, MemorySpace>{nonzeros.row_of, weights, pi}, false, V,
      rows_are_aligned(V) && rows_are_aligned(pi), carry);
}

}  // namespace sporades::detail
