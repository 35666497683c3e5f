// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense/blocks.hpp>
#include <sporades/core/detail/dense/multiply_warps.hpp>
#include <sporades/core/detail/tile.hpp>

namespace sporades::detail {

/// The tile with its entries converted.
template <class To, class Scalar, int width>
KOKKOS_FORCEINLINE_FUNCTION Tile<To, width> converted(Tile<Scalar, width> const& tile) {
  if constexpr (std::is_same_v<Scalar, To>) {
    return tile;
  } else {
    using Part = typename Tile<Scalar, width>::Part;
    Tile<To, width> result;
    static_assert(Tile<To, width>::parts == Tile<Scalar, width>::parts,
                  "A part of either tile must hold the same entries.");
    for (int k = 0; k < tile.parts; ++k) Part::template convert<To>(tile.part[k], result.part[k]);
    return result;
  }
}

/// A = V S in tiles of rows and up to 8 columns held in registers. CPU: an item is 64 rows, 8 at a
/// time; GPU: an item is one tile of 4 rows, neighbouring items are neighbouring column tiles of
/// the same rows, and what lies together is loaded in packs where it is aligned. Factor: of S, in
/// which the sums are.
template <class ExecutionSpace, class Scalar, class Factor, bool packed>
struct MultiplyRows {
  static constexpr std::uint64_t rows_per_item = is_gpu<ExecutionSpace> ? 4 : 64;
  static constexpr int rows_at_once = is_gpu<ExecutionSpace> ? 4 : 8;
  using Memory = typename ExecutionSpace::memory_space;
  template <class Entry>
  using Const = Kokkos::View<Entry const**, Kokkos::LayoutRight, Memory>;

  Const<Scalar> V;           // I x R
  Const<Factor> S;           // R x Q
  Matrix<Scalar, Memory> A;  // I x Q
  bool adds;                 // to what A holds

  KOKKOS_INLINE_FUNCTION std::uint64_t tiles() const {
    auto const columns = columns_per_item<ExecutionSpace>(A.extent(1));
    return (A.extent(1) + columns - 1) / columns;
  }
  std::uint64_t items() const {
    return (A.extent(0) + rows_per_item - 1) / rows_per_item * tiles();
  }

  KOKKOS_FUNCTION void operator()(std::uint64_t item) const {
    auto const columns = columns_per_item<ExecutionSpace>(A.extent(1));
    std::uint64_t const first = item % tiles() * columns;
    std::uint64_t const stop = first + columns < A.extent(1) ? first + columns : A.extent(1);
    std::uint64_t i = item / tiles() * rows_per_item;
    std::uint64_t const end = i + rows_per_item < A.extent(0) ? i + rows_per_item : A.extent(0);
    for (; i + rows_at_once <= end; i += rows_at_once) rows<rows_at_once>(i, first, stop);
    for (; i < end; ++i) rows<1>(i, first, stop);
  }

  template <int count>
  KOKKOS_INLINE_FUNCTION void rows(std::uint64_t i, std::uint64_t first, std::uint64_t stop) const {
    for_tiles<ExecutionSpace>(first, stop, [&](auto width, std::uint64_t j) {
      tile<count, decltype(width)::value>(i, j);
    });
  }

