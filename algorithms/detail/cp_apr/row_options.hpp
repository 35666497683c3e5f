// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace sporades::detail {

/// The steps that solve a row.
enum class RowSteps {
  damped_newton,  // DampedNewton, method pdnr
  quasi_newton    // QuasiNewton, method pqnr
};

struct RowOptions {
  RowSteps steps = RowSteps::damped_newton;
  int inner_iterations = 10;     // of a row, at most
  double tolerance = 1e-4;       // a row with a KKT violation up to it is solved
  double epsilon_active = 1e-8;  // entries below it that a step would lower stay (Bertsekas)
  double damping = 1e-5;         // pdnr: mu at the start, relative to 1 / sum of the row's x
  int warm_up = 2;               // outer iterations of one step a row: see in_outer_iteration
};

/// The options for outer iteration k, from 0. Rows that are solved exactly while the other factors
/// are random get zeros which later iterations rarely undo, and lead to poor local optima.
/// So the first options.warm_up outer iterations take one step a row, a multiplicative one (the
/// first step of pqnr, which has no pairs yet).
inline RowOptions in_outer_iteration(RowOptions options, int k) {
  if (k < options.warm_up) {
    options.steps = RowSteps::quasi_newton;
    options.inner_iterations = 1;
  }
  return options;
}

}  // namespace sporades::detail
