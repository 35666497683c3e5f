// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <sporades/algorithms/command/ranks/rank_table.hpp>
#include <sporades/algorithms/command/view/html.hpp>

namespace sporades::command {
namespace {

/// A measure of each rank.
struct Curve {
  std::string title;
  std::string guide;  // what it says, in a sentence
  std::function<double(RankRow const&)> value;
  std::function<double(RankRow const&)> spread;  // or none
};

std::vector<Curve> curves_of(RankTable const& table) {
  return {{table.score_name,
           "How near the best model of the rank is to the values it was made of. "
           "It gets better with every component and does not tell when to stop.",
           [](RankRow const& row) { return row.score; },
           {}},
          {table.held_out_name,
           "The error at values that the models have not seen: the mean and the spread of the "
           "starts. Past the right rank it rises, or falls no more.",
           [](RankRow const& row) { return row.mean_held_out(); },
           [](RankRow const& row) { return row.held_out_spread(); }},
          {"core consistency",
           "Near 100 the values ask for these components alone; about 50, or less, is a sign of "
           "too many. Drawn from 0.",
           [](RankRow const& row) { return row.consistency; },
           {}},
          {"match",
           "How alike the best model is to those of the other starts, from 0 to 1. Components that "
           "do not come again should not be interpreted.",
           [](RankRow const& row) { return row.match; },
           {}}};
}

bool is_known(Curve const& curve, RankTable const& table) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [&](auto const& row) { return std::isfinite(curve.value(row)); });
}

/// A picture of 1000 x 100: ranks from left to right, from the least value below to the greatest.
std::string picture(Curve const& curve, RankTable const& table, RankChoice const& choice) {
  bool const from_zero = curve.title == "core consistency";
  auto const of = [&](double value) { return from_zero ? std::max(value, 0.0) : value; };
  double least = INFINITY, greatest = -INFINITY;
  for (auto const& row : table.rows) {
    double const value = of(curve.value(row)), spread = curve.spread ? curve.spread(row) : 0;
    if (!std::isfinite(value)) continue;
    least = std::min(least, value - spread);
    greatest = std::max(greatest, value + spread);
  }
  int const first = table.rows.front().rank, last = table.rows.back().rank;
  auto const x_of = [&](int rank) {
    return first == last ? 500 : std::lround(1000.0 * (rank - first) / (last - first));
  };
  auto const y_of = [&](double value) {
    return greatest > least ? std::lround(95 - 90 * (value - least) / (greatest - least)) : 50;
  };
  std::string line, spreads, dots, chosen;
  for (auto const& row : table.rows) {
    double const value = of(curve.value(row));
    if (!std::isfinite(value)) continue;
    line += fmt::format("{}{} {}", line.empty() ? "M" : "L", x_of(row.rank), y_of(value));
    dots += fmt::format("M{} {}h0", x_of(row.rank), y_of(value));
    if (curve.spread)
      spreads += fmt::format("M{} {}V{}", x_of(row.rank), y_of(value - curve.spread(row)),
                             y_of(value + curve.spread(row)));
    if (row.rank == choice.rank)
      chosen = fmt::format("<path class=\"zero\" d=\"M{} 0V100\"/>", x_of(row.rank));
  }
  return fmt::format(
      "<figure class=\"panel\">\n<figcaption><b>{}</b>: {}</figcaption>\n"
      "<svg class=\"curve\" viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"{} of ranks {} to {}: {} to {}\">{}<path class=\"zero\" d=\"{}\"/>"
      "<path class=\"line\" d=\"{}\"/><path class=\"dot\" d=\"{}\"/></svg>\n"
      "<div class=\"ends\"><bdi>rank {}</bdi><bdi>{} to {}</bdi><bdi>rank {}</bdi></div>\n"
      "</figure>\n",
      escaped(curve.title), escaped(curve.guide), escaped(curve.title), first, last,
      number_text(least), number_text(greatest), chosen, spreads.empty() ? "M0 0h0" : spreads, line,
      dots, first, number_text(least), number_text(greatest), last);
}

}  // namespace

std::string page_of(RankTable const& table, RankChoice const& choice, std::string const& file) {
  std::string head = "<th>rank</th>", rows, pictures;
  for (auto const& curve : curves_of(table)) {
    if (!is_known(curve, table)) continue;
    head += "<th>" + escaped(curve.title) + "</th>";
    pictures += picture(curve, table, choice);
  }
  for (auto const& row : table.rows) {
    rows += fmt::format("<tr><th>{}{}</th>", row.rank, row.rank == choice.rank ? " *" : "");
    for (auto const& curve : curves_of(table))
      if (is_known(curve, table)) {
        double const value = curve.value(row), spread = curve.spread ? curve.spread(row) : 0;
        rows += fmt::format("<td>{}{}</td>", std::isnan(value) ? "" : number_text(value),
                            spread > 0 ? " ± " + number_text(spread) : "");
      }
    rows += fmt::format("<td>{}</td></tr>\n", number_text(row.seconds));
  }
  return whole_page(
      file, fmt::format("<header>\n<h1>{}</h1>\n<p>Models by {} of several ranks. It {}.</p>\n"
                        "</header>\n<section class=\"ranks\">\n<table>\n<tr>{}<th>seconds a start"
                        "</th></tr>\n{}</table>\n</section>\n<section class=\"ranks\">\n"
                        "<div class=\"panels\">\n{}</div>\n</section>\n",
                        name_html(file), escaped(table.method), escaped(describe(table, choice)),
                        head, rows, pictures));
}

}  // namespace sporades::command
