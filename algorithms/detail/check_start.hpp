// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/core/error.hpp>
#include <sporades/core/matrix.hpp>
#include <sporades/core/types.hpp>
#include <sporades/formats/kruskal_tensor.hpp>
#include <vector>

namespace sporades::detail {

/// A copy of a given model's factors, which are the rows here, and its weights.
template <class Scalar, class MemorySpace>
struct GivenModel {
  Factors<Scalar, MemorySpace> factors;
  std::vector<double> weights;
};

/// Throws Error where a weight is NaN or infinite, or their number is not that of columns. Fences
/// exec.
template <class ExecutionSpace, class Scalar, class StartSpace>
GivenModel<Scalar, typename ExecutionSpace::memory_space> copy_of_start(
    char const* name, ExecutionSpace const& exec, KruskalTensor<Scalar, StartSpace> const& start) {
  GivenModel<Scalar, typename ExecutionSpace::memory_space> given;
  auto const weights = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, start.weights);
  for (std::size_t r = 0; r < weights.extent(0); ++r) {
    given.weights.push_back(static_cast<double>(weights(r)));
    expects(std::isfinite(given.weights[r]), name, ": the start's weight ", r, " is ", weights(r));
  }
  for (auto const& A : start.factors) {
    expects(A.extent(1) == weights.extent(0), name, ": the start's factor of mode ",
            given.factors.size(), " has ", A.extent(1), " columns, and there are ",
            weights.extent(0), " weights");
    given.factors.push_back(copy_matrix(exec, A));
  }
  return given;
}

/// Throws Error where factors of this rank do not fit X's dims and the rank that the options say.
template <class Scalar, class MemorySpace>
void check_start(char const* name, Dims const& dims, int rank,
                 Factors<Scalar, MemorySpace> const& factors, int rank_of_factors) {
  expects(rank_of_factors == rank, name, ": the start has rank ", rank_of_factors,
          ", the options say ", rank);
  expects(factors.size() == dims.size(), name, ": the start has order ", factors.size(), ", X has ",
          dims.size());
  auto const columns = static_cast<std::size_t>(rank);
  for (std::size_t n = 0; n < dims.size(); ++n) {
    auto const& A = factors[n];
    expects(A.extent(0) == dims[n], name, ": the start's factor of mode ", n, " has ", A.extent(0),
            " rows, X has ", dims[n]);
    expects(is_padded(A, columns), name, ": the start's factor of mode ", n, " has ", A.extent(1),
            " columns and a row stride of ", A.stride(0), ", expected ", rank, " and ",
            padded_columns(columns), ", as make_matrix makes them and copy_matrix copies them");
  }
}

}  // namespace sporades::detail
