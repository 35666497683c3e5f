// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/cp_als/dimension_tree.hpp>
#include <sporades/algorithms/detail/cp_als/state.hpp>
#include <sporades/core/stop.hpp>

namespace sporades {

/// Where CP-ALS starts: `random`: random_factors of the seed; `hosvd`: leading left singular
/// vectors of the unfoldings; `given`: a KruskalTensor passed to cp_als_start; `automatic`:
/// singular vectors after a few steps and the random start race, see cp_als_race, where there is
/// one start and has_cp_als_race; otherwise as `random`.
enum class CpAlsInit { random, hosvd, given, automatic };

struct CpAlsOptions {
  int rank = 16;
  int iterations = 50;      // at most
  double tolerance = 1e-5;  // stops when the fit changes by less; 0 runs all iterations
  std::uint64_t seed = 1;
  CpAlsInit init = CpAlsInit::random;
  int starts = 1;             // random ones, of seeds by seed_of_start; the best model is returned
  bool non_negative = false;  // factors and weights >= 0
  double regularization = 0;  // mu: minimises ||X - M||^2 + mu sum_r weights_r^2
  MttkrpStrategy strategy = MttkrpStrategy::automatic;
  bool dimension_tree = true;  // products share what they have in common, where that pays
  bool time_kernels = false;   // seconds by kernel, at the cost of a fence around each
  StopCheck stop = {};  // asked within iterations; true ends the run by Stopped, its state is void
};

enum class CpAlsStop { converged, iterations, observer };

inline char const* to_string(CpAlsStop stop) {
  switch (stop) {
    case CpAlsStop::converged:
      return "fit change below the tolerance";
    case CpAlsStop::iterations:
      return "all iterations done";
    default:
      return "stopped from outside";
  }
}

/// A tensor made ready for CP-ALS: see make_cp_als_problem.
template <class Scalar, class Index, class MemorySpace>
struct CpAlsProblem {
  Dims dims;
  detail::DimensionTree<Scalar, Index, MemorySpace> products;
  // The products are those of X 2^-exponent, whose largest magnitude lies in [1, 2).
  double norm_squared = 0;  // ||X||^2 in that unit
  int exponent = 0;
  Position nnz = 0;  // each coordinate once
};

}  // namespace sporades
