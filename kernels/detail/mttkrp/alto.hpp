// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/alto_tensor.hpp>
#include <sporades/kernels/detail/mttkrp/coo_nonzeros.hpp>

namespace sporades::detail {

/// The nonzeros of an AltoTensor as MTTKRP sees them on one mode.
template <class Scalar, class Index, class MemorySpace, int Others, bool two_words>
struct AltoNonzeros {
  using Memory = MemorySpace;
  static constexpr int capacity = Others == any_number ? max_order - 1 : Others;
  static constexpr int other_modes = Others;
  struct Entry {
    std::uint64_t low, high;
    Scalar value;
    Index row;
  };
  struct Bits {
    BitMask low, high;
    int low_count;
    KOKKOS_FORCEINLINE_FUNCTION std::size_t of(Entry const& entry) const {
      std::size_t index = extract_bits(entry.low, low);
      if constexpr (two_words) index |= extract_bits(entry.high, high) << low_count;
      return index;
    }
  };

  RawVector<std::uint64_t const, MemorySpace> low, high;                  // nnz
  RawVector<Scalar const, MemorySpace> values;                            // nnz
  Kokkos::Array<RawMatrix<Scalar const, MemorySpace>, capacity> factors;  // of the other modes
  Kokkos::Array<Bits, capacity> bits;
  Bits row_bits;
  int others;  // N - 1

  KOKKOS_FORCEINLINE_FUNCTION Position size() const { return values.extent(0); }
  KOKKOS_FORCEINLINE_FUNCTION int modes() const { return Others == any_number ? others : Others; }
  KOKKOS_FORCEINLINE_FUNCTION NamedRows<Index> rows(Position p) const { return {fetch(p).row}; }
  KOKKOS_FORCEINLINE_FUNCTION bool opens_row(Position) const { return true; }

  KOKKOS_FORCEINLINE_FUNCTION Entry fetch(Position p) const {
    Entry entry{low(p), 0, values(p), 0};
    if constexpr (two_words) entry.high = high(p);
    entry.row = static_cast<Index>(row_bits.of(entry));
    return entry;
  }
  /// The product of the factor rows.
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto product(Entry const& entry, Columns const& columns) const {
    typename Columns::T product;
    if (modes() == 0) {
      product.fill(Scalar(1));
      return product;
    }
    product = columns.load(factors[0], bits[0].of(entry));
    for (int m = 1; m < modes(); ++m) product.multiply(columns.load(factors[m], bits[m].of(entry)));
    return product;
  }
  /// x_p times that.
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto term(Entry const& entry, Columns const& columns) const {
    auto term = product(entry, columns);
    term.multiply(entry.value);
    return term;
  }
};

/// The terms of MTTKRP.
struct AltoTerms {
  template <class Nonzeros, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(Nonzeros const& nonzeros, Columns const& columns,
                                              typename Nonzeros::Entry const& entry) const {
    return nonzeros.term(entry, columns);
  }
};

/// One work item: a part of the nonzeros x a tile of columns. Each term is added to its row among
/// the part's buffer rows.
template <class Nonzeros, class Scalar, int Width, Access access, class Terms = AltoTerms>
struct AltoWalk {
  using Columns = TileColumns<Scalar, Width, access>;

  Nonzeros nonzeros;
  RawVector<AltoPart const, typename Nonzeros::Memory> parts;
  RawMatrix<Scalar, typename Nonzeros::Memory> rows;  // buffer rows of all parts x columns
  WalkShape shape;
  Terms terms = {};

