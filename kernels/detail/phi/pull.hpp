// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/kernels/detail/mttkrp/alto.hpp>
#include <sporades/kernels/detail/mttkrp/sorted.hpp>
#include <sporades/kernels/detail/phi/pi.hpp>

namespace sporades::detail {

/// The rows of nonzeros begin, begin + 1, ... as a COO tensor has them.
template <class Index, class MemorySpace>
struct CooRows {
  RawVector<Index const, MemorySpace> row_of;  // nnz

  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void visit(Position begin, Position end, Visit const& visit) const {
    for (Position p = begin; p < end; ++p) visit(p, row_of(p));
  }
};

/// The same of packed nonzeros; begin is a multiple of their distance of marks.
template <class Nonzeros>
struct PackedRows {
  Nonzeros nonzeros;  // PackedNonzeros

  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void visit(Position begin, Position end, Visit const& visit) const {
    RowCursor<typename Nonzeros::Row> cursor(nonzeros.row_names, nonzeros.mark(begin));
    for (Position p = begin; p < end; ++p) {
      if (p > begin && nonzeros.opens_row(p)) cursor.advance();
      visit(p, cursor.row);
    }
  }
};

/// weights(p) = w_p, of a run of nonzeros an item.
template <class ExecutionSpace, class Source, class Rows, class Scalar>
struct WeighNonzeros {
  static constexpr Position length = PackedTensor<Scalar>::mark_distance;
  using Memory = typename ExecutionSpace::memory_space;

  Source pi;
  Rows rows;
  RawVector<Scalar const, Memory> counts;  // nnz
  RawVector<Scalar, Memory> weights;       // nnz
  RawMatrix<Scalar const, Memory> B;       // I_n x R
  Scalar epsilon;

  KOKKOS_FUNCTION void operator()(Position item) const {
    Position const begin = item * length;
    Position const end = begin + length < counts.extent(0) ? begin + length : counts.extent(0);
    rows.visit(begin, end, [&](Position p, std::uint64_t row) {
      weights(p) = phi_weight<ExecutionSpace>(pi, p, counts(p), B.data() + row * B.stride_0(),
                                              B.extent(1), epsilon);
    });
  }
};

/// weights(p) = x_p / max(sum_s B(i_n, s) pi_p(s), epsilon), where counts(p) = x_p. Enqueued.
template <class ExecutionSpace, class Source, class Rows, class Counts, class Scalar,
          class MemorySpace>
void weigh_nonzeros(ExecutionSpace const& exec, Source const& pi, Rows const& rows,
                    Counts const& counts, Counts const& weights,
                    Matrix<Scalar, MemorySpace> const& B, Scalar epsilon) {
  using Kernel = WeighNonzeros<ExecutionSpace, Source, Rows, Scalar>;
  launch_items(exec, "sporades::phi::weigh", chunks_of(counts.extent(0), Kernel::length),
               Kernel{pi, rows, counts, weights, B, epsilon});
}

/// Nonzeros sorted by row whose terms are w_p times a row of the stored pi.
template <class Scalar, class Index, class MemorySpace>
struct StoredTerms {
  struct Entry {
    Index row;
    Position place;
  };
  RawVector<Index const, MemorySpace> row_of;    // nnz
  RawVector<Scalar const, MemorySpace> weights;  // nnz
  RawMatrix<Scalar const, MemorySpace> pi;       // nnz x R

  KOKKOS_FORCEINLINE_FUNCTION Position size() const { return row_of.extent(0); }
  KOKKOS_FORCEINLINE_FUNCTION NamedRows<Index> rows(Position p) const { return {row_of(p)}; }
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
  CooRows<Index, MemorySpace> const rows{mode_indices(X, n)};
  weigh_nonzeros(exec, StoredPi<Scalar, MemorySpace>{pi}, rows, X.values, weights, B, epsilon);
  sum_terms<TileWidths::coarse>(exec, "sporades::phi::pull",
                                StoredTerms<Scalar, Index, MemorySpace>{rows.row_of, weights, pi},
                                false, V, rows_are_aligned(V) && rows_are_aligned(pi), carry);
}

/// weights(p) = w_p, in the order of packed nonzeros.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void weigh_packed(ExecutionSpace const& exec, PackedTensor<Scalar, Index, MemorySpace> const& X,
                  Factors<Scalar, MemorySpace> const& A, Vector<Scalar, MemorySpace> const& weights,
                  Matrix<Scalar, MemorySpace> const& B, Scalar epsilon) {
  EitherWidth<MemorySpace> const words{X.narrow.data(), X.wide.data()};
  auto const nonzeros = packed_nonzeros<any_number>(X, words, A, 0);
  using Nonzeros = std::decay_t<decltype(nonzeros)>;
  weigh_nonzeros(exec, PackedPi<Nonzeros>{nonzeros}, PackedRows<Nonzeros>{nonzeros}, X.values,
                 weights, B, epsilon);
}

/// The rows of nonzeros in a linear order.
template <class Nonzeros>
struct AltoRows {
  Nonzeros nonzeros;  // AltoNonzeros

  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void visit(Position begin, Position end, Visit const& visit) const {
    for (Position p = begin; p < end; ++p) visit(p, nonzeros.fetch(p).row);
  }
};

/// weights(p) = w_p, in a linear order.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void weigh_alto(ExecutionSpace const& exec, AltoTensor<Scalar, Index, MemorySpace> const& X,
                Factors<Scalar, MemorySpace> const& A, int n,
                Vector<Scalar, MemorySpace> const& weights, Matrix<Scalar, MemorySpace> const& B,
                Scalar epsilon) {
  auto const weigh = [&](auto const& nonzeros) {
    using Nonzeros = std::decay_t<decltype(nonzeros)>;
    weigh_nonzeros(exec, AltoPi<Nonzeros>{nonzeros}, AltoRows<Nonzeros>{nonzeros}, X.values,
                   weights, B, epsilon);
  };
  if (X.layout.has_two_words())
    weigh(alto_nonzeros<any_number, true>(X, A, n));
  else
    weigh(alto_nonzeros<any_number, false>(X, A, n));
}

}  // namespace sporades::detail
