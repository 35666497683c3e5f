// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <sporades/core/detail/dense/blocks.hpp>
#include <sporades/core/detail/launch.hpp>
#include <sporades/core/matrix.hpp>
#include <sporades/formats/kruskal_tensor.hpp>

namespace sporades::detail {
/// B(i, k) = sign[k] A(i, from[k])
template <class MatrixType>
struct PermuteColumns {
  using Memory = typename MatrixType::memory_space;
  MatrixType A, B;                  // I x R
  Kokkos::View<int*, Memory> from;  // R
  Kokkos::View<int*, Memory> sign;  // R: 1 or -1

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    for (std::uint64_t k = 0; k < A.extent(1); ++k)
      B(i, k) = sign(k) < 0 ? -A(i, from(k)) : A(i, from(k));
  }
};

/// The Kruskal tensor of these weights and factors, copied, with the weights descending; column r
/// of A[n] changes its sign where flips[n][r], if there are flips. Fences exec. Throws RunError if
/// a weight is past the range of Scalar.
template <class ExecutionSpace, class Scalar, class MemorySpace>
KruskalTensor<Scalar, MemorySpace> sorted_components(
    ExecutionSpace const& exec, std::vector<double> const& weights,
    Factors<Scalar, MemorySpace> const& factors, std::vector<std::vector<bool>> const& flips = {}) {
  std::size_t const R = weights.size();
  for (double const weight : weights)
    if (!(std::abs(weight) <= double{std::numeric_limits<Scalar>::max()}))
      throw RunError(concatenate("a weight of the model is ", weight,
                                 ", past the range of its numbers of ", 8 * sizeof(Scalar),
                                 " bits: scale the tensor's values down"));
  std::vector<int> from(R);
  std::iota(from.begin(), from.end(), 0);
  std::stable_sort(from.begin(), from.end(), [&](int a, int b) { return weights[a] > weights[b]; });
  Kokkos::View<int*, MemorySpace> const from_view(
      Kokkos::view_alloc(exec, "sporades::sorted_components::from"), R),
      sign_view(Kokkos::view_alloc(exec, "sporades::sorted_components::sign"), R);
  auto const from_host = Kokkos::create_mirror_view(from_view);
  auto const sign_host = Kokkos::create_mirror_view(sign_view);
  fence(exec, "sporades::sorted_components::begin");  // the host may be the device
  std::copy(from.begin(), from.end(), from_host.data());
  copy_view(exec, from_view, from_host);
  KruskalTensor<Scalar, MemorySpace> model;
  for (std::size_t n = 0; n < factors.size(); ++n) {
    for (std::size_t k = 0; k < R; ++k) sign_host(k) = !flips.empty() && flips[n][from[k]] ? -1 : 1;
    copy_view(exec, sign_view, sign_host);
    auto const& A = factors[n];
    auto const B = make_matrix<Scalar>(exec, "sporades::sorted_components::factor", A.extent(0), R);
    launch_items(exec, "sporades::sorted_components::columns", A.extent(0),
                 PermuteColumns<Matrix<Scalar, MemorySpace>>{A, B, from_view, sign_view});
    fence(exec, "sporades::sorted_components::columns");
    model.factors.push_back(B);
  }
  model.weights = Vector<Scalar, MemorySpace>(
      Kokkos::view_alloc(exec, "sporades::sorted_components::weights"), R);
  auto const host = Kokkos::create_mirror_view(model.weights);
  fence(exec, "sporades::sorted_components::weights");
  for (std::size_t k = 0; k < R; ++k) host(k) = static_cast<Scalar>(weights[from[k]]);
  copy_view(exec, model.weights, host);
  fence(exec, "sporades::sorted_components::model");
  return model;
}

}  // namespace sporades::detail
