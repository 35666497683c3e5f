// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/detail/tucker/left_singular_vectors.hpp>
#include <sporades/kernels/ttm_chain.hpp>

namespace sporades {

/// Where HOOI starts: `random`: random factors of the seed; `hosvd`: leading left singular vectors
/// of the tensor's unfoldings; `given`: a TuckerTensor passed to tucker_start. All are made
/// orthonormal.
enum class TuckerInit { random, hosvd, given };

struct TuckerOptions {
  std::vector<int> ranks;   // R_0 to R_{N-1}
  int iterations = 50;      // at most
  double tolerance = 1e-5;  // stops when the fit changes by less; 0 runs all iterations
  std::uint64_t seed = 1;
  TuckerInit init = TuckerInit::random;
  int starts = 1;  // of seeds by seed_of_start; the best model is returned
  TtmChainStrategy strategy = TtmChainStrategy::automatic;
  SingularVectorMethod singular_vectors = SingularVectorMethod::automatic;
  double memory_limit = 0;    // bytes of a chain's product, and of its partial ones; 0: machine's
  bool time_kernels = false;  // seconds by kernel, at the cost of a fence around each
  StopCheck stop = {};  // asked within iterations; true ends the run by Stopped, its state is void
};

enum class TuckerStop { converged, iterations, observer };

inline char const* to_string(TuckerStop stop) {
  switch (stop) {
    case TuckerStop::converged:
      return "fit change below the tolerance";
    case TuckerStop::iterations:
      return "all iterations done";
    default:
      return "stopped from outside";
  }
}

/// A tensor made ready for HOOI: see make_tucker_problem.
template <class Scalar, class Index, class MemorySpace>
struct TuckerProblem {
  Dims dims;
  TtmChainPlan<Scalar, Index, MemorySpace> chain;
  // The chains are those of X 2^-exponent, whose largest magnitude lies in [1, 2).
  double norm_squared = 0;  // ||X||^2 in that unit
  int exponent = 0;
};

}  // namespace sporades