  KOKKOS_FUNCTION void operator()(Position item) const {
    auto const tile = shape.template tile<Columns>(item);
    AltoPart const part = parts(shape.chunk(item));
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

/// V(row) <- the sum of the parts' buffer rows for it, in the order of the parts.
template <class Scalar, class MemorySpace>
struct PullRows {
  using Partition = AltoPartition<MemorySpace>;

  RawVector<AltoPart const, MemorySpace> parts;
  RawVector<Position const, MemorySpace> begins;
  RawVector<std::uint32_t const, MemorySpace> touched;
  RawMatrix<Scalar const, MemorySpace> rows;  // buffer rows of all parts x columns
  RawMatrix<Scalar, MemorySpace> V;

  KOKKOS_FUNCTION void operator()(Position row) const {
    Scalar* const sum = &V(row, 0);
    for (std::size_t r = 0; r < V.extent(1); ++r) sum[r] = 0;
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

template <int Others, bool two_words, class Scalar, class Index, class MemorySpace>
auto alto_nonzeros(AltoTensor<Scalar, Index, MemorySpace> const& X,
                   Factors<Scalar, MemorySpace> const& A, int n) {
  AltoNonzeros<Scalar, Index, MemorySpace, Others, two_words> nonzeros;
  auto const bits = [&](int m) -> decltype(nonzeros.row_bits) {
    return {X.layout.low[m], X.layout.high[m], X.layout.low_count[m]};
  };
  nonzeros.low = X.low;
  nonzeros.high = X.high;
  nonzeros.values = X.values;
  nonzeros.row_bits = bits(n);
  nonzeros.others = 0;
  for (int m = 0; m < X.order(); ++m) {
    if (m == n) continue;
    nonzeros.factors[nonzeros.others] = A[m];
    nonzeros.bits[nonzeros.others] = bits(m);
    ++nonzeros.others;
  }
  return nonzeros;
}

/// Calls run(nonzeros) with a type that fits X.
template <class Scalar, class Index, class MemorySpace, class Run>
void for_alto_nonzeros(AltoTensor<Scalar, Index, MemorySpace> const& X,
                       Factors<Scalar, MemorySpace> const& A, int n, Run const& run) {
  if (X.layout.has_two_words()) return run(alto_nonzeros<any_number, true>(X, A, n));
  for_other_modes<Index>(X.order() - 1,
                         [&](auto others) { run(alto_nonzeros<others(), false>(X, A, n)); });
}

/// True if the rows of every factor but A[n] are `stride` entries apart.
template <class Scalar, class MemorySpace>
bool all_strides_are(std::size_t stride, Factors<Scalar, MemorySpace> const& A, int n) {
  bool equal = true;
  for (int m = 0; m < static_cast<int>(A.size()); ++m)
    equal = equal && (m == n || A[m].stride(0) == stride);
  return equal;
}

/// The sums of all parts into their buffer rows, on hosts; where the rows of all matrices are
/// `tight`, equally far apart, in one tile a row if that is as wide.
template <class ExecutionSpace, class Nonzeros, class Scalar, class MemorySpace, class Terms>
void launch_alto_walk(ExecutionSpace const& exec, char const* label, Nonzeros const& nonzeros,
                      AltoPartition<MemorySpace> const& partition,
                      Matrix<Scalar, MemorySpace> const& own, std::size_t columns, bool tight,
                      Terms const& terms) {
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Position>,
                                     Kokkos::Schedule<Kokkos::Dynamic>>;
  auto const launch = [&](auto width, auto access, std::size_t first, Position tiles) {
    AltoWalk<Nonzeros, Scalar, width(), access(), Terms> const walk{
        nonzeros, partition.parts, own, WalkShape{1, first, columns, tiles}, terms};
    Kokkos::parallel_for(
        label, Policy(exec, 0, partition.parts.extent(0) * tiles).set_chunk_size(1), walk);
  };
  // A multiplication a row saved: they and the extraction of bits share one port of x86 processors.
  bool const launched = tight && for_tight_tile(own.stride(0), [&](auto width) {
                          launch(width, std::integral_constant<Access, Access::tight>{}, 0, 1);
                        });
  if constexpr (std::is_same_v<Terms, AltoTerms>) {
    if (launched) return;
    if (tight)  // padding is columns like others: few tiles, none of them guarded
      for_column_tiles<ExecutionSpace, Scalar, TileWidths::fine>(own.stride(0), false, launch);
    else
      for_column_tiles<ExecutionSpace, Scalar, TileWidths::coarse>(columns, false, launch);
  }
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

/// Strategies `alto` and `alto_atomic`: parts of the linear order add into rows of their own, and
/// each row pulls its sum from them, in order: the same bits on any number of threads. Where that
/// needs_atomics, terms are added to V: of `alto_atomic` only.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
void mttkrp_alto(ExecutionSpace const& exec, AltoTensor<Scalar, Index, MemorySpace> const& X,
                 Factors<Scalar, MemorySpace> const& A, int n, Matrix<Scalar, MemorySpace> const& V,
                 CarryBuffers<Scalar, Index, MemorySpace>& buffers) {
  auto const& partition = X.partitions[n];
  if (X.nnz() == 0) {
    Kokkos::deep_copy(exec, V, Scalar(0));
  } else if (needs_atomics<ExecutionSpace>(X, n)) {
    Kokkos::deep_copy(exec, V, Scalar(0));
    Position const length = chunk_length<ExecutionSpace>(X.nnz());
    for_alto_nonzeros(X, A, n, [&](auto const& nonzeros) {
      using Nonzeros = std::decay_t<decltype(nonzeros)>;
      using Rows = AtomicRows<Scalar, Index, MemorySpace>;
      for_column_tiles<ExecutionSpace, Scalar, TileWidths::coarse>(
          V.extent(1), all_rows_aligned(A, n, V),
          [&](auto width, auto access, std::size_t first, Position tiles) {
            SegmentWalk<Nonzeros, Rows, Scalar, width(), access(), batch<ExecutionSpace>> const
                walk{nonzeros, {V}, WalkShape{length, first, V.extent(1), tiles}};
            launch_items(exec, "sporades::mttkrp::alto_atomic", chunks_of(X.nnz(), length) * tiles,
                         walk);
          });
    });
  } else if constexpr (!is_gpu<ExecutionSpace>) {
    auto const& own = buffers.buffer_rows(exec, partition.buffer_rows, V.extent(1));
    bool const tight = all_strides_are(own.stride(0), A, n);
    for_alto_nonzeros(X, A, n, [&](auto const& nonzeros) {
      launch_alto_walk(exec, "sporades::mttkrp::alto", nonzeros, partition, own, V.extent(1), tight,
                       AltoTerms{});
    });
    launch_items(exec, "sporades::mttkrp::pull_rows", V.extent(0),
                 PullRows<Scalar, MemorySpace>{partition.parts, partition.begins, partition.touched,
                                               own, V});
  }
}

}  // namespace sporades::detail
