// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <cmath>
#include <sporades/algorithms/command/view/chart.hpp>
#include <sporades/algorithms/command/view/html.hpp>

namespace sporades::command {
namespace {

constexpr int height = 100;  // of drawings, in units of their own

/// Where a value lies between the top, 0, and the bottom of a drawing.
int y_of(double value, Range const& range) {
  double const largest = range.largest();  // which all are divided by, so that nothing overflows
  if (largest == 0) return height;
  double const top = range.greatest / largest, bottom = range.least / largest;
  return static_cast<int>(std::lround(height * (top - value / largest) / (top - bottom)));
}

Range range_of(std::vector<double> const& column) {
  Range range;
  for (double const value : column) range.include(value);
  return range;
}

std::string svg(char const* kind, int width, std::string const& what, std::string const& shapes) {
  return fmt::format(
      "<svg class=\"{}\" viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"{}\">{}</svg>\n",
      kind, width, height, escaped(what), shapes);
}

}  // namespace

std::string bar_html(double value, Range const& range) {
  if (value == 0) return "";
  double const left = -range.least / range.largest(), right = range.greatest / range.largest();
  double const length = std::abs(value) / range.largest() / (left + right) * 100;
  double const zero = left / (left + right) * 100;
  double const margin = value < 0 ? zero - length : zero;
  auto const indent = margin > 0.005 ? fmt::format("margin-left:{:.2f}%;", margin) : "";
  return fmt::format("<i{} style=\"{}width:{:.2f}%\"></i>", value < 0 ? " class=\"minus\"" : "",
                     indent, length);
}

std::size_t entries_of_step(std::size_t entries, std::size_t most) {
  return (entries + most - 1) / most;
}

std::vector<std::size_t> strongest_of_steps(std::vector<double> const& column, std::size_t step) {
  std::vector<std::size_t> places;
  for (std::size_t begin = 0; begin < column.size(); begin += step) {
    std::size_t strongest = begin;
    for (std::size_t i = begin; i < std::min(begin + step, column.size()); ++i)
      if (std::abs(column[i]) > std::abs(column[strongest])) strongest = i;
    places.push_back(strongest);
  }
  return places;
}

std::string profile_svg(std::vector<double> const& column, std::string const& what) {
  auto const places =
      strongest_of_steps(column, entries_of_step(column.size(), most_profile_steps));
  auto const range = range_of(column);
  int const zero = y_of(0, range), width = static_cast<int>(places.size());
  auto const height_of = [&](int k) {
    return y_of(column[places[static_cast<std::size_t>(k)]], range);
  };
  std::string outline;
  for (int begin = 0, end = 0; begin < width; begin = end) {
    while (end < width && height_of(end) == height_of(begin)) ++end;
    outline += fmt::format("V{}h{}", height_of(begin), end - begin);
  }
  return svg("profile", width, what,
             fmt::format("<path class=\"zero\" d=\"M0 {0}H{1}\"/>"
                         "<path class=\"steps\" d=\"M0 {0}{2}V{0}z\"/>",
                         zero, width, outline));
}

std::string line_svg(std::vector<double> const& column, std::vector<double> const& places,
                     std::string const& what) {
  constexpr int width = 1000;
  auto const range = range_of(column);
  auto const x_of = [&](std::size_t i) {
    double const even = column.size() > 1 ? static_cast<double>(i) / (column.size() - 1.0) : 0.5;
    return static_cast<int>(std::lround(width * (places.empty() ? even : places[i])));
  };
  std::string line;
  std::size_t strongest = 0;
  for (auto const i : strongest_of_steps(column, entries_of_step(column.size(), most_line_steps))) {
    line += fmt::format("{}{} {}", line.empty() ? "M" : "L", x_of(i), y_of(column[i], range));
    if (std::abs(column[i]) > std::abs(column[strongest])) strongest = i;
  }
  return svg(
      "curve", width, what,
      fmt::format("<path class=\"zero\" d=\"M0 {}H{}\"/><path class=\"line\" d=\"{}\"/>"
                  "<path class=\"dot\" d=\"M{} {}h0\"/>",
                  y_of(0, range), width, line, x_of(strongest), y_of(column[strongest], range)));
}

}  // namespace sporades::command