  template <int count, int width>
  KOKKOS_INLINE_FUNCTION void tile(std::uint64_t i, std::uint64_t j) const {
    constexpr bool in_packs = packed && width % 4 == 0;
    Tile<Factor, width> total[count];
    unrolled<count>([&](int row) { total[row].fill(0); });
    Scalar const* const v = &V(i, 0);
    std::uint64_t k = 0;
    if constexpr (in_packs) {
      constexpr int depth = 16 / sizeof(Scalar);
      for (; k + depth <= S.extent(0); k += depth) {
        Tile<Scalar, depth> factor[count];
        unrolled<count>([&](int row) {
          factor[row] = load_tile<Scalar, depth, true>(v + row * V.stride(0) + k);
        });
        unrolled<depth>([&](int d) {
          auto const s = load_tile<Factor, width, true>(&S(k + d, j));
          unrolled<count>(
              [&](int row) { total[row].add_product(static_cast<Factor>(factor[row][d]), s); });
        });
      }
    }
    for (; k < S.extent(0); ++k) {
      auto const s = load_tile<Factor, width, in_packs>(&S(k, j));
      unrolled<count>([&](int row) {
        total[row].add_product(static_cast<Factor>(v[row * V.stride(0) + k]), s);
      });
    }
    unrolled<count>([&](int row) {
      Scalar* const a = &A(i + row, j);
      if (adds) total[row].add(converted<Factor>(load_tile<Scalar, width, in_packs>(a)));
      store_tile<Scalar, width, in_packs>(converted<Scalar>(total[row]), a);
    });
  }
};

/// A = V S by MultiplyWarps, with 8 parts columns of S and A at a time.
template <int parts, class ExecutionSpace, class Left, class Right, class Output>
void multiply_by_warps(ExecutionSpace const& exec, Left const& V, Right const& S, Output const& A,
                       bool adds) {
  using Kernel = MultiplyWarps<ExecutionSpace, typename Left::non_const_value_type,
                               typename Right::non_const_value_type, parts>;
  Kernel const kernel{V, S, A, adds, rows_are_aligned(V) && rows_are_aligned(A)};
  typename Kernel::Policy policy(exec, static_cast<int>(kernel.teams(exec)), Kernel::threads, 1);
  Kokkos::parallel_for("sporades::dense::multiply",
                       with_scratch(policy, kernel.scratch_bytes() + 16), kernel);
}

/// A = V S, or A += V S where `adds`. V: I x R, S: R x Q of V's scalar type or double, A: I x Q of
/// V's scalar type; A shares no memory with V or S. Entries are summed in S's scalar type. The same
/// bits on every run and on any number of threads; those of a row do not depend on other rows, on
/// hosts if parts of V begin at multiples of 64 rows: then they are those of one process on
/// several. Entries are summed in an order that R and Q give, on hosts over k = 0 to R-1; in double
/// on GPUs that multiply doubles by matrix instructions, except where V and S are both in float and
/// have at most 16 columns. Enqueued on exec, does not fence. 2 I R Q flops. Throws Error if the
/// shapes disagree. On hosts this is not KokkosBlas::gemm: with OpenBLAS its bits differ between
/// one and two threads for 8 and 17 columns; KokkosBatched::SerialGemm, a thread for each block of
/// rows, takes 3.2 to 6.9 times as long for 4 to 128 columns (EPYC with AVX-512).
template <class ExecutionSpace, class Left, class Right, class Output>
void multiply(ExecutionSpace const& exec, Left const& V, Right const& S, Output const& A,
              bool adds = false) {
  using Scalar = typename Left::non_const_value_type;
  using Factor = typename Right::non_const_value_type;
  static_assert(std::is_same_v<Factor, Scalar> || std::is_same_v<Factor, double>,
                "multiply: S has V's scalar type, or double.");
  expects(V.extent(1) == S.extent(0) && A.extent(0) == V.extent(0) && A.extent(1) == S.extent(1),
          "multiply: V is ", V.extent(0), " x ", V.extent(1), ", S is ", S.extent(0), " x ",
          S.extent(1), ", A is ", A.extent(0), " x ", A.extent(1));
  expects(A.data() != V.data() || A.data() == nullptr, "multiply: A and V share memory");
  if (A.size() == 0) return;
  constexpr bool by_warps = has_products_of_lanes<ExecutionSpace>;
  constexpr bool always = by_warps && std::is_same_v<Factor, double>;
  // In float MultiplyRows takes 0.3 to 1.0 times as long for square S of up to 16 columns (H200).
  if constexpr (by_warps)
    if (always || V.extent(1) > 16 || A.extent(1) > 16) {
      if (A.extent(1) <= 16)
        multiply_by_warps<2>(exec, V, S, A, adds);
      else
        multiply_by_warps<4>(exec, V, S, A, adds);
      return;
    }
  if constexpr (!always)
    for_packed<ExecutionSpace>(
        [&](auto packed) {
          MultiplyRows<ExecutionSpace, Scalar, Factor, packed()> const kernel{V, S, A, adds};
          launch(exec, "sporades::dense::multiply", kernel.items(),
                 kernel.rows_per_item * S.size() + 1, kernel);
        },
        V, S, A);
}

}  // namespace sporades::detail
