// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense/inverse.hpp>
#include <sporades/core/detail/dense/multiply.hpp>

namespace sporades::detail {

/// A = A T in place, for a lower triangular T, in tiles of columns from left to right: a tile reads
/// no column before it. An item is 64 rows on hosts, 8 at a time, and one on GPUs. Nothing is done
/// where no factor of an inverse is given.
template <class ExecutionSpace, class Scalar>
struct MultiplyInPlace {
  static constexpr std::uint64_t rows_per_item = is_gpu<ExecutionSpace> ? 1 : 64;
  static constexpr int rows_at_once = is_gpu<ExecutionSpace> ? 1 : 8;
  using Memory = typename ExecutionSpace::memory_space;

  Matrix<Scalar, Memory> A;                                     // I x R
  Kokkos::View<double const**, Kokkos::LayoutRight, Memory> T;  // R x R
  Kokkos::View<double const, Memory> kind;                      // of the system

  std::uint64_t items() const { return (A.extent(0) + rows_per_item - 1) / rows_per_item; }

  KOKKOS_FUNCTION void operator()(std::uint64_t item) const {
    if (kind() < factor_kind) return;
    std::uint64_t i = item * rows_per_item;
    std::uint64_t const end = i + rows_per_item < A.extent(0) ? i + rows_per_item : A.extent(0);
    for (; i + rows_at_once <= end; i += rows_at_once) rows<rows_at_once>(i);
    for (; i < end; ++i) rows<1>(i);
  }

  template <int count>
  KOKKOS_INLINE_FUNCTION void rows(std::uint64_t i) const {
    for_tiles<ExecutionSpace>(0, A.extent(1), [&](auto width, std::uint64_t j) {
      tile<count, decltype(width)::value>(i, j);
    });
  }

  template <int count, int width>
  KOKKOS_INLINE_FUNCTION void tile(std::uint64_t i, std::uint64_t j) const {
    Tile<double, width> total[count];
    unrolled<count>([&](int row) { total[row].fill(0); });
    Scalar* const a = &A(i, 0);
    for (std::uint64_t k = j; k < A.extent(1); ++k) {
      auto const t = load_tile<double, width>(&T(k, j));
      unrolled<count>([&](int row) {
        total[row].add_product(static_cast<double>(a[row * A.stride(0) + k]), t);
      });
    }
    unrolled<count>([&](int row) {
      store_tile<Scalar, width>(converted<Scalar>(total[row]), a + row * A.stride(0) + j);
    });
  }
};

/// A = V H^-1, or V times the pseudo-inverse, from what invert_system made of H. With a factor U it
/// is (V U) U^T: the error, as A K^T of K^T K = H sees it, is that of V times the root of H's
/// condition, where V times the rounded inverse has the condition times the rounding of double.
/// V, A: I x R, which share no memory. The bits of a row depend on H and that row alone, as those
/// of multiply. Enqueued on exec, does not fence. 2 I R^2 flops, 3 I R^2 with a factor. Throws
/// Error if the shapes disagree.
template <class ExecutionSpace, class Left, class Memory, class Output>
void multiply_by_inverse(ExecutionSpace const& exec, Left const& V,
                         InvertedSystem<Memory> const& system, Output const& A) {
  using Scalar = typename Output::non_const_value_type;
  multiply(exec, V, system.inverse, A);
  if (system.transposed.data() == nullptr) return;
  if constexpr (!is_gpu<ExecutionSpace>)
    if (system.kind() < factor_kind) return;
  MultiplyInPlace<ExecutionSpace, Scalar> const kernel{A, system.transposed, system.kind};
  launch(exec, "sporades::dense::multiply_in_place", kernel.items(),
         kernel.rows_per_item * system.transposed.size() + 1, kernel);
}

}  // namespace sporades::detail
