// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/detail/processes/exchange.hpp>
#include <sporades/formats/files/detail/tns_file/index_range.hpp>
#include <vector>

namespace sporades::detail {

/// The number of the first nonzero and of the first line of each block in the text after the
/// header, or in this process's part of it.
struct BlockPlaces {
  std::vector<std::uint64_t> first_nonzero;  // blocks + 1, the last is nnz
  std::vector<std::uint64_t> first_line;     // from 1, blocks + 1
  std::uint64_t nnz() const { return first_nonzero.back(); }
  std::uint64_t lines() const { return first_line.back() - 1; }
};

inline BlockPlaces block_places(std::vector<BlockCount> const& counts) {
  BlockPlaces places{{0}, {1}};
  for (auto const& count : counts) {
    places.first_nonzero.push_back(places.first_nonzero.back() + count.nonzeros);
    places.first_line.push_back(places.first_line.back() + count.lines);
  }
  return places;
}

/// Throws Error if the header states another number of nonzeros than the parts of all processes
/// have. Call it after all lines were parsed, so that an error in a line is reported first.
inline void check_nnz(TextTask const& task, std::uint64_t nnz_here) {
  auto const& header = task.header;
  std::uint64_t nnz = 0;
  for (auto const part : all_gather(task.processes, "counts of nonzeros", nnz_here)) nnz += part;
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
