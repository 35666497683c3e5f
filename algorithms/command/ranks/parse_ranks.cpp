// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <charconv>
#include <sporades/algorithms/command/parse_options.hpp>
#include <sporades/core/error.hpp>

namespace sporades::command {
namespace {

/// Ascending, from "2:16" (from and to), "2:16:2" (and by), or "2,4,8".
std::vector<int> parse_compared(std::string const& text) {
  std::vector<int> ranks;
  char between = 0;  // : or ,
  bool is_one = !text.empty();
  char const *at = text.data(), *const end = at + text.size();
  while (is_one) {
    int rank = 0;
    auto const [next, error] = std::from_chars(at, end, rank);
    is_one = error == std::errc() && rank >= 1 && rank < 65536;
    ranks.push_back(rank);
    if (next == end || !is_one) break;
    if (between == 0) between = *next;
    is_one = *next == between && (between == ':' || between == ',');
    at = next + 1;
  }
  bool const has_range = between == ':';
  expects(is_one && (!has_range || (ranks.size() <= 3 && ranks[0] <= ranks[1])), "--ranks ", text,
          ": expected FROM:TO as 2:16, FROM:TO:BY, or a list as 2,4,8, of ranks from 1 to 65535");
  if (has_range) {
    int const by = ranks.size() == 3 ? ranks[2] : 1, last = ranks[1];
    ranks.resize(1);
    while (last - ranks.back() >= by) ranks.push_back(ranks.back() + by);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

}  // namespace

void add_ranks_options(CLI::App& app, DecomposeArguments& common, RanksArguments& ranks) {
  common.init = "random";
  common.starts = 5;
  app.add_option_function<std::string>(
         "--ranks", [&](std::string const& text) { ranks.ranks = parse_compared(text); },
         "Ranks to compare, as 2:16, 2:16:2 (by twos) or 2,4,8")
      ->required();
  add_whole(app, "--starts", common.starts,
            "Random starts of each rank, which tell whether the components come again", 1)
      ->capture_default_str();
  app.add_option("-o,--output", common.output, "Write the table and pictures of it here, as HTML");
  if (app.get_option_no_throw("--missing") != nullptr)
    app.add_option_function<double>(
           "--holdout",
           [&](double part) {
             expects(part >= 0 && part < 1, "--holdout ", part, " is not 0, or below 1");
             ranks.holdout = part;
             ranks.holds_out = true;
           },
           "Part of the values that models do not see and are compared by, with --missing")
        ->default_str("0.1");
}

}  // namespace sporades::command
