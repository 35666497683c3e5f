// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/random.hpp>
#include <sporades/kernels/detail/processes/ghost_rows.hpp>
#include <string>
#include <vector>

namespace sporades::detail {

/// The rows here of a start's factors: those given, and random ones of the seed where these have no
/// columns. rows: of each mode's factor, of dims[n] rows in all; or none, where all are here.
/// Collective. Fences exec, or enqueued where all are random.
template <class ExecutionSpace, class Scalar, class MemorySpace>
Factors<Scalar, MemorySpace> start_factors(
    ExecutionSpace const& exec, Dims const& dims, std::vector<RowMap> const& rows,
    std::vector<DistributedMatrix<Scalar, MemorySpace>> const& given, std::vector<int> const& ranks,
    std::uint64_t seed) {
  Factors<Scalar, MemorySpace> A;
  for (std::size_t n = 0; n < dims.size(); ++n) {
    auto const own = rows.empty() ? RowMap{} : rows[n];
    A.push_back(given[n].here.extent(1) > 0
                    ? moved(exec, given[n], own)
                    : random_factor<Scalar>(exec, "sporades::random::factor" + std::to_string(n),
                                            own.here(dims[n]), ranks[n], seed, static_cast<int>(n),
                                            own.first()));
  }
  return A;
}

/// Where a run of several starts, one after another, stands: continued from here, it gives the same
/// bits as one that was never stopped.
template <class StateType>
struct Starts {
  using State = StateType;

  bool first_is_singular = false;  // the first start is one of singular vectors: the random ones,
                                   // which are those of any run, come after it
  State state{};                   // of the start that runs, or that ran last
  int current = 0;                 // which start that is, from 0
  std::vector<double> scores;      // fit or log-likelihood of every start that has ended
  int best = 0;                    // which of those is the best, the first of equal ones
  State best_state{};              // and its state

  /// The seed of start k of a run of this seed.
  std::uint64_t seed_of(std::uint64_t seed, int k) const {
    return seed_of_start(seed, first_is_singular && k > 0 ? k - 1 : k);
  }
};

}  // namespace sporades::detail
