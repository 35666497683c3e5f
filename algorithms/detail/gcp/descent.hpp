// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/algorithms/detail/gcp/vectors.hpp>
#include <sporades/algorithms/gcp.hpp>

namespace sporades::detail {

/// A step against a gradient, by its means so far:
///   adam     first = 0.9 first + 0.1 g, second^2 = 0.999 second^2 + 0.001 g^2,
///            x -= rate (first / by_first) / (second / by_second)
///   adagrad  second^2 += g^2, x -= rate g / second
///   sgd      x -= rate g
/// The root of the second moment is kept: squares of small numbers vanish in float. Kingma & Ba
/// 2015, Algorithm 1, and Duchi et al. 2011, without the eps that has the unit of g.
template <class Scalar, class MemorySpace>
struct Descend {
  GcpMethod method;
  double rate, by_first, by_second;
  bool clamps;  // x stays 0 at least
  Scalar const* g;
  Scalar *x, *first, *second;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    auto const slope = static_cast<double>(g[i]);
    double step = slope;
    if (method != GcpMethod::sgd) {
      bool const is_adam = method == GcpMethod::adam;
      auto const before = static_cast<double>(second[i]);
      double const root = is_adam ? math::sqrt(0.999 * before * before + 0.001 * slope * slope)
                                  : math::sqrt(before * before + slope * slope);
      second[i] = static_cast<Scalar>(root);
      if (is_adam) {
        step = 0.9 * static_cast<double>(first[i]) + 0.1 * slope;
        first[i] = static_cast<Scalar>(step);
      }
      step = root > 0 ? step / by_first / (root / by_second) : 0;
    }
    double const next = static_cast<double>(x[i]) - rate * step;
    x[i] = static_cast<Scalar>(clamps && next < 0 ? 0 : next);
  }
};

/// The step after `done` others along the gradient g. Enqueued on exec, or fences it (sgd). first,
/// second: the moments.
template <class ExecutionSpace, class Scalar, class VectorType>
void descend(FlatOperations<ExecutionSpace, Scalar> const& op, GcpMethod method, double rate,
             std::int64_t done, bool clamps, VectorType const& g, VectorType const& x,
             VectorType const& first, VectorType const& second) {
  double const t = static_cast<double>(done) + 1;
  bool const is_adam = method == GcpMethod::adam;
  op.run("sporades::gcp::descend", Descend<Scalar, typename ExecutionSpace::memory_space>{
                                       method, rate, is_adam ? 1 - std::pow(0.9, t) : 1,
                                       is_adam ? std::sqrt(1 - std::pow(0.999, t)) : 1, clamps,
                                       g.data(), x.data(), first.data(), second.data()});
}

}  // namespace sporades::detail
