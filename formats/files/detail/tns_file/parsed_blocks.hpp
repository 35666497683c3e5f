// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/files/detail/tns_file/index_range.hpp>
#include <vector>

namespace sporades::detail {

/// The number of the first nonzero and of the first line of each block in the whole text.
struct BlockPlaces {
  std::vector<std::uint64_t> first_nonzero;  // blocks + 1, the last is nnz
  std::vector<std::uint64_t> first_line;     // from 1
  std::uint64_t nnz() const { return first_nonzero.back(); }
};

inline BlockPlaces block_places(std::vector<BlockCount> const& counts, TextHeader const& header) {
  BlockPlaces places{{0}, {header.lines + 1}};
  for (auto const& count : counts) {
    places.first_nonzero.push_back(places.first_nonzero.back() + count.nonzeros);
    places.first_line.push_back(places.first_line.back() + count.lines);
  }
  return places;
}

/// Throws Error if the header states another number of nonzeros. Call it after all lines were
/// parsed, so that an error in a line is reported first.
inline void check_nnz(TextTask const& task, std::uint64_t nnz) {
  auto const& header = task.header;
  if (header.nnz && *header.nnz != nnz)
    fail(task.name, ":", header.nnz_line, ": the header says ", *header.nnz,
         " nonzeros, the file holds ", nnz);
}

inline void merge_summaries(std::vector<BlockSummary> const& summaries, BlockPlaces const& places,
                            IndexRange& range) {
  for (std::size_t b = 0; b < summaries.size(); ++b)
    range.merge(summaries[b], places.first_line[b]);
}

}  // namespace sporades::detail
