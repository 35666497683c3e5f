// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Included by algorithms/tucker.hpp.

#include <sporades/algorithms/detail/column_signs.hpp>
#include <sporades/core/detail/launch.hpp>

namespace sporades::detail {
/// A(i, r) = -A(i, r) where down(r)
template <class MatrixType>
struct FlipColumns {
  MatrixType A;
  Kokkos::View<int*, typename MatrixType::memory_space> down;  // R
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    for (std::uint64_t r = 0; r < A.extent(1); ++r)
      if (down(r)) A(i, r) = -A(i, r);
  }
};

/// The Tucker tensor of a state: each factor's columns have their entry of largest magnitude
/// positive, the core's signs follow. The state stays as it is. rows: of each mode those that are
/// here, or none, where all are. Fences exec. Throws RunError if a number of the core is past the
/// range of Scalar.
template <class ExecutionSpace, class Scalar, class MemorySpace>
TuckerTensor<Scalar, MemorySpace> model_of(ExecutionSpace const& exec,
                                           TuckerState<Scalar, MemorySpace> const& state,
                                           std::vector<RowDistribution> const& rows = {}) {
  TuckerTensor<Scalar, MemorySpace> model;
  auto core = state.core;
  for (double const g : core)
    if (!(std::abs(g) <= double{std::numeric_limits<Scalar>::max()}))
      throw RunError(concatenate("tucker: a number of the core is ", g,
                                 ", past the range of its numbers of ", 8 * sizeof(Scalar),
                                 " bits: scale the tensor's values down"));
  std::size_t stride = 1;
  for (std::size_t n = 0; n < state.factors.size(); ++n) {
    auto const& factor = state.factors[n];
    std::size_t const R = factor.extent(1);
    auto const down = points_down(exec, factor, rows.empty() ? RowDistribution{} : rows[n]);
    auto const A = copy_matrix(exec, factor);
    launch_items(exec, "sporades::tucker::flip_columns", A.extent(0),
                 FlipColumns<Matrix<Scalar, MemorySpace>>{
                     A, to_view(exec, "sporades::tucker::down",
                                std::vector<int>(down.begin(), down.end()))});
    fence(exec, "sporades::tucker::flip_columns");
    model.factors.push_back(A);
    for (std::size_t g = 0; g < core.size(); ++g)
      if (down[g / stride % R]) core[g] = -core[g];
    stride *= R;
  }
  model.core =
      to_view(exec, "sporades::tucker::core", std::vector<Scalar>(core.begin(), core.end()));
  return model;
}

}  // namespace sporades::detail
