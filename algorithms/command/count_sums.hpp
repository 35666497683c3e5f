// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <sporades/core/types.hpp>

namespace sporades::command {

/// What the deviance of a Poisson model of counts needs of the counts x alone.
struct CountSums {
  double counts = 0;   // sum of x
  double entropy = 0;  // sum of x log x
  double cells = 0;    // that the sums are over, zeros included

  template <class Values>
  void add(Values const& values, Position nnz) {
    for (Position p = 0; p < nnz; ++p) {
      double const x = static_cast<double>(values(p));
      counts += x;
      if (x > 0) entropy += x * std::log(x);
    }
  }

  /// 2 sum of (x log(x / m) - x + m), from the log-likelihood L = sum of (x log m - m).
  double deviance(double log_likelihood) const { return 2 * (entropy - counts - log_likelihood); }

  /// Of the model that is the mean in every cell.
  double null_deviance() const {
    return counts > 0 ? 2 * (entropy - counts * std::log(counts / cells)) : 0;
  }

  /// The share of the null deviance that a model takes away: 1 where it has all counts, 0 where it
  /// does as well as the mean.
  double explained(double log_likelihood) const {
    return 1 - deviance(log_likelihood) / null_deviance();
  }
};

}  // namespace sporades::command
