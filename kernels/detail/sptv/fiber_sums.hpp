// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sporades/kernels/detail/sptv/fiber_windows.hpp>
#include <sporades/kernels/detail/sptv/long_fibers.hpp>
#include <sporades/kernels/detail/work_items.hpp>

/// Sums of fibers whose entries lie one after another, with the vector's. A fiber's sum depends on
/// its entries alone, not on how fibers are divided among threads.

namespace sporades::detail {

/// a b + c, rounded once where the processor does that fast. Said, since compilers do so with a
/// product and a sum in some places and not in others.
template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION Scalar multiply_add(Scalar a, Scalar b, Scalar c) {
#if defined(FP_FAST_FMA) && defined(FP_FAST_FMAF)
  using std::fma;
  return fma(a, b, c);
#else
  return a * b + c;
#endif
}

/// Sums of the terms of short fibers, by a thread of a host, which needs no branches for their
/// lengths: ends of short fibers are branches that no processor predicts. Terms are rounded, then
/// added in pairs.
template <class Scalar>
struct ShortFibers {
  static constexpr int longest = 8;  // terms of such a fiber

  /// The sum of n <= count terms, behind which lie count - n numbers more, whatever they are.
  template <int count>
  static KOKKOS_FORCEINLINE_FUNCTION Scalar sum(Scalar const* terms, int n) {
    using Bits = std::conditional_t<sizeof(Scalar) == 4, std::uint32_t, std::uint64_t>;
    static_assert(sizeof(Bits) == sizeof(Scalar));
    static constexpr Bits all = ~Bits{0};
    alignas(64) static constexpr Bits kept[2 * longest] = {all, all, all, all, all, all, all, all};
    Bits bits[count];
    std::memcpy(bits, terms, sizeof bits);
    Bits const* const mask = kept + longest - n;
    for (int k = 0; k < count; ++k) bits[k] &= mask[k];
    Scalar t[count];
    std::memcpy(t, bits, sizeof t);
    Scalar const first = (t[0] + t[1]) + (t[2] + t[3]);
    if constexpr (count == 4)
      return first + Scalar(0);  // as with four zeros more
    else
      return first + ((t[4] + t[5]) + (t[6] + t[7]));
  }
};

/// The terms of SpTV.
template <class ScalarType, class IndexType, class MemorySpace>
struct VectorTerms {
  using Scalar = ScalarType;
  using Index = IndexType;

  RawVector<Index const, MemorySpace> index;
  RawVector<Scalar const, MemorySpace> values;
  RawVector<Scalar const, MemorySpace> v;

  KOKKOS_FORCEINLINE_FUNCTION Scalar term(Index i, Scalar value) const { return value * v(i); }
  KOKKOS_FORCEINLINE_FUNCTION Scalar operator()(Position p) const {
    return term(index(p), values(p));
  }

  /// products[k] = the term begin + k, of n.
  KOKKOS_FORCEINLINE_FUNCTION void make(Position begin, int n, Scalar* products) const {
    auto const* const own = this;
    auto const* const from = index.data() + begin;
    auto const* const of = values.data() + begin;
#pragma omp simd
    for (int k = 0; k < n; ++k) products[k] = own->term(from[k], of[k]);
  }

