// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sporades/formats/files/detail/tns_file/header.hpp>
#include <sporades/formats/files/detail/tns_file/parse_block.hpp>
#include <sporades/formats/files/tns_file.hpp>
#include <string>
#include <vector>

namespace sporades::detail {

/// The name of a file, what its header says and what the caller wants.
struct TextTask {
  std::string const& name;
  TextHeader const& header;
  ReadOptions const& options;
};

/// Dims as the options or the header say; empty where neither does. Throws Error where they
/// disagree, with each other or with the order of the nonzeros, or where there are no nonzeros and
/// no dims.
Dims stated_dims(TextTask const& task);

/// What lines of nonzeros must look like under this header.
LineShape line_shape(TextTask const& task, Dims const& dims);

/// The whole text's indices, as far as blocks were merged in their order.
class IndexRange {
 public:
  /// first_line: the number, from 1, of the block's first line.
  void merge(BlockSummary const& block, std::uint64_t first_line);

  /// True in the modes whose indices count from 0 though the shape says 1: add 1 to each
  /// coordinate. Throws Error where an index is past the dims then.
  std::vector<bool> modes_from_zero(TextTask const& task, LineShape const& shape) const;

  /// One more than the largest coordinates.
  Dims smallest_dims(TextTask const& task, std::vector<bool> const& from_zero) const;

  /// Sentences about what modes_from_zero decided.
  std::vector<std::string> notes(TextTask const& task, LineShape const& shape,
                                 std::vector<bool> const& from_zero) const;

 private:
  std::uint64_t largest_[16] = {};
  bool any_index_[16] = {};
  std::uint64_t zero_line_[16] = {};  // from 1; 0: none
};

}  // namespace sporades::detail
