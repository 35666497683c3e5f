// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <sporades/algorithms/detail/gcp/problem.hpp>

namespace sporades::detail {

/// What an evaluation draws.
struct GcpDraw {
  std::uint64_t step = 0;
  Position samples = 0;       // 0: the tangent at m = 0 stands for the zeros' part
  bool wants_slopes = false;  // leaves what slopes_of takes in the plan, without V
};

/// The loss of a model by these factors and all its zeros, or an estimate; V: its gradient, null
/// where that is not wanted. Without a draw: all zeros, exact. Fences exec.
template <class Scalar, class MemorySpace>
using GcpSource =
    std::function<LossEstimate(KruskalTensor<Scalar, MemorySpace> const& model,
                               Factors<Scalar, MemorySpace> const* V, GcpDraw const* draw)>;

/// The source of a problem, which it refers to: the only code of GCP that depends on the loss.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace, class Loss>
GcpSource<Scalar, MemorySpace> gcp_source(ExecutionSpace const& exec,
                                          GcpProblem<Scalar, Index, MemorySpace>& problem,
                                          GcpOptionsOf<Loss> const& options) {
  return [exec, &problem, any = options.loss, nonzeros = options.tuning.nonzeros,
          seed = options.seed](KruskalTensor<Scalar, MemorySpace> const& model,
                               Factors<Scalar, MemorySpace> const* V, GcpDraw const* draw) {
    return with_loss(any, [&](auto const& loss) -> LossEstimate {
      auto& plan = problem.plan;
      if (draw) {
        plan.options.samples = draw->samples;
        plan.options.seed = seed;
        plan.options.nonzeros = V ? nonzeros : 0;  // models are compared by all entries
        return run_estimate(exec, plan, model, loss, &draw->step, V, draw->wants_slopes);
      }
      if (problem.zeros == GcpZeros::closed_form)
        return {run_plan_loss(exec, plan.exact, model, loss, problem.absent, V), 0};
      return {run_plan_enumeration(exec, plan.exact, model, loss, V, {}), 0};
    });
  };
}

/// The most cells that a draw of the problem's plan may have.
template <class Problem>
Position most_drawn(Problem const& problem) {
  return problem.plan.drawn.components.extent(0);
}

}  // namespace sporades::detail
