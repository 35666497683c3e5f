// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <campaign/source.hpp>
#include <limits>
#include <sporades/core/error.hpp>
#include <string>
#include <vector>

namespace sporades::campaign {

/// What a draw found.
struct Outcome {
  std::string text;                 // what was drawn
  std::vector<std::string> faults;  // empty: all is as promised
  std::vector<std::string> bits;    // "name hash": the same on every number of threads

  template <class... Parts>
  void expect(bool holds, Parts const&... parts) {
    if (!holds) faults.push_back(sporades::detail::concatenate(parts...));
  }

  /// Adds the hash (FNV-1a) of the entries' bytes.
  template <class T>
  void keep_bits(std::string const& name, std::vector<T> const& entries) {
    std::uint64_t hash = 14695981039346656037u;
    auto const* const bytes = reinterpret_cast<unsigned char const*>(entries.data());
    for (std::size_t k = 0; k < entries.size() * sizeof(T); ++k)
      hash = (hash ^ bytes[k]) * 1099511628211u;
    bits.push_back(name + " " + std::to_string(hash));
  }
};

/// Sums in extended precision, and beside each the sum of its terms' magnitudes and their number.
struct Sums {
  std::vector<long double> sum, magnitude;
  std::vector<double> terms;

  explicit Sums(std::size_t size) : sum(size), magnitude(size), terms(size) {}

  void add(std::size_t at, long double term) {
    sum[at] += term;
    magnitude[at] += std::abs(term);
    terms[at] += 1;
  }

  /// Expects each entry to be off by no more than roundings allow: one for each addition of its
  /// terms and `each` for the products in a term, and what gradual underflow loses.
  template <class Scalar>
  void compare(std::string const& name, std::vector<Scalar> const& entries, double each,
               Outcome& outcome) const {
    outcome.expect(entries.size() == sum.size(), name, ": ", entries.size(), " entries, expected ",
                   sum.size());
    using Limits = std::numeric_limits<Scalar>;
    for (std::size_t k = 0; k < std::min(sum.size(), entries.size()); ++k) {
      long double const most = Limits::epsilon() * (terms[k] + each) * magnitude[k] +
                               Limits::min() * (terms[k] + 1) * each;
      long double const error = std::abs(static_cast<long double>(entries[k]) - sum[k]);
      if (error <= most) continue;
      return outcome.expect(false, name, ": entry ", k, " is ", entries[k], ", expected ", sum[k],
                            " +- ", most);
    }
  }
};

/// Draws what it is about, checks it, and notes what it found.
using Check = void (*)(Source& source, Outcome& outcome);

/// Every check for one type of values and of indices.
struct Checks {
  char const* types;  // "float, 64-bit indices"
  std::vector<Check> list;
};
std::vector<Checks> kernel_checks();
std::vector<Checks> model_checks();

}  // namespace sporades::campaign
