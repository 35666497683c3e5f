// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <sporades/algorithms/command/ranks/rank_table.hpp>
#include <sporades/algorithms/command/start_matches.hpp>

namespace sporades::command {
namespace {

constexpr double enough_consistency = 80;

double mean(std::vector<double> const& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

/// What the four measures are, without those that the table has not.
std::string in_columns(RankTable const& table, std::string const& rank,
                       std::array<std::string, 4> const& measures, std::string const& seconds) {
  auto text = fmt::format("{:>5} {:>18}", rank, measures[0]);
  if (!table.held_out_name.empty()) text += fmt::format(" {:>24}", measures[1]);
  if (table.has_consistency) text += fmt::format(" {:>11}", measures[2]);
  return text + fmt::format(" {:>7} {:>10}", measures[3], seconds);
}

RankChoice choose_by_held_out(std::vector<RankRow> const& rows) {
  auto const least = std::min_element(rows.begin(), rows.end(), [](auto const& a, auto const& b) {
    return a.mean_held_out() < b.mean_held_out();
  });
  double const limit = least->mean_held_out() + least->held_out_spread();
  auto const smallest = std::find_if(rows.begin(), rows.end(),
                                     [&](auto const& row) { return row.mean_held_out() <= limit; });
  auto why =
      fmt::format("values held out have the least error there, {:.6g}", least->mean_held_out());
  if (smallest != least)
    why = fmt::format(
        "values held out have an error of {:.6g}, within the spread of starts of the least, "
        "{:.6g} +- {:.2g} at rank {}",
        smallest->mean_held_out(), least->mean_held_out(), least->held_out_spread(), least->rank);
  return {smallest->rank, why};
}

}  // namespace

double RankRow::mean_held_out() const {
  return held_out.empty() ? unknown : mean(held_out);
}

double RankRow::held_out_spread() const {
  if (held_out.size() < 2) return 0;
  double const middle = mean_held_out();
  double squares = 0;
  for (double const error : held_out) squares += (error - middle) * (error - middle);
  return std::sqrt(squares / static_cast<double>(held_out.size() - 1));
}

RankChoice choose_rank(RankTable const& table) {
  auto const& rows = table.rows;
  if (rows.empty()) return {0, "no model was made"};
  auto const all = [&](auto const& is_so) { return std::all_of(rows.begin(), rows.end(), is_so); };
  if (all([](auto const& row) { return std::isfinite(row.mean_held_out()); }))
    return choose_by_held_out(rows);
  auto const is_unknown = [](RankRow const& row) {
    return std::isnan(row.consistency) && std::isnan(row.match);
  };
  if (all(is_unknown))
    return {0,
            "there is nothing to judge by: --starts 2 or more would tell whether components "
            "come again"};
  bool const has_consistency = !all([](auto const& row) { return std::isnan(row.consistency); });
  bool const has_match = !all([](auto const& row) { return std::isnan(row.match); });
  auto const is_sound = [&](RankRow const& row) {  // what is unknown is not
    return (!has_consistency || row.consistency >= enough_consistency) &&
           (!has_match || row.match >= enough_match);
  };
  auto const largest = std::find_if(rows.rbegin(), rows.rend(), is_sound);
  std::string const rules = fmt::format(
      "{}{}{}",
      has_consistency ? fmt::format("core consistency is {} or more", enough_consistency) : "",
      has_consistency && has_match ? ", and " : "",
      has_match ? fmt::format("starts match by {} or more", enough_match) : "");
  if (largest == rows.rend()) return {0, "there is no rank whose " + rules};
  return {largest->rank, "it is the largest whose " + rules};
}

std::string describe(RankTable const& table, RankChoice const& choice) {
  auto const text = choice.rank == 0
                        ? fmt::format("proposes no rank: {}", choice.why)
                        : fmt::format("proposes rank {}: {}; a rule of thumb, which may be wrong",
                                      choice.rank, choice.why);
  return table.left_out.empty() ? text : text + "; " + table.left_out;
}

std::string heading(RankTable const& table) {
  return in_columns(table, "rank", {table.score_name, table.held_out_name, "consistency", "match"},
                    "s a start");
}

std::string line(RankTable const& table, RankRow const& row) {
  auto const or_dash = [](double value, std::string const& text) {
    return std::isnan(value) ? "-" : text;
  };
  return in_columns(
      table, std::to_string(row.rank),
      {or_dash(row.score, fmt::format("{:.8g}", row.score)),
       or_dash(row.mean_held_out(),
               fmt::format("{:.6g} +- {:.2g}", row.mean_held_out(), row.held_out_spread())),
       or_dash(row.consistency,
               row.consistency < -1000 ? "< -1000" : fmt::format("{:.1f}", row.consistency)),
       or_dash(row.match, fmt::format("{:.4f}", row.match))},
      fmt::format("{:.3g}", row.seconds));
}

NamedValues values_of(RankTable const& table, RankChoice const& choice) {
  std::vector<std::uint64_t> ranks;
  std::vector<double> scores, held_out, spreads, consistencies, matches, seconds;
  for (auto const& row : table.rows) {
    ranks.push_back(static_cast<std::uint64_t>(row.rank));
    scores.push_back(row.score);
    held_out.push_back(row.mean_held_out());
    spreads.push_back(row.held_out.empty() ? unknown : row.held_out_spread());
    consistencies.push_back(row.consistency);
    matches.push_back(row.match);
    seconds.push_back(row.seconds);
  }
  return {{"ranks", ranks},
          {"score", table.score_name},
          {"scores", scores},
          {"held_out", held_out},
          {"held_out_spread", spreads},
          {"core_consistency", consistencies},
          {"match", matches},
          {"seconds", seconds},
          {"proposed_rank", static_cast<std::uint64_t>(choice.rank)},
          {"proposed_because", choice.why},
          {"left_out", table.left_out}};
}

}  // namespace sporades::command
