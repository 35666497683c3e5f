// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <numeric>
#include <sporades/algorithms/cp_als/state.hpp>

namespace sporades {
namespace detail {

/// extreme[block][r] = the first entry of largest magnitude in the block's rows of column r.
template <class MatrixType>
struct ColumnExtremes {
  MatrixType A;  // I x R
  typename MatrixType::non_const_value_type* extreme;
  RowBlocks blocks;

  KOKKOS_FUNCTION void operator()(std::uint64_t item) const {
    std::uint64_t const R = A.extent(1), r = item % R;
    std::uint64_t const begin = item / R * blocks.rows_per_block;
    std::uint64_t const end =
        begin + blocks.rows_per_block < blocks.rows ? begin + blocks.rows_per_block : blocks.rows;
    auto largest = A(begin, r);
    for (std::uint64_t i = begin + 1; i < end; ++i)
      if (math::abs(A(i, r)) > math::abs(largest)) largest = A(i, r);
    extreme[item] = largest;
  }
};

/// B(i, k) = sign[k] A(i, from[k])
template <class MatrixType>
struct ArrangeColumns {
  using Memory = typename MatrixType::memory_space;
  MatrixType A, B;                  // I x R
  Kokkos::View<int*, Memory> from;  // R
  Kokkos::View<int*, Memory> sign;  // R: 1 or -1

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    for (std::uint64_t k = 0; k < A.extent(1); ++k)
      B(i, k) = sign(k) < 0 ? -A(i, from(k)) : A(i, from(k));
  }
};

/// Whether the entry of largest magnitude is negative, a column at a time. Fences exec.
template <class ExecutionSpace, class MatrixType>
std::vector<bool> points_down(ExecutionSpace const& exec, MatrixType const& A) {
  using Scalar = typename MatrixType::non_const_value_type;
  std::uint64_t const R = A.extent(1);
  RowBlocks const blocks(A.extent(0), R);
  auto const extremes = uninitialized<Vector<Scalar, typename MatrixType::memory_space>>(
      exec, "sporades::cp_als::extremes", blocks.count * R);
  Kokkos::parallel_for("sporades::cp_als::column_extremes",
                       Range<ExecutionSpace>(exec, 0, blocks.count * R),
                       ColumnExtremes<MatrixType>{A, extremes.data(), blocks});
  auto const host = Kokkos::create_mirror_view(extremes);
  Kokkos::deep_copy(exec, host, extremes);
  fence(exec, "sporades::cp_als::column_extremes");
  std::vector<bool> down(R);
  for (std::uint64_t r = 0; r < R; ++r) {
    Scalar largest = 0;
    for (std::uint64_t b = 0; b < blocks.count; ++b)
      if (std::abs(host(b * R + r)) > std::abs(largest)) largest = host(b * R + r);
    down[r] = largest < 0;
  }
  return down;
}

}  // namespace detail

/// The Kruskal tensor of a state: weights descending, and the signs of each component's columns
/// such that the entry of largest magnitude is positive in as many modes as flips in pairs allow
/// (fixsigns of Tensor Toolbox). The state stays as it is. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
Ktensor<Scalar, MemorySpace> arranged_model(ExecutionSpace const& exec,
                                            CpAlsState<Scalar, MemorySpace> const& state) {
  int const R = state.rank(), N = state.order();
  std::vector<int> from(R);
  std::iota(from.begin(), from.end(), 0);
  std::stable_sort(from.begin(), from.end(),
                   [&](int a, int b) { return state.weights[a] > state.weights[b]; });

  std::vector<std::vector<bool>> flips;
  for (auto const& A : state.factors) flips.push_back(detail::points_down(exec, A));
  for (int r = 0; r < R; ++r) {
    int odd = -1;  // the last mode of an odd number stays
    for (int n = 0; n < N; ++n)
      if (flips[n][r]) odd = odd < 0 ? n : -1;
    if (odd >= 0)
      for (int n = N - 1; n >= 0; --n)
        if (flips[n][r]) {
          flips[n][r] = false;
          break;
        }
  }

  Kokkos::View<int*, MemorySpace> const from_view(
      Kokkos::view_alloc(exec, "sporades::cp_als::from"), R),
      sign_view(Kokkos::view_alloc(exec, "sporades::cp_als::sign"), R);
  auto const from_host = Kokkos::create_mirror_view(from_view);
  auto const sign_host = Kokkos::create_mirror_view(sign_view);
  std::copy(from.begin(), from.end(), from_host.data());
  Kokkos::deep_copy(exec, from_view, from_host);
  Ktensor<Scalar, MemorySpace> model;
  for (int n = 0; n < N; ++n) {
    for (int k = 0; k < R; ++k) sign_host(k) = flips[n][from[k]] ? -1 : 1;
    Kokkos::deep_copy(exec, sign_view, sign_host);
    auto const& A = state.factors[n];
    auto const B = make_matrix<Scalar>(exec, "sporades::cp_als::model", A.extent(0), A.extent(1));
    Kokkos::parallel_for(
        "sporades::cp_als::arrange", detail::Range<ExecutionSpace>(exec, 0, A.extent(0)),
        detail::ArrangeColumns<Matrix<Scalar, MemorySpace>>{A, B, from_view, sign_view});
    fence(exec, "sporades::cp_als::arrange");
    model.factors.push_back(B);
  }
  model.weights =
      Vector<Scalar, MemorySpace>(Kokkos::view_alloc(exec, "sporades::cp_als::weights"), R);
  auto const weights = Kokkos::create_mirror_view(model.weights);
  for (int k = 0; k < R; ++k) weights(k) = static_cast<Scalar>(state.weights[from[k]]);
  Kokkos::deep_copy(exec, model.weights, weights);
  fence(exec, "sporades::cp_als::model");
  return model;
}

}  // namespace sporades
