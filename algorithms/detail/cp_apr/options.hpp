// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/cp_apr/solve_rows.hpp>
#include <sporades/algorithms/detail/cp_apr/state.hpp>
#include <sporades/core/stop.hpp>
#include <sporades/kernels/phi.hpp>

namespace sporades {

/// Where CP-APR starts: `random`: random_factors of the seed; `given`: a KruskalTensor passed to
/// cp_apr_start.
enum class CpAprInit { random, given };

struct CpAprOptions {
  int rank = 16;
  int iterations = 1000;      // at most
  int inner_iterations = 10;  // of a mode in one iteration, at most
  double tolerance = 1e-4;    // on the KKT violation; 0 runs all iterations
  std::uint64_t seed = 1;
  CpAprInit init = CpAprInit::random;
  int starts = 1;  // random ones, of seeds by seed_of_start; the best model is returned
  CpAprMethod method = CpAprMethod::pqnr;
  double kappa = 1e-2;             // added to an entry that should not be 0
  double kappa_tolerance = 1e-10;  // entries below it count as 0 there
  double epsilon = 1e-10;          // mu: least value that is divided by; see cp_apr.hpp
  PhiStrategy strategy = PhiStrategy::automatic;
  Pi pi = Pi::on_the_fly;
  bool time_kernels = false;  // seconds by kernel, at the cost of a fence around each
  StopCheck stop = {};  // asked within iterations; true ends the run by Stopped, its state is void
};

enum class CpAprStop { converged, iterations, observer };

inline char const* to_string(CpAprStop stop) {
  switch (stop) {
    case CpAprStop::converged:
      return "KKT violation below the tolerance";
    case CpAprStop::iterations:
      return "all iterations done";
    default:
      return "stopped from outside";
  }
}

/// Counts made ready for CP-APR: see make_cp_apr_problem.
template <class Scalar, class Index, class MemorySpace>
struct CpAprProblem {
  Dims dims;
  CooTensor<Scalar, Index, MemorySpace> counts;  // each coordinate once
  PhiPlan<Scalar, Index, MemorySpace> plan;      // for method mu, of counts / unit
  std::vector<detail::RowSubproblems<Scalar, Index, MemorySpace>>
      rows;                  // for pdnr and pqnr, likewise
  double unit = 1;           // a power of two: see make_cp_apr_problem
  double density = 1;        // nonzeros by entries: about the least mean of the model in this unit
  double least_epsilon = 0;  // no Phi of counts / unit overflows where the model divides by it

  /// The counts, the plan, and each mode's order of the counts.
  std::uint64_t storage_bytes() const {
    std::uint64_t bytes = counts.storage_bytes() + plan.storage_bytes();
    for (auto const& mode : rows) {
      bytes += mode.storage_bytes();
      bool const is_counts = mode.X.values.data() == counts.values.data();
      if (!is_counts) bytes += mode.X.storage_bytes();
    }
    return bytes;
  }
};

}  // namespace sporades
