// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

/// Drawings of whole columns: bars, profiles and lines. None of them needs colour.

namespace sporades::command {

/// What values of a column lie between, 0 included.
struct Range {
  double least = 0;
  double greatest = 0;

  double largest() const { return std::max(-least, greatest); }
  void include(double value) {
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
};

/// A bar from 0, which is where the range has it: to the right and solid for positive values, to
/// the left and hatched for negative ones, none for 0. Lengths are in proportion to the values.
std::string bar_html(double value, Range const& range);

/// How many entries in a row one step of a drawing stands for, so that it has `most` steps or less.
std::size_t entries_of_step(std::size_t entries, std::size_t most);

/// The place of the entry of largest magnitude in each step; the first of equal ones.
std::vector<std::size_t> strongest_of_steps(std::vector<double> const& column, std::size_t step);

/// The column in its order, each step as high as its strongest entry, up or down.
/// what: a sentence that says it to those who cannot see it; text.
std::string profile_svg(std::vector<double> const& column, std::string const& what);

/// The column as a line through the strongest entry of each step, with a dot at the strongest of
/// all. places: where the entries lie from left, 0, to right, 1; none: at equal distances.
std::string line_svg(std::vector<double> const& column, std::vector<double> const& places,
                     std::string const& what);

constexpr std::size_t most_profile_steps = 120;
constexpr std::size_t most_line_steps = 400;

}  // namespace sporades::command
