// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <sporades/algorithms/command/parse_options.hpp>
#include <sporades/algorithms/command/tensors.hpp>
#include <sporades/core/error.hpp>

namespace sporades::command {
namespace {

/// Ascending, from "2:16" (from and to), "2:16:2" (and by), or "2,4,8".
std::vector<int> parse_compared(std::string text) {
  auto const colons = std::count(text.begin(), text.end(), ':');
  auto listed = text;
  std::replace(listed.begin(), listed.end(), ':', ',');
  auto ranks = parse_ranks(listed, "--ranks");
  auto const most = *std::max_element(ranks.begin(), ranks.end());
  expects(most < 65536, "--ranks ", text, ": ", most, " is not in 1 to 65535");
  if (colons > 0) {
    expects(colons == static_cast<long>(ranks.size()) - 1 && colons <= 2 && ranks[0] <= ranks[1],
            "--ranks ", text, ": expected FROM:TO as 2:16, FROM:TO:BY, or a list as 2,4,8");
    int const by = colons == 2 ? ranks[2] : 1, end = ranks[1];
    ranks.resize(1);
    while (end - ranks.back() >= by) ranks.push_back(ranks.back() + by);
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
             ranks.holdout = part;
             ranks.holds_out = true;
           },
           "Part of the values that models do not see and are compared by, with --missing")
        ->check(CLI::Range(0.0, 0.9))
        ->default_str("0.1");
}

}  // namespace sporades::command
