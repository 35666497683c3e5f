// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense/blocks.hpp>
#include <sporades/kernels/detail/nonzeros/coo.hpp>
#include <sporades/kernels/detail/spttm/fiber_tiles.hpp>

/// pi_p(r) = prod_{m != n} A_m(i_m, r): a product of rows that every storage of nonzeros gives, or,
/// where it is stored, one row.

namespace sporades::detail {

/// Nonzeros whose products are stored: as if their only other mode were their own place, and its
/// factor pi. See factor_rows.hpp.
template <class ScalarType, class Index, class MemorySpace>
struct StoredNonzeros
    : FactorRows<StoredNonzeros<ScalarType, Index, MemorySpace>, ScalarType, MemorySpace, 1> {
  using Scalar = ScalarType;
  using Row = Index;
  struct Entry {
    Index row;
    Scalar value;
    Position place;
  };

  RawVector<Index const, MemorySpace> row_of;   // nnz
  RawVector<Scalar const, MemorySpace> values;  // nnz

  KOKKOS_FORCEINLINE_FUNCTION Position size() const { return values.extent(0); }
  KOKKOS_FORCEINLINE_FUNCTION NamedRows<Index> rows(Position p) const { return {row_of(p)}; }
  KOKKOS_FORCEINLINE_FUNCTION bool leaves(NamedRows<Index> const& rows, Entry const& entry) const {
    return entry.row != rows.row;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool opens_row(Position p) const {
    return p == 0 || row_of(p) != row_of(p - 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION Entry fetch(Position p) const { return {row_of(p), values(p), p}; }
  KOKKOS_FORCEINLINE_FUNCTION Position index(Entry const& entry, int) const { return entry.place; }
};

/// X's nonzeros, whose products are the rows of pi: nnz x R, for mode n.
template <class Scalar, class Index, class MemorySpace>
auto stored_nonzeros(CooTensor<Scalar, Index, MemorySpace> const& X, int n,
                     Matrix<Scalar, MemorySpace> const& pi) {
  StoredNonzeros<Scalar, Index, MemorySpace> nonzeros;
  nonzeros.row_of = mode_indices(X, n);
  nonzeros.values = X.values;
  nonzeros.factors[0] = pi;
  nonzeros.others = 1;
  return nonzeros;
}

/// sum_s b(s) pi(s), pi the product of so many rows, in eight sums that are added at the end.
template <int modes, class Scalar>
KOKKOS_FUNCTION Scalar dot_of_rows(Scalar const* const* rows, Scalar const* b, std::uint64_t R) {
  constexpr int lanes = 8;
  Scalar const *const first = rows[0], *const second = rows[modes > 1 ? 1 : 0],
                      *const third = rows[modes > 2 ? 2 : 0],
                      *const fourth = rows[modes > 3 ? 3 : 0];
  auto const term = [=](std::uint64_t s) {
    Scalar pi = first[s];
    if constexpr (modes > 1) pi *= second[s];
    if constexpr (modes > 2) pi *= third[s];
    if constexpr (modes > 3) pi *= fourth[s];
    return pi * b[s];
  };
  Scalar sums[lanes] = {};
  std::uint64_t s = 0;
  for (; s + lanes <= R; s += lanes) {
#pragma omp simd
    for (int k = 0; k < lanes; ++k) sums[k] += term(s + k);
  }
  for (int k = 0; s < R; ++s, ++k) sums[k] += term(s);
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) sums[k] += sums[k + half];
  return sums[0];
}

/// sum_s b(s) pi_p(s)
template <class ExecutionSpace, class Nonzeros, class Scalar>
KOKKOS_FORCEINLINE_FUNCTION Scalar phi_model(Nonzeros const& nonzeros,
                                             typename Nonzeros::Entry const& entry, Scalar const* b,
                                             std::uint64_t R) {
  if constexpr (!is_gpu<ExecutionSpace>) {
    int const modes = nonzeros.modes();
    if (1 <= modes && modes <= 4) {  // indices are taken apart once, not once a tile
      Scalar const* rows[4];
      for (int m = 0; m < modes; ++m)
        rows[m] =
            nonzeros.factors[m].data() + nonzeros.index(entry, m) * nonzeros.factors[m].stride(0);
      if (modes == 1) return dot_of_rows<1>(rows, b, R);
      if constexpr (Nonzeros::other_modes != 1) {
        if (modes == 2) return dot_of_rows<2>(rows, b, R);
        if (modes == 3) return dot_of_rows<3>(rows, b, R);
        return dot_of_rows<4>(rows, b, R);
      }
    }
  }
  Scalar model = 0;
  for_tiles<ExecutionSpace>(0, R, [&](auto width_constant, std::uint64_t first) {
    constexpr int width = decltype(width_constant)::value;
    TileColumns<Scalar, width, Access::whole> const tile{first, width};
    model += nonzeros.product(entry, tile).dot(load_tile<Scalar, width>(b + first));
  });
  return model;
}

/// w_p = x_p / max(sum_s b(s) pi_p(s), epsilon), of a nonzero whose row of B is b.
template <class ExecutionSpace, class Nonzeros, class Scalar>
KOKKOS_FORCEINLINE_FUNCTION Scalar phi_weight(Nonzeros const& nonzeros,
                                              typename Nonzeros::Entry const& entry,
                                              Scalar const* b, std::uint64_t R, Scalar epsilon) {
  Scalar const model = phi_model<ExecutionSpace>(nonzeros, entry, b, R);
  return entry.value / (model < epsilon ? epsilon : model);
}

/// One work item: pi(p, :) of a few neighbouring nonzeros x a tile of columns.
template <class Nonzeros, int Width, Access access, int Batch>
struct StorePi {
  using Scalar = typename Nonzeros::Scalar;
  using Columns = TileColumns<Scalar, Width, access>;

  Nonzeros nonzeros;
  RawMatrix<Scalar, typename Nonzeros::Memory> pi;  // nnz x R
  WalkShape shape;

  KOKKOS_FUNCTION void operator()(Position item) const {
    auto const tile = shape.template tile<Columns>(item);
    Position const end = shape.end(item, nonzeros.size());
    for (Position p = shape.begin(item); p < end; p += Batch) {
      typename Columns::T product[Batch];
      for (int k = 0; k < Batch; ++k)
        product[k] = nonzeros.product(nonzeros.fetch(p + k < end ? p + k : end - 1), tile);
      for (int k = 0; k < Batch && p + k < end; ++k)
        tile.template store<true>(pi, p + k, product[k]);
    }
    if constexpr (access == Access::streamed) finish_streaming();
  }
};

/// pi(p, :) of every nonzero of X for mode n. pi: nnz x R. Enqueued on exec. (N - 1) R nnz flops.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void store_pi(ExecutionSpace const& exec, CooTensor<Scalar, Index, MemorySpace> const& X,
              Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& pi) {
  if (X.nnz() == 0) return;
  Position const length = is_gpu<ExecutionSpace> ? 4 : 128;
  auto const store = [&](auto others) {
    auto const nonzeros = coo_nonzeros<others()>(X, A, n);
    using Nonzeros = std::decay_t<decltype(nonzeros)>;
    FiberTiles<> const row_tiles{pi.extent(1), all_rows_aligned(A, n, pi),
                                 streams_rows<ExecutionSpace>(pi, pi.extent(1))};
    row_tiles.for_each<ExecutionSpace, Scalar, true>(
        [&](auto width, auto access, std::size_t first, Position tiles) {
          using Store = StorePi<Nonzeros, width(), access(), batch<ExecutionSpace>>;
          launch_items(exec, "sporades::pi::stored", chunks_of(X.nnz(), length) * tiles,
                       Store{nonzeros, pi, WalkShape{length, first, pi.extent(1), tiles}});
        });
  };
  if constexpr (is_gpu<ExecutionSpace>)  // which instructions bound, and not memory alone
    with_unrolled_modes<Index, 2>(X.order() - 1, store);
  else
    store(std::integral_constant<int, any_number>{});
}

}  // namespace sporades::detail

#include <sporades/eti/pi.hpp>
