// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <sporades/core/types.hpp>

namespace sporades::command {

/// What the deviance of a Poisson model of counts needs of the counts x alone.
struct CountSums {
  double counts = 0;   // sum of x
  double entropy = 0;  // sum of x log x
  double cells = 0;    // that the sums are over, zeros included
  double values = 0;   // how many of the cells have a value; the others count 0
  double least = std::numeric_limits<double>::infinity(), greatest = 0;  // of the values

  template <class Values>
  void add(Values const& x_of, Position nnz) {
    for (Position p = 0; p < nnz; ++p) {
      double const x = static_cast<double>(x_of(p));
      counts += x;
      if (x > 0) entropy += x * std::log(x);
      least = std::min(least, x);
      greatest = std::max(greatest, x);
    }
    values += static_cast<double>(nnz);
  }

  /// The sums over the values of another process, too.
  void add(CountSums const& other) {
    counts += other.counts;
    entropy += other.entropy;
    values += other.values;
    least = std::min(least, other.least);
    greatest = std::max(greatest, other.greatest);
  }

  /// 2 sum of (x log(x / m) - x + m), from the log-likelihood L = sum of (x log m - m).
  double deviance(double log_likelihood) const { return 2 * (entropy - counts - log_likelihood); }

  /// Of the model that is the mean in every cell. Exactly 0 where all cells have the same count:
  /// the difference of the sums would be a rounding error.
  double null_deviance() const {
    bool const is_constant = values >= cells && least == greatest;
    return counts > 0 && !is_constant ? 2 * (entropy - counts * std::log(counts / cells)) : 0;
  }

  /// The share of the null deviance that a model takes away: 1 where it has all counts, 0 where it
  /// does as well as the mean. NaN where there is none to take away.
  double explained(double log_likelihood) const {
    double const null = null_deviance();
    return null > 0 ? 1 - deviance(log_likelihood) / null
                    : std::numeric_limits<double>::quiet_NaN();
  }
};

}  // namespace sporades::command
