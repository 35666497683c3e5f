// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <sporades/core/detail/dense.hpp>
#include <sporades/core/random.hpp>
#include <sporades/formats/kruskal_tensor.hpp>

namespace sporades {

/// All that CP-ALS carries from one iteration to the next: continued from here, a run gives the
/// same bits as one that was never stopped. Copies share the factors' memory; a snapshot does not.
template <class ScalarType, class MemorySpaceType>
struct CpAlsState {
  using Scalar = ScalarType;
  using MemorySpace = MemorySpaceType;
  using Observer = std::function<bool(CpAlsState const&)>;

  Factors<Scalar, MemorySpace> factors;    // A[n]: I_n x R, of make_matrix; columns of length 1
  std::vector<double> weights;             // R
  std::vector<std::vector<double>> grams;  // A[n]^T A[n]: R x R a mode
  std::vector<double> fits;                // of every finished iteration
  std::vector<double> seconds;             // of every finished iteration

  int order() const { return static_cast<int>(factors.size()); }
  int rank() const { return static_cast<int>(weights.size()); }
  int iteration() const { return static_cast<int>(fits.size()); }  ///< finished ones
};

/// A state on the host, as plain arrays to write to a file.
template <class Scalar>
struct CpAlsSnapshot {
  Dims dims;
  int rank = 0;
  std::vector<std::vector<Scalar>> factors;  // I_n x R, row by row
  std::vector<double> weights;               // R
  std::vector<std::vector<double>> grams;    // R x R a mode
  std::vector<double> fits;
  std::vector<double> seconds;
};

/// Copies the state to the host. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
CpAlsSnapshot<Scalar> snapshot(ExecutionSpace const& exec,
                               CpAlsState<Scalar, MemorySpace> const& state) {
  CpAlsSnapshot<Scalar> copy{{},          state.rank(), {},           state.weights,
                             state.grams, state.fits,   state.seconds};
  for (auto const& A : state.factors) {
    copy.dims.push_back(A.extent(0));
    copy.factors.push_back(detail::entries_of(exec, A));
  }
  return copy;
}

/// The state that a snapshot was taken of, bit for bit. Fences exec.
/// Throws Error if the snapshot's arrays do not fit its dims and rank.
template <class ExecutionSpace, class Scalar>
CpAlsState<Scalar, typename ExecutionSpace::memory_space> restore(
    ExecutionSpace const& exec, CpAlsSnapshot<Scalar> const& from) {
  auto const R = static_cast<std::size_t>(from.rank);
  expects(from.rank > 0 && !from.dims.empty() && from.factors.size() == from.dims.size() &&
              from.grams.size() == from.dims.size() && from.weights.size() == R &&
              from.seconds.size() == from.fits.size(),
          "cp_als: the snapshot's arrays do not fit its order ", from.dims.size(), " and rank ",
          from.rank);
  CpAlsState<Scalar, typename ExecutionSpace::memory_space> state{
      {}, from.weights, from.grams, from.fits, from.seconds};
  for (std::size_t n = 0; n < from.dims.size(); ++n) {
    expects(from.grams[n].size() == R * R, "cp_als: the snapshot's Gram matrix ", n, " is not ", R,
            " x ", R);
    state.factors.push_back(
        detail::matrix_of(exec, "sporades::cp_als::factor", from.factors[n], from.dims[n], R));
  }
  return state;
}

}  // namespace sporades
