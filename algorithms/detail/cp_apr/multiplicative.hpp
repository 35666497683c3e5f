// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/algorithms/cp_apr.hpp>
#include <sporades/algorithms/detail/cp_apr/entries.hpp>
#include <sporades/core/detail/processes/exchange.hpp>
#include <sporades/core/timer.hpp>
#include <sporades/kernels/phi.hpp>

namespace sporades::detail {

/// What one mode's update came to.
struct ModeUpdate {
  double kkt_violation = 0;  // before the last inner update
  std::int64_t inner_iterations = 0;
  bool unchanged = true;  // the tolerance was met before any update
};

/// Improves B = A_n Lambda, which is A[n], by multiplicative updates B = B .* Phi until the
/// violation of the KKT conditions is below the tolerance, or the inner iterations are used up.
/// On return, phi is that of the last inner iteration. Each inner iteration waits once, for its
/// violation, which is that of all processes' rows. A, phi: with their padding. epsilon: least
/// value that the model divides by. Chi & Kolda 2012, Algorithm 3, lines 7 to 13; Anderson et al.
/// 2021, Algorithm 2.
template <class ExecutionSpace, class Scalar, class Index, class MemorySpace>
ModeUpdate multiplicative_update(ExecutionSpace const& exec,
                                 PhiPlan<Scalar, Index, MemorySpace>& plan,
                                 CpAprOptions const& options, double epsilon,
                                 Factors<Scalar, MemorySpace> const& A, int n,
                                 Matrix<Scalar, MemorySpace> const& phi, KernelTimes& times) {
  auto const b = all_entries(A[n]);
  auto const multiplier = all_entries(phi);
  std::string const mode = " mode " + std::to_string(n);
  if (plan.pi_source == Pi::stored)
    times.measure(exec, "pi" + mode, [&] { update_pi(exec, plan, A, n); });
  auto const processes = plan.products.rows_of(n).processes;
  auto const others = keep_gathered(plan.products, static_cast<std::size_t>(n));
  ModeUpdate result;
  for (int inner = 0; inner < options.inner_iterations; ++inner) {
    throw_if_stopped(options.stop);
    ++result.inner_iterations;
    times.measure(exec, "phi" + mode, [&] { sporades::phi(exec, plan, A, A[n], n, phi, epsilon); });
    double violation = 0;
    times.measure(exec, "kkt_violation", [&] {
      violation = launch_max<double>(exec, "sporades::cp_apr::kkt_violation", b.extent(0), 1,
                                     KktViolation<Scalar, MemorySpace>{b, multiplier});
    });
    result.kkt_violation =
        largest_of_all(processes, "KKT violations", b.extent(0) == 0 ? 0 : violation);
    if (result.kkt_violation < options.tolerance) break;
    result.unchanged = false;
    times.measure(exec, "multiply", [&] {
      launch(exec, "sporades::cp_apr::multiply", b.extent(0), 1,
             MultiplyByPhi<Scalar, MemorySpace>{b, multiplier, least_entry<Scalar>(A.size())});
    });
  }
  return result;
}

}  // namespace sporades::detail
