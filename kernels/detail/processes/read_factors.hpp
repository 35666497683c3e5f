// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/processes/exchange.hpp>
#include <sporades/kernels/detail/kept_factors.hpp>
#include <sporades/kernels/detail/processes/ghost_rows.hpp>

/// The rows of factors that a plan's products read on several processes: `distributed`, a member of
/// the plan's work, is a ReadFactors then, and null on one process.

namespace sporades::detail {

template <class Scalar, class MemorySpace>
struct ReadFactors {
  std::vector<GhostRows<Scalar, MemorySpace>> read;  // per mode
  Factors<Scalar, MemorySpace> factors;  // per mode: the rows that the last product read
  KeptFactors kept;                      // those of them that serve the next one
  bool first_is_read = false;            // mode 0's factor is given as the rows that are read

  /// Into `factors`: the rows of the factors of all modes but n that this process's nonzeros read.
  /// Collective. Fences exec, or is enqueued: see enqueue_exchange.
  template <class ExecutionSpace>
  void gather(ExecutionSpace const& exec, Factors<Scalar, MemorySpace> const& A, int n) {
    factors.resize(A.size());
    for (std::size_t m = 0; m < A.size(); ++m) {
      if (static_cast<int>(m) == n) continue;
      if (m == 0 && first_is_read)
        factors[m] = A[m];
      else if (!kept.has(m, A[m].data(), A[m].extent(1)))
        factors[m] = read[m].gather(exec, "rows of factors", A[m]);
    }
  }

  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (auto const& mode : read) sum += mode.bytes();
    return sum;
  }
};

/// A with the rows that mode n's nonzeros here read, as these name them; A itself on one process.
/// Valid until the next call. Collective. Fences exec, or is enqueued: see enqueue_exchange.
template <class ExecutionSpace, class Plan, class FactorsType>
FactorsType const& gathered(ExecutionSpace const& exec, Plan const& plan, FactorsType const& A,
                            int n) {
  if (plan.work.distributed) {
    plan.work.distributed->gather(exec, A, n);
    return plan.work.distributed->factors;
  }
  return A;
}

/// While it lives, what was gathered of factors other than mode n's serves later products, too.
template <class Plan>
KeptFactors::Keeping keep_gathered(Plan const& plan, std::size_t n) {
  return {plan.work.distributed ? &plan.work.distributed->kept : nullptr, n};
}

/// What was gathered of factors is void.
template <class Plan>
void forget_gathered(Plan const& plan) {
  if (plan.work.distributed) plan.work.distributed->kept.forget();
}

/// work(), which throws on all processes of the plan where it throws on one.
template <class Plan, class Work>
decltype(auto) in_step(Plan const& plan, Work const& work) {
  if (plan.work.distributed) return together(plan.work.distributed->processes, work);
  return work();
}

}  // namespace sporades::detail
