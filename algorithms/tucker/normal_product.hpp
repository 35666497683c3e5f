// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/dense.hpp>
#include <sporades/kernels/lanes.hpp>

namespace sporades {

/// What of U = Y V and Z = U^T Y is computed: both, in one pass over Y; U alone; or Z from a U that
/// is given.
enum class NormalStep { both, left, right };

namespace detail {

/// The step for a block of rows, four rows and four vectors at a time: their products with V are
/// dot products along the rows, and are added, times the rows, to the block's sums while the rows
/// are in cache. So Y comes from memory once, where two products would read it twice.
template <class Scalar, class MemorySpace, int Width, NormalStep step>
struct NormalBlocks {
  using T = Tile<double, Width>;
  static constexpr int vectors_at_once = 4;

  RawMatrix<Scalar const, MemorySpace> Y;  // I x P, P a multiple of the width
  RawMatrix<double const, MemorySpace> V;  // Q x P, a vector a row, Q a multiple of 4
  RawMatrix<Scalar, MemorySpace> U;        // I x up to Q
  double* partial;                         // [block][Q][P]
  RowBlocks blocks;
  std::uint64_t Q;

  KOKKOS_FUNCTION void operator()(std::uint64_t block) const {
    std::uint64_t const begin = block * blocks.rows_per_block, P = Y.extent(1);
    std::uint64_t const end =
        begin + blocks.rows_per_block < blocks.rows ? begin + blocks.rows_per_block : blocks.rows;
    double* const sums = partial + block * P * Q;
    if (step != NormalStep::left)
      for (std::uint64_t e = 0; e < P * Q; ++e) sums[e] = 0;
    std::uint64_t i = begin;
    for (; i + 4 <= end; i += 4) rows<4>(i, sums);
    for (; i < end; ++i) rows<1>(i, sums);
  }

  template <int count>
  KOKKOS_FORCEINLINE_FUNCTION void rows(std::uint64_t i, double* sums) const {
    for (std::uint64_t q = 0; q < Q; q += vectors_at_once) {
      double left[count][vectors_at_once];
      if constexpr (step == NormalStep::right) {
        for (int r = 0; r < count; ++r)
          for (int k = 0; k < vectors_at_once; ++k)
            left[r][k] = q + k < U.extent(1) ? static_cast<double>(U(i + r, q + k)) : 0;
      } else {
        multiply<count>(i, q, left);
      }
      if constexpr (step != NormalStep::right)
        for (int r = 0; r < count; ++r)
          for (int k = 0; k < vectors_at_once; ++k)
            if (q + k < U.extent(1)) U(i + r, q + k) = static_cast<Scalar>(left[r][k]);
      if constexpr (step != NormalStep::left) add_rows<count>(i, left, sums + q * Y.extent(1));
    }
  }

  template <int count>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(std::uint64_t i, std::uint64_t q,
                                            double (&left)[count][vectors_at_once]) const {
    std::uint64_t const P = Y.extent(1);
    T total[count][vectors_at_once];
    for (int r = 0; r < count; ++r)
      for (int k = 0; k < vectors_at_once; ++k) total[r][k].fill(0);
    Scalar const* const y = &Y(i, 0);
    double const* const v = &V(q, 0);
    for (std::uint64_t c = 0; c < P; c += Width) {
      T row[count];
      for (int r = 0; r < count; ++r) row[r] = load(y + r * P + c);
      for (int k = 0; k < vectors_at_once; ++k) {
        T const vector = load(v + k * P + c);
        for (int r = 0; r < count; ++r) total[r][k].add_product(row[r], vector);
      }
    }
    for (int r = 0; r < count; ++r)
      for (int k = 0; k < vectors_at_once; ++k) {
        auto sum = total[r][k].part[0];
        for (int part = 1; part < T::parts; ++part) sum += total[r][k].part[part];
        left[r][k] = T::Part::sum(sum);
      }
  }

  template <int count>
  KOKKOS_FORCEINLINE_FUNCTION void add_rows(std::uint64_t i,
                                            double const (&left)[count][vectors_at_once],
                                            double* sums) const {
    std::uint64_t const P = Y.extent(1);
    Scalar const* const y = &Y(i, 0);
    for (std::uint64_t c = 0; c < P; c += Width) {
      T row[count];
      for (int r = 0; r < count; ++r) row[r] = load(y + r * P + c);
      for (int k = 0; k < vectors_at_once; ++k) {
        T sum = load(sums + k * P + c);
        for (int r = 0; r < count; ++r) sum.add_product(left[r][k], row[r]);
        store(sums + k * P + c, sum);
      }
    }
  }

  template <class Entry>
  static KOKKOS_FORCEINLINE_FUNCTION T load(Entry const* from) {
    T tile;
    if constexpr (std::is_same_v<Entry, double>) {
      auto const parts = reinterpret_cast<typename T::Part::Type const*>(from);
      for (int k = 0; k < T::parts; ++k) tile.part[k] = parts[k];
    } else {
      for (int j = 0; j < Width; ++j) tile.set(j, static_cast<double>(from[j]));
    }
    return tile;
  }
  static KOKKOS_FORCEINLINE_FUNCTION void store(double* to, T const& tile) {
    auto const parts = reinterpret_cast<typename T::Part::Type*>(to);
    for (int k = 0; k < T::parts; ++k) parts[k] = tile.part[k];
  }
};

}  // namespace detail

/// U = Y V and Z = U^T Y on a CPU, or one of them. Y: I x P, contiguous, P a multiple of 4. V, Z: Q
/// x P in double, a vector a row, contiguous, Q a multiple of 4. U = Y V: I x up to Q, contiguous
/// or padded; not touched where the step is both. Blocks of rows and the order of their sums are
/// given by the shape alone: the same bits on any number of threads. Enqueued on exec, does not
/// fence but where the workspace grows. 2 I P Q flops a product.
template <NormalStep step, class ExecutionSpace, class Scalar, class MemorySpace, class Vectors>
void normal_product(ExecutionSpace const& exec, Matrix<Scalar, MemorySpace> const& Y,
                    Vectors const& V, Matrix<Scalar, MemorySpace> const& U, Vectors const& Z,
                    Workspace<MemorySpace>& workspace) {
  std::uint64_t const entries = V.extent(0) * V.extent(1);
  detail::RowBlocks const blocks(Y.extent(0), entries);
  bool const sums = step != NormalStep::left;
  auto const partial = workspace.template get<double>(
      exec,
      sums ? blocks.count * entries + detail::scratch_of_sum_blocks(blocks.count, entries) : 0);
  auto const launch = [&](auto width) {
    Kokkos::parallel_for("sporades::tucker::normal_product",
                         detail::Range<ExecutionSpace>(exec, 0, blocks.count),
                         detail::NormalBlocks<Scalar, MemorySpace, width(), step>{
                             Y, V, U, partial.data(), blocks, V.extent(0)});
  };
  if (Y.extent(1) % 8 == 0)
    launch(std::integral_constant<int, 8>{});
  else
    launch(std::integral_constant<int, 4>{});
  if (!sums) return;
  double const* const total = detail::sum_blocks(exec, partial.data(), blocks.count, entries);
  Kokkos::parallel_for("sporades::tucker::store_product",
                       detail::Range<ExecutionSpace>(exec, 0, entries),
                       detail::StoreGram<Vectors>{total, Z, false});
}

}  // namespace sporades
