// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <sporades/core/types.hpp>
#include <vector>

/// Rules by which processes share nonzeros and rows. A run on several processes follows them, and
/// so does its model on one (kernels/detail/processes/model_mttkrp.hpp): none of them
/// communicates.

namespace sporades::detail {

/// The rows of the first and the last of a process's nonzeros, if it has any.
struct RowEnds {
  std::uint64_t first = 0, last = 0;
  bool any = false;
};

/// Rows in order, whose nonzeros are cut among processes. A row belongs to the process where it
/// begins.
struct CutRows {
  std::vector<std::uint64_t> begins, ends;  // rows begins[p] to ends[p] - 1 begin on process p
  std::vector<int> began;                   // where the first row of each process did

  explicit CutRows(std::vector<RowEnds> const& processes) {
    std::uint64_t begun = 0;  // rows below this one have begun on processes before
    for (auto const& process : processes) {
      begins.push_back(process.any ? std::max(begun, process.first) : begun);
      if (process.any) begun = process.last + 1;
      ends.push_back(begun);
      auto const from = std::upper_bound(ends.begin(), ends.end() - 1, process.first);
      began.push_back(static_cast<int>(from - ends.begin()));
    }
  }
};

/// Where each process's rows of a mode begin, so that it owns many of those that it adds to: where
/// the first of them is, if each process's rows follow those of the process before, as in a longest
/// mode; else about as many rows for each.
inline std::vector<std::uint64_t> begins_of_added_rows(std::uint64_t dim,
                                                       std::vector<RowEnds> const& processes) {
  std::vector<std::uint64_t> begins, even;
  std::uint64_t last = 0;
  bool follow = true;
  for (std::size_t p = 0; p < processes.size(); ++p) {
    auto const& rows = processes[p];
    follow = follow && (!rows.any || rows.first >= last);
    begins.push_back(rows.any ? rows.first : last);
    if (rows.any) last = rows.last;
    even.push_back(dim / processes.size() * p);
  }
  return follow ? begins : even;
}

/// Process p has nonzeros cuts[p] to cuts[p + 1] - 1 of a linear order that is divided into `units`
/// equal pieces.
inline std::vector<Position> linear_cuts(Position nnz, Position units, Position processes) {
  std::vector<Position> cuts;
  for (Position p = 0; p <= processes; ++p) cuts.push_back(nnz * (units * p / processes) / units);
  return cuts;
}

/// The pieces of the coarsest partition of those that modes have, or `finest`. parts: of each
/// mode's partition; 0: none.
inline Position linear_units(std::vector<Position> const& parts, Position finest) {
  for (Position const some : parts)
    if (some > 0) finest = std::min(finest, some);
  return finest;
}

}  // namespace sporades::detail