  /// The sum over begin <= p < end by a thread of a host.
  KOKKOS_FORCEINLINE_FUNCTION Scalar sum(Position begin, Position end) const {
    return end - begin <= ShortFibers<Scalar>::longest ? sum_short(begin, end)
                                                       : sum_long(begin, end);
  }
  /// The sum over begin <= p < end by a thread of a host, where `products` has the terms of a short
  /// fiber. count: most fibers have no more terms.
  template <int count>
  KOKKOS_FORCEINLINE_FUNCTION Scalar sum_made(Scalar const* products, Position begin,
                                              Position end) const {
    using Short = ShortFibers<Scalar>;
    int const n = static_cast<int>(end - begin);
    return n <= count            ? Short::template sum<count>(products, n)
           : n <= Short::longest ? Short::template sum<Short::longest>(products, n)
                                 : sum_long(begin, end);
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar sum_short(Position begin, Position end) const {
    constexpr int count = ShortFibers<Scalar>::longest;
    Scalar products[count];
    for (int k = 0; k < count; ++k) products[k] = (*this)(begin + k < end ? begin + k : begin);
    return ShortFibers<Scalar>::template sum<count>(products, static_cast<int>(end - begin));
  }
  /// Four sums, of every fourth term each.
  KOKKOS_FORCEINLINE_FUNCTION Scalar sum_long(Position begin, Position end) const {
    Scalar a = 0, b = 0, c = 0, d = 0;
    Position p = begin;
    for (; p + 4 <= end; p += 4) {
      a = add_term(a, p);
      b = add_term(b, p + 1);
      c = add_term(c, p + 2);
      d = add_term(d, p + 3);
    }
    if (p < end) a = add_term(a, p);
    if (p + 1 < end) b = add_term(b, p + 1);
    if (p + 2 < end) c = add_term(c, p + 2);
    return (a + b) + (c + d);
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar add_term(Scalar sum, Position p) const {
    return multiply_add(values(p), v(index(p)), sum);
  }
  /// The sum over begin <= p < end by lanes of a GPU: each adds up every lanes.count()-th term, and
  /// all get the sum.
  KOKKOS_FORCEINLINE_FUNCTION Scalar sum(Position begin, Position end,
                                         VectorLanes const& lanes) const {
    constexpr int batch = 4;  // terms whose loads are under way together
    Scalar sum = 0;
    for (Position p = begin + lanes.mine(); p < end; p += batch * lanes.count()) {
      Scalar term[batch];
      for (int k = 0; k < batch; ++k) {
        Position const q = p + k * lanes.count();
        term[k] = (*this)(q < end ? q : p);
      }
      for (int k = 0; k < batch; ++k)
        if (p + k * lanes.count() < end) sum += term[k];
    }
    return add_lanes(sum, lanes);
  }
};

/// One work item, on hosts: `length` neighbouring fibers, of which it sums those of at most
/// `longest` entries. Where a block of them has few entries each, it makes all their terms first.
template <class Terms, class MemorySpace>
struct SumShortFibers {
  using Scalar = typename Terms::Scalar;
  using Short = ShortFibers<Scalar>;
  static constexpr Position block = 256;  // fibers
  static constexpr Position most = 8;     // entries of such a block for each of its fibers

  Terms terms;
  RawVector<Position const, MemorySpace> begin;  // fibers + 1
  RawVector<Scalar, MemorySpace> y;              // fibers
  Position longest, length;

  KOKKOS_FUNCTION void operator()(Position item) const {
    Position const last =
        item * length + length < y.extent(0) ? item * length + length : Position(y.extent(0));
    for (Position f = item * length; f < last; f += block)
      sum_block(f, f + block < last ? f + block : last);
  }

  KOKKOS_FORCEINLINE_FUNCTION void sum_block(Position first, Position last) const {
    Position const fibers = last - first, entries = begin(last) - begin(first);
    if (entries > most * fibers) {
      for (Position f = first; f < last; ++f) {
        Position const own = begin(f), end = begin(f + 1);
        if (end - own <= longest) y(f) = terms.sum(own, end);
      }
      return;
    }
    Scalar products[block * most + Short::longest];
    terms.make(begin(first), static_cast<int>(entries), products);
    if (entries == fibers)
      for (Position k = 0; k < fibers; ++k) y(first + k) = products[k] + Scalar(0);
    else if (16 * entries < 17 * fibers)
      add_most_alone(first, last, products);
    else if (entries < 3 * fibers)
      add_products<4>(first, last, products);
    else
      add_products<Short::longest>(first, last, products);
  }

  /// Where most fibers have one term: eight such at once.
  KOKKOS_FORCEINLINE_FUNCTION void add_most_alone(Position first, Position last,
                                                  Scalar const* products) const {
    Position const from = begin(first);
    for (Position f = first; f < last; f += 8) {
      Scalar const* const own = products + (begin(f) - from);
      if (f + 8 <= last && begin(f + 8) - begin(f) == 8)
        for (int k = 0; k < 8; ++k) y(f + k) = own[k] + Scalar(0);
      else
        add_products<4>(f, f + 8 < last ? f + 8 : last, own);
    }
  }

  /// count: most fibers have at most so many terms.
  template <int count>
  KOKKOS_FORCEINLINE_FUNCTION void add_products(Position first, Position last,
                                                Scalar const* products) const {
    Position const from = begin(first);
    Scalar const* own = products;
    for (Position f = first; f < last; ++f) {
      y(f) = terms.template sum_made<count>(own, begin(f), begin(f + 1));
      own = products + (begin(f + 1) - from);
    }
  }
};

/// Launches chunks of fibers, which take unequal times; cost: about how many terms one has.
template <class ExecutionSpace, class Kernel>
void launch_chunks(ExecutionSpace const& exec, char const* label, Position chunks, Position cost,
                   Kernel const& kernel) {
  if (is_small<ExecutionSpace>(chunks, cost))
    launch(exec, label, chunks, cost, kernel);
  else
    launch_unequal_items(exec, label, chunks, kernel);
}

/// The split for sum_fibers_of_vector. begin: fibers + 1. Fences exec.
template <class Scalar, class ExecutionSpace, class MemorySpace>
FiberSplit<Scalar, MemorySpace> split_fibers(ExecutionSpace const& exec,
                                             Vector<Position, MemorySpace> const& begin,
                                             Position entries) {
  if constexpr (is_gpu<ExecutionSpace>)
    return find_windows<Scalar>(exec, begin, entries);
  else
    return find_long_fibers<Scalar, MemorySpace>(
        exec, begin.extent(0) - 1,
        FiberSplit<Scalar, MemorySpace>::template longest_alone<ExecutionSpace>,
        FiberBegins<MemorySpace>{begin});
}

/// y(f) = the sum of the entries begin(f) to begin(f + 1) - 1.
template <class ExecutionSpace, class Terms, class Scalar, class MemorySpace>
void sum_fibers_of_vector(ExecutionSpace const& exec, char const* label, Terms const& terms,
                          Vector<Position, MemorySpace> const& begin,
                          FiberSplit<Scalar, MemorySpace> const& split,
                          Vector<Scalar, MemorySpace> const& y) {
  Position const fibers = y.extent(0);
  if (fibers == 0) return;
  if constexpr (is_gpu<ExecutionSpace>) {
    sum_by_windows<32>(exec, label, terms, split, y);
  } else {
    Position const mean = terms.values.extent(0) / fibers + 1;
    Position const length = std::clamp<Position>(16384 / mean, 16, 4096);
    launch_chunks(exec, label, chunks_of(fibers, length), length * mean,
                  SumShortFibers<Terms, MemorySpace>{terms, begin, y, split.longest, length});
    sum_long_fibers(exec, terms, split, y);
  }
}

}  // namespace sporades::detail
