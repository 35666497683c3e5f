// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/dense/blas.hpp>
#include <sporades/core/detail/dense/shared_sums.hpp>

namespace sporades::detail {
/// Sums of products in lanes: block b has 32 lanes of 64 entries, lane l sums the entries
/// b 2048 + l + 32 k. Neighbouring lanes read neighbouring entries, so a GPU gives each a thread
/// and a CPU holds all of a block's in vector registers; both add the same numbers in one order.
template <class ExecutionSpace, class Scalar>
struct DotLanes {
  static constexpr int lanes = 32;
  static constexpr std::uint64_t block = 64 * lanes;

  Scalar const* x;
  Scalar const* y;  // null: the sum of x alone
  double* out;      // 32 a block
  std::uint64_t count;

  std::uint64_t blocks() const { return (count + block - 1) / block; }

  KOKKOS_FUNCTION void operator()(std::uint64_t item) const {
    if constexpr (is_gpu<ExecutionSpace>) {
      sum<1>(item / lanes, static_cast<int>(item % lanes));
    } else {
      sum<lanes>(item, 0);
    }
  }

  template <int width>
  KOKKOS_INLINE_FUNCTION void sum(std::uint64_t b, int lane) const {
    double total[width] = {};
    std::uint64_t const begin = b * block + lane;
    std::uint64_t const end = (b + 1) * block < count ? (b + 1) * block : count;
    std::uint64_t p = begin;
    for (; p + width <= end; p += lanes)
#pragma omp simd
      for (int l = 0; l < width; ++l) total[l] += term(p + l);
    for (int l = 0; l < width && p + l < end; ++l) total[l] += term(p + l);
    for (int l = 0; l < width; ++l) out[b * lanes + lane + l] = total[l];
  }

  KOKKOS_INLINE_FUNCTION double term(std::uint64_t p) const {
    return y ? static_cast<double>(x[p]) * static_cast<double>(y[p]) : static_cast<double>(x[p]);
  }
};

template <class ExecutionSpace, class Scalar>
void launch_dot(ExecutionSpace const& exec, DotLanes<ExecutionSpace, Scalar> const& kernel) {
  launch(exec, "sporades::dense::dot",
         kernel.blocks() * (is_gpu<ExecutionSpace> ? kernel.lanes : 1), kernel.block, kernel);
}

/// Room for the sums that the first level leaves, which is the longest, and those of the others.
template <class Memory, class ExecutionSpace>
auto dot_sums(ExecutionSpace const& exec, std::uint64_t count) {
  return uninitialized<Kokkos::View<double*, Memory>>(exec, "sporades::dense::dot", 2 * count + 64);
}

/// The sum of these `left` sums, in the memory of dot_sums. Each level leaves 32 sums of every
/// 2048. Fences exec.
template <class ExecutionSpace>
double sum_lanes(ExecutionSpace const& exec, double* in, std::uint64_t left) {
  using Level = DotLanes<ExecutionSpace, double>;
  while (left > Level::lanes) {
    Level const level{in, nullptr, in + left, left};
    launch_dot(exec, level);
    in = level.out;
    left = level.blocks() * Level::lanes;
  }
  Kokkos::View<double const*, typename ExecutionSpace::memory_space, Kokkos::MemoryUnmanaged> const
      last(in, left);
  double lanes[32];
  copy_view(exec, Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(lanes, left),
            last);
  fence(exec, "sporades::dense::dot");
  double total = 0;
  for (std::uint64_t l = 0; l < left; ++l) total += lanes[l];
  return total;
}

/// sum_p x(p) y(p), in double and in an order given by the length alone. x, y contiguous. Fences
/// exec. Throws Error if the lengths differ. Kokkos Kernels is faster on an H200 (61 instead of 191
/// us for 20 million doubles), but it cannot add up what several processes have with the bits of
/// one; a run takes one such sum.
template <class ExecutionSpace, class Left, class Right>
double dot(ExecutionSpace const& exec, Left const& x, Right const& y) {
  using Scalar = typename Left::non_const_value_type;
  using Memory = typename ExecutionSpace::memory_space;
  expects(x.extent(0) == y.extent(0), "dot: x has ", x.extent(0), " entries, y has ", y.extent(0));
  std::uint64_t const count = x.extent(0);
  if (count == 0) return 0;
  DotLanes<ExecutionSpace, Scalar> kernel{x.data(), y.data(), nullptr, count};
  auto const sums = dot_sums<Memory>(exec, kernel.blocks() * kernel.lanes);
  kernel.out = sums.data();
  launch_dot(exec, kernel);
  return sum_lanes(exec, sums.data(), kernel.blocks() * kernel.lanes);
}

/// The dot product of vectors of which process p has entries places[p] to places[p + 1] - 1. All
/// places are multiples of DotLanes::block, except the last. Bits are those of dot on one process.
/// Collective. Fences exec.
template <class ExecutionSpace, class Left, class Right>
double dot_across(Communicator const& processes, ExecutionSpace const& exec,
                  std::vector<std::uint64_t> const& places, Left const& x, Right const& y) {
  if (processes.size() == 1) return dot(exec, x, y);
  using Kernel = DotLanes<ExecutionSpace, typename Left::non_const_value_type>;
  auto const me = static_cast<std::size_t>(processes.rank());
  std::vector<std::size_t> bounds;
  for (auto place : places)
    bounds.push_back((place + Kernel::block - 1) / Kernel::block * Kernel::lanes);
  if (bounds.back() == 0) return 0;
  auto const sums = dot_sums<typename ExecutionSpace::memory_space>(exec, bounds.back());
  if (x.extent(0) > 0)
    launch_dot(exec, Kernel{x.data(), y.data(), sums.data() + bounds[me], x.extent(0)});
  all_gather_parts(exec, processes, "sums of values", sums.data(), bounds);
  return sum_lanes(exec, sums.data(), bounds.back());
}

/// sum_p x(p)^2, as dot. NaN or infinity where x holds one, or where a square overflows.
template <class ExecutionSpace, class VectorType>
double norm_squared(ExecutionSpace const& exec, VectorType const& x) {
  return dot(exec, x, x);
}

/// max_p |x(p)|, 0 of nothing. Where x holds NaN: NaN, or the |x(p)| of some number. x contiguous.
/// Fences exec.
template <class ExecutionSpace, class VectorType>
auto max_abs(ExecutionSpace const& exec, VectorType const& x) {
  using Scalar = typename VectorType::non_const_value_type;
  return Blas<ExecutionSpace, Scalar>::max_abs(exec, x.data(), x.extent(0));
}

/// Whether an entry of A is below 0. Fences exec.
template <class ExecutionSpace, class MatrixType>
bool has_negative(ExecutionSpace const& exec, MatrixType const& A) {
  std::uint64_t rows = 0;
  Kokkos::parallel_reduce(
      "sporades::dense::negative_rows", Range<ExecutionSpace>(exec, 0, A.extent(0)),
      KOKKOS_LAMBDA(std::uint64_t i, std::uint64_t & sum) {
        bool negative = false;
        for (std::uint64_t r = 0; r < A.extent(1); ++r) negative = negative || A(i, r) < 0;
        sum += negative ? 1 : 0;
      },
      rows);
  fence(exec, "sporades::dense::negative_rows");
  return rows > 0;
}

}  // namespace sporades::detail
