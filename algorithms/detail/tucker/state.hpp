// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <sporades/core/matrix.hpp>
#include <sporades/formats/tucker_tensor.hpp>

namespace sporades {

/// All that HOOI carries from one iteration to the next: continued from here, a run gives the same
/// bits as one that was never stopped. Copies share the factors' memory; a snapshot does not.
template <class ScalarType, class MemorySpaceType>
struct TuckerState {
  using Scalar = ScalarType;
  using MemorySpace = MemorySpaceType;
  using Observer = std::function<bool(TuckerState const&)>;

  Factors<Scalar, MemorySpace> factors;  // A[n]: I_n x R_n, of make_matrix; orthonormal columns
  std::vector<double> core;     // of the last iteration, as TuckerTensor has it; zeros before it
  std::vector<double> fits;     // of every finished iteration
  std::vector<double> seconds;  // of every finished iteration

  int order() const { return static_cast<int>(factors.size()); }
  std::vector<int> ranks() const {
    std::vector<int> columns;
    for (auto const& A : factors) columns.push_back(static_cast<int>(A.extent(1)));
    return columns;
  }
  int iteration() const { return static_cast<int>(fits.size()); }  ///< finished ones
};

/// A state on the host, as plain arrays to write to a file.
template <class Scalar>
struct TuckerSnapshot {
  Dims dims;
  std::vector<int> ranks;
  std::vector<std::vector<Scalar>> factors;  // I_n x R_n, row by row
  std::vector<double> core;
  std::vector<double> fits;
  std::vector<double> seconds;
};

/// Copies the state to the host. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
TuckerSnapshot<Scalar> snapshot(ExecutionSpace const& exec,
                                TuckerState<Scalar, MemorySpace> const& state) {
  TuckerSnapshot<Scalar> copy{{}, state.ranks(), {}, state.core, state.fits, state.seconds};
  for (auto const& A : state.factors) {
    copy.dims.push_back(A.extent(0));
    copy.factors.push_back(detail::entries_of(exec, A));
  }
  return copy;
}

/// The state that a snapshot was taken of, bit for bit. Fences exec.
/// Throws Error if the snapshot's arrays do not fit its dims and ranks.
template <class ExecutionSpace, class Scalar>
TuckerState<Scalar, typename ExecutionSpace::memory_space> restore(
    ExecutionSpace const& exec, TuckerSnapshot<Scalar> const& from) {
  std::size_t const N = from.dims.size();
  expects(N > 0 && from.ranks.size() == N && from.factors.size() == N &&
              from.core.size() == detail::core_size(from.ranks) &&
              from.seconds.size() == from.fits.size(),
          "tucker: the snapshot's arrays do not fit its order ", N, " and ranks");
  TuckerState<Scalar, typename ExecutionSpace::memory_space> state{
      {}, from.core, from.fits, from.seconds};
  for (std::size_t n = 0; n < N; ++n)
    state.factors.push_back(detail::matrix_of(exec, "sporades::tucker::factor", from.factors[n],
                                              from.dims[n],
                                              static_cast<std::size_t>(from.ranks[n])));
  return state;
}

}  // namespace sporades
