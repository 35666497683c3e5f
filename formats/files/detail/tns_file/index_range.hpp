// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/core/communicator.hpp>
#include <sporades/formats/files/detail/tns_file/header.hpp>
#include <sporades/formats/files/detail/tns_file/parse_block.hpp>
#include <sporades/formats/files/tns_file.hpp>
#include <string>
#include <vector>

namespace sporades::detail {

/// A text file to be read: how messages call it, its header, the caller's options, and the
/// processes of which each reads a part of its lines.
struct TextTask {
  std::string const& name;
  TextHeader const& header;
  ReadOptions const& options;
  Communicator const& processes;
};

/// The dims that the options or the header state; empty if neither does. Throws Error if they
/// disagree with each other or with the order of the nonzeros, or if there are neither nonzeros nor
/// dims.
Dims stated_dims(TextTask const& task);

/// What lines of nonzeros must look like after this header.
LineShape line_shape(TextTask const& task, Dims const& dims);

/// The range of the indices in each mode, and the values that are not held as they are written,
/// from the summaries of blocks that were merged so far.
class IndexRange {
 public:
  /// Adds the summary of the next block. first_line: the number, from 1, of its first line after
  /// the header.
  void merge(BlockSummary const& block, std::uint64_t first_line);

  /// Adds those of the other processes, whose parts follow one another. lines: of this one's part.
  void join(Communicator const& processes, std::uint64_t lines);

  /// True for each mode whose indices count from 0 although the lines were parsed with base 1: add
  /// 1 to its coordinates. Throws Error if an index is then past the dims.
  std::vector<bool> modes_from_zero(TextTask const& task, LineShape const& shape) const;

  /// In each mode one more than the largest coordinate.
  Dims smallest_dims(TextTask const& task, std::vector<bool> const& from_zero) const;

  Losses const& losses() const { return losses_; }

  /// Sentences for the user about what modes_from_zero decided.
  std::vector<std::string> notes(TextTask const& task, LineShape const& shape,
                                 std::vector<bool> const& from_zero) const;

 private:
  std::uint64_t largest_[16] = {};
  bool any_index_[16] = {};
  std::uint64_t zero_line_[16] = {};  // the first line with an index 0, from 1 after the header; 0
                                      // if there is none
  Losses losses_;
};

}  // namespace sporades::detail
