// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <sporades/core/matrix.hpp>

namespace sporades {

/// What is known of a finished iteration.
struct CpAprIteration {
  double log_likelihood = 0;          // at its end; -infinity where a model of an x > 0 is 0
  double kkt_violation = 0;           // the worst mode's, before that mode's last inner update
  std::int64_t inner_iterations = 0;  // of all modes, and rows, together
  Position zero_model_nonzeros = 0;   // x > 0 where the model is exactly 0, at its end
  bool unchanged = false;             // every mode met the tolerance before any update
  double seconds = 0;
};

/// Entries of a factor, with its padding and row by row, to be raised from 0 when their mode's turn
/// comes: 0 or 1 each.
template <class MemorySpace>
using CpAprLifts = Kokkos::View<unsigned char*, MemorySpace>;

/// All that CP-APR carries from one iteration to the next: continued from here, a run gives the
/// same bits as one that was never stopped. Copies share the factors' memory; a snapshot does not.
template <class ScalarType, class MemorySpaceType>
struct CpAprState {
  using Scalar = ScalarType;
  using MemorySpace = MemorySpaceType;
  using Observer = std::function<bool(CpAprState const&)>;

  Factors<Scalar, MemorySpace> factors;        // A[n]: I_n x R, of make_matrix; columns sum to 1
  std::vector<double> weights;                 // R
  std::vector<CpAprLifts<MemorySpace>> lifts;  // I_n padded_columns(R) a mode
  std::vector<CpAprIteration> iterations;      // finished ones

  int order() const { return static_cast<int>(factors.size()); }
  int rank() const { return static_cast<int>(weights.size()); }
  int iteration() const { return static_cast<int>(iterations.size()); }  ///< finished ones
};

/// A state on the host, as plain arrays to write to a file.
template <class Scalar>
struct CpAprSnapshot {
  Dims dims;
  int rank = 0;
  std::vector<std::vector<Scalar>> factors;       // I_n x R, row by row
  std::vector<double> weights;                    // R
  std::vector<std::vector<unsigned char>> lifts;  // I_n padded_columns(R) a mode
  std::vector<CpAprIteration> iterations;
};

/// Copies the state to the host. Fences exec.
template <class ExecutionSpace, class Scalar, class MemorySpace>
CpAprSnapshot<Scalar> snapshot(ExecutionSpace const& exec,
                               CpAprState<Scalar, MemorySpace> const& state) {
  CpAprSnapshot<Scalar> copy{{}, state.rank(), {}, state.weights, {}, state.iterations};
  for (int n = 0; n < state.order(); ++n) {
    copy.dims.push_back(state.factors[n].extent(0));
    copy.factors.push_back(detail::entries_of(exec, state.factors[n]));
    auto const host = Kokkos::create_mirror_view(state.lifts[n]);
    Kokkos::deep_copy(exec, host, state.lifts[n]);
    detail::fence(exec, "sporades::cp_apr::snapshot");
    copy.lifts.emplace_back(host.data(), host.data() + host.extent(0));
  }
  return copy;
}

/// The state that a snapshot was taken of, bit for bit. Fences exec.
/// Throws Error if the snapshot's arrays do not fit its dims and rank.
template <class ExecutionSpace, class Scalar>
CpAprState<Scalar, typename ExecutionSpace::memory_space> restore(
    ExecutionSpace const& exec, CpAprSnapshot<Scalar> const& from) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  auto const R = static_cast<std::size_t>(from.rank);
  expects(from.rank > 0 && !from.dims.empty() && from.factors.size() == from.dims.size() &&
              from.lifts.size() == from.dims.size() && from.weights.size() == R,
          "cp_apr: the snapshot's arrays do not fit its order ", from.dims.size(), " and rank ",
          from.rank);
  CpAprState<Scalar, MemorySpace> state{{}, from.weights, {}, from.iterations};
  for (std::size_t n = 0; n < from.dims.size(); ++n) {
    std::size_t const size = from.dims[n] * padded_columns(R);
    expects(from.lifts[n].size() == size, "cp_apr: the snapshot's lifts of mode ", n, " are ",
            from.lifts[n].size(), ", not ", size);
    state.factors.push_back(
        detail::matrix_of(exec, "sporades::cp_apr::factor", from.factors[n], from.dims[n], R));
    auto const lifts =
        detail::uninitialized<CpAprLifts<MemorySpace>>(exec, "sporades::cp_apr::lifts", size);
    auto const host = Kokkos::create_mirror_view(lifts);
    std::copy(from.lifts[n].begin(), from.lifts[n].end(), host.data());
    Kokkos::deep_copy(exec, lifts, host);
    detail::fence(exec, "sporades::cp_apr::restore");
    state.lifts.push_back(lifts);
  }
  return state;
}

}  // namespace sporades
