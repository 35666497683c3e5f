// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <sporades/algorithms/command/report.hpp>
#include <string>
#include <vector>

/// What `ranks` found, and the rank that it proposes.

namespace sporades::command {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// Models of one rank.
struct RankRow {
  int rank = 0;
  double score = unknown;        // of the best one
  std::vector<double> held_out;  // errors of values held out, of each start; or none
  double consistency = unknown;  // core consistency of the best one
  double match = unknown;        // mean factor match score of the best one and each other
  double seconds = 0;            // of a start, in the mean

  double mean_held_out() const;
  /// Standard deviation of the starts' errors; 0 of one start.
  double held_out_spread() const;
};

struct RankTable {
  std::string method;
  std::string score_name;     // "fit"
  std::string held_out_name;  // "held-out RMSE", or empty where nothing is held out
  bool has_consistency = false;
  std::vector<RankRow> rows = {};  // by ascending rank
  std::string left_out = {};       // which ranks are missing, and why; or empty
};

struct RankChoice {
  int rank = 0;     // 0: none
  std::string why;  // one sentence, without a full stop
};

/// The rank that the table speaks for:
/// - the smallest one whose error of values held out is within the spread of the least error, or
///   else
/// - the largest one with a core consistency of 80 at least (Bro & Kiers: above 90 is very
///   trilinear, about 50 is a problem) whose starts match by 0.9 at least, of what is known; or
/// - none.
RankChoice choose_rank(RankTable const& table);

/// A line of the table for people, and the one above it.
std::string heading(RankTable const& table);
std::string line(RankTable const& table, RankRow const& row);

/// The choice in words: "proposes rank 4: ...".
std::string describe(RankTable const& table, RankChoice const& choice);

/// A column of each measure, for a report.
NamedValues values_of(RankTable const& table, RankChoice const& choice);

/// A page with the table and a picture of each measure. file: the tensor's name.
std::string page_of(RankTable const& table, RankChoice const& choice, std::string const& file);

}  // namespace sporades::command
