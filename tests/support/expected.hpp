// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The numbers of tests/data/expected.txt.

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <support/files.hpp>
#include <vector>

namespace sporades::test {

/// A run from the random start of seed 1, and the fit or log-likelihood after some iterations.
struct ExpectedRun {
  std::string tensor;
  std::vector<int> ranks;
  std::map<int, double> values;  // by iteration, counted from 1
  bool converges = false;        // at the last of these iterations

  int last() const { return values.rbegin()->first; }

  /// The tensor's file; empty, and the test says so, where it is one of peers and absent.
  std::string path() const { return data_or_shared_file(tensor + ".tns.gz"); }
};

/// The runs of a method: "cp-als", "cp-apr" or "tucker".
inline std::vector<ExpectedRun> expected_runs(std::string const& method) {
  std::ifstream file(data_file("expected.txt"));
  std::vector<ExpectedRun> runs;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first, ranks;
    ExpectedRun run;
    if (!(words >> first >> run.tensor >> ranks) || first != method) continue;
    std::replace(ranks.begin(), ranks.end(), ',', ' ');
    std::istringstream numbers(ranks);
    for (int rank; numbers >> rank;) run.ranks.push_back(rank);
    double value;
    for (int iteration; words >> iteration >> value;) run.values[iteration] = value;
    words.clear();
    run.converges = static_cast<bool>(words >> first) && first == "converged";
    REQUIRE(!run.values.empty());
    runs.push_back(run);
  }
  REQUIRE(!runs.empty());
  return runs;
}

}  // namespace sporades::test
